#include "tests/end_to_end/packet_walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/end_to_end/table_meaning.h"
#include "tests/packets/program.h"

namespace mkp {
namespace {

// Rules that the real nft loads and lists again.
class PacketWalkTest : public testing::Test {
 protected:
  void TearDown() override { unload(); }

  static void unload() {
    EXPECT_TRUE(packets::run_program({"nft", "delete", "table", "ip", "walked"}, "", {0, 1}));
  }

  static void load(const std::string& rules) {
    const auto loaded =
        packets::run_program({"nft", "-f", "-"}, "table ip walked {\n" + rules + "}\n");
    EXPECT_TRUE(loaded) << loaded.error().what;
  }
  static ListedTable listed() { return ListedTable::list(IpFamily::Ipv4, "walked").value(); }

  std::string walked() {
    const ListedTable table = listed();
    PacketWalk walk(table, node_);
    const auto fates = walk.fates(packet_);
    return fates ? fmt::format("{}", fmt::join(*fates, "; ")) : fates.error().what;
  }

  const std::string node_ = "192.168.0.1";
  Packet packet_{.source = "203.0.113.9",
                 .destination = "172.30.0.10",
                 .protocol = "tcp",
                 .port = 80,
                 .from_node = false,
                 .mark = 0,
                 .translated = false,
                 .masqueraded = false,
                 .remembered = 0};
};

TEST_F(PacketWalkTest, LeavesAPacketAloneThatNoRuleIsAbout) {
  EXPECT_EQ(walked(), "untouched");
  load("chain in { type filter hook prerouting priority 0; th dport 81 drop; }\n");
  EXPECT_EQ(walked(), "untouched");
}

TEST_F(PacketWalkTest, GoesEveryWayThatADrawMayGoAndOnWhereADrawFindsNothing) {
  load(R"(map slots {
      typeof ip daddr . meta l4proto . th dport . numgen random mod 65536 : ip daddr . th dport;
      elements = { 172.30.0.10 . tcp . 80 . 0 : 10.180.0.2 . 8080,
                   172.30.0.10 . tcp . 80 . 3 : 10.180.0.3 . 8081,
                   172.30.0.10 . tcp . 80 . 4 : 10.180.0.4 . 8082 } }
    chain in { type nat hook prerouting priority -100;
      dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 4 map @slots
      ip daddr 172.30.0.10 meta l4proto tcp dnat to 10.180.0.9:8089; }
    )");
  EXPECT_EQ(walked(), "to 10.180.0.2:8080; to 10.180.0.3:8081; to 10.180.0.9:8089");
  packet_.destination = "172.30.0.11";
  EXPECT_EQ(walked(), "untouched");
}

TEST_F(PacketWalkTest, RoutesByWhatTheDestinationIsByThen) {
  load(R"(chain in { type nat hook prerouting priority -100;
      ip daddr 172.30.0.10 meta l4proto tcp dnat to 192.168.0.1:8080; }
    chain a-late { type filter hook input priority 10; ip daddr 192.168.0.1 reject; }
    chain z-early { type filter hook input priority 0; ip daddr 192.168.0.1 th dport 8080 drop; }
    chain others { type filter hook forward priority 0; ip daddr 172.30.0.11 reject; }
    chain own { type filter hook output priority 0; ip daddr 172.30.0.11 drop; }
)");
  EXPECT_EQ(walked(), "drop");
  packet_.destination = "172.30.0.11";
  EXPECT_EQ(walked(), "reject port-unreachable");
  packet_.destination = "127.0.0.1";
  EXPECT_EQ(walked(), "untouched");
  packet_.destination = "172.30.0.11";
  packet_.from_node = true;
  EXPECT_EQ(walked(), "drop");
}

TEST_F(PacketWalkTest, KnowsWhichAddressesAreLocal) {
  load(R"(chain in { type filter hook prerouting priority 0;
      fib daddr type local drop;
      fib saddr type local reject; }
    chain own { type filter hook output priority 0;
      fib saddr type local ip daddr != 127.0.0.0/8 drop; }
)");
  EXPECT_EQ(walked(), "untouched");
  packet_.destination = node_;
  EXPECT_EQ(walked(), "drop");
  packet_.from_node = true;
  EXPECT_EQ(walked(), "drop");
  packet_.destination = "127.0.0.1";
  EXPECT_EQ(walked(), "untouched");
}

TEST_F(PacketWalkTest, ReturnsFromAJumpToItsRuleAndFromAGotoToTheCaller) {
  load(R"(chain marks { meta mark set meta mark | 0x4000; }
    chain leaves { jump marks; }
    chain second { goto leaves; drop; }
    chain in { type filter hook prerouting priority 0; jump second; ip saddr 203.0.113.0/25 return; drop; }
    chain out { type nat hook postrouting priority 100;
      meta mark & 0x4000 != 0 meta mark set meta mark ^ 0x4000 masquerade fully-random; }
)");
  EXPECT_EQ(walked(), "untouched, masqueraded");
  packet_.source = "203.0.113.200";
  EXPECT_EQ(walked(), "drop");
}

TEST_F(PacketWalkTest, TellsHowLongAClientIsRememberedBySetOrByRule) {
  load(R"(set one { type ipv4_addr; flags dynamic,timeout; timeout 10m; }
    set other { type ipv4_addr; flags dynamic,timeout; }
    chain first { update @one { ip saddr }; meta l4proto tcp dnat to 10.180.0.2:80; }
    chain second { update @other { ip saddr timeout 3m }; meta l4proto tcp dnat to 10.180.0.3:80; }
    chain in { type nat hook prerouting priority -100;
      ip saddr @one goto first
      numgen random mod 2 vmap { 0 : goto first, 1 : goto second }; }
)");
  EXPECT_EQ(walked(), "to 10.180.0.2:80, remembered 600 s; to 10.180.0.3:80, remembered 180 s");
}

TEST_F(PacketWalkTest, FindsPrefixesAndRangesInSetsOfRulesAndOfTables) {
  load(R"(set allowed { type ipv4_addr . inet_proto . inet_service . ipv4_addr; flags interval;
      elements = { 172.30.0.10 . tcp . 80 . 203.0.113.0/28,
                   172.30.0.10 . tcp . 80 . 198.51.100.5-198.51.100.9 } }
    chain in { type filter hook prerouting priority 0;
      ip daddr . meta l4proto . th dport . ip saddr @allowed accept
      ip saddr { 192.0.2.0/24, 192.0.2.0-192.0.3.1 } reject
      ip saddr != { 10.180.0.0/16, 172.30.9.9 } drop; }
)");
  EXPECT_EQ(walked(), "untouched");
  packet_.source = "203.0.113.16";
  EXPECT_EQ(walked(), "drop");
  packet_.source = "198.51.100.9";
  EXPECT_EQ(walked(), "untouched");
  packet_.source = "198.51.100.10";
  EXPECT_EQ(walked(), "drop");
  packet_.source = "10.180.7.7";
  EXPECT_EQ(walked(), "untouched");
}

TEST_F(PacketWalkTest, FailsAtARuleThatItCannotRead) {
  for (const char* rule : {"ip ttl 5 drop", "tcp dport 80 drop", "ip saddr 10.180.0.2 log",
                           "limit rate 5/second drop", "ct direction reply drop"}) {
    load(fmt::format("chain in {{ type filter hook prerouting priority 0; {}; }}\n", rule));
    packet_.source = "10.180.0.2";
    EXPECT_TRUE(walked().starts_with("a rule that cannot be read: ")) << rule << ": " << walked();
    unload();
  }
}

TEST_F(PacketWalkTest, ATableMeansWhatBecomesOfEachClientAtEachFrontend) {
  load(R"(map services { type ipv4_addr . inet_proto . inet_service : verdict
      elements = { 172.30.0.10 . tcp . 80 : drop } }
    set node-ports { type inet_proto . inet_service; elements = { udp . 30080 } }
    set no-frontends { type ipv4_addr . inet_service; elements = { 172.30.0.12 . 80 } }
    chain in { type filter hook prerouting priority 0;
      ip daddr . meta l4proto . th dport vmap @services; }
)");
  const ListedTable table = listed();
  const TableMeaning meaning =
      meaning_of(table, frontends_of(table), {node_, {"203.0.113.9"}}).value();
  const std::string differing = differences(meaning, {});
  EXPECT_EQ(differing,
            "172.30.0.10 . tcp . 80 from 172.30.0.10\n  untouched\n  nothing\n"
            "172.30.0.10 . tcp . 80 from 192.168.0.1\n  untouched\n  nothing\n"
            "172.30.0.10 . tcp . 80 from 203.0.113.9\n  drop\n  nothing\n"
            "udp . 30080 from 192.168.0.1\n  untouched\n  nothing\n"
            "udp . 30080 from 203.0.113.9\n  untouched\n  nothing\n");
  EXPECT_EQ(differences(meaning, meaning), "");
}

}  // namespace
}  // namespace mkp
