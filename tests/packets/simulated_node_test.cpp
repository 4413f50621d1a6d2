#include "tests/packets/simulated_node.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/packets/program.h"

namespace mkp::packets {
namespace {

// Rules made by hand stand for a proxy's; the node must tell what became of each packet.
class SimulatedNodeTest : public testing::Test {
 protected:
  static std::vector<IpAddress> addresses() {
    return {ip("10.20.0.11"), ip("10.20.1.11"), ip("fd20::11")};
  }

  static IpAddress ip(std::string_view text) {
    return parse_ip_address(text).value_or(IpAddress{});
  }

  // A chain of its own for each rule; both families.
  static void load(std::string_view hook, std::string_view rule) {
    const std::string type = rule.find("dnat") != std::string::npos ? "nat" : "filter";
    const Result<std::string> loaded =
        run_program({"nft", "-f", "-"}, fmt::format("table inet by-hand {{ chain {0}-{1} {{\n"
                                                    "type {1} hook {0} priority {2}\n{3}\n}}\n}}\n",
                                                    hook, type, type == "nat" ? -100 : 0, rule));
    EXPECT_TRUE(loaded) << loaded.error().what;
  }

  static void masquerade_everything() {
    const Result<std::string> loaded = run_program(
        {"nft", "-f", "-"},
        "table inet by-hand { chain masquerading {\ntype nat hook postrouting priority 100\n"
        "ct status dnat masquerade fully-random\n}\n}\n");
    EXPECT_TRUE(loaded) << loaded.error().what;
  }

  std::string becomes_of(std::string_view from, std::string_view to,
                         Transport transport = Transport::Tcp, bool out_of_state = false) {
    const std::uint32_t tag = ++last_tag_;
    const Result<Outcome> outcome =
        node_->probe({transport,
                      {ip(from), static_cast<std::uint16_t>(20'000 + tag)},
                      parse_address_port(to).value_or(AddressPort{}),
                      tag,
                      out_of_state});
    return outcome ? to_text(*outcome) : outcome.error().what;
  }

  std::unique_ptr<SimulatedNode> node_ = SimulatedNode::create(addresses()).value();
  std::uint32_t last_tag_ = 0;
};

TEST_F(SimulatedNodeTest, PassesWhatItForwards) {
  EXPECT_EQ(becomes_of("10.64.1.50", "10.64.1.60:80"), "pass");
  EXPECT_EQ(becomes_of("10.64.1.50", "192.0.2.7:80", Transport::Udp), "pass");
  EXPECT_EQ(becomes_of("192.0.2.7", "198.51.100.4:80", Transport::Sctp), "pass");
}

TEST_F(SimulatedNodeTest, PassesWhatItForwardsInIpv6) {
  EXPECT_EQ(becomes_of("fd64::1:50", "[fd64::1:60]:80"), "pass");
  EXPECT_EQ(becomes_of("fd64::1:50", "[2001:db8::7]:80", Transport::Udp), "pass");
  EXPECT_EQ(becomes_of("2001:db8:77::7", "[2001:db8::7]:80", Transport::Sctp), "pass");
}

TEST_F(SimulatedNodeTest, PassesWhatItSendsItself) {
  EXPECT_EQ(becomes_of("10.20.0.11", "10.20.0.12:80"), "pass");
  EXPECT_EQ(becomes_of("fd20::11", "[fd20::12]:80", Transport::Udp), "pass");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.64.1.5:80", Transport::Sctp), "pass");
}

TEST_F(SimulatedNodeTest, PassesWhatItsOwnStackRefuses) {
  EXPECT_EQ(becomes_of("192.0.2.7", "10.20.0.11:30080"), "pass (and refused by the local stack)");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.20.1.11:30080", Transport::Udp),
            "pass (and refused by the local stack)");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.20.0.11:30080", Transport::Sctp), "pass");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.20.0.11:30080"), "pass (and refused by the local stack)");
  EXPECT_EQ(becomes_of("127.0.0.1", "127.0.0.1:30080", Transport::Udp),
            "pass (and refused by the local stack)");
}

TEST_F(SimulatedNodeTest, PassesWhatItsOwnStackRefusesInIpv6) {
  EXPECT_EQ(becomes_of("2001:db8:77::7", "[fd20::11]:30080"),
            "pass (and refused by the local stack)");
  EXPECT_EQ(becomes_of("2001:db8:77::7", "[fd20::11]:30080", Transport::Udp),
            "pass (and refused by the local stack)");
  EXPECT_EQ(becomes_of("fd20::11", "[fd20::11]:30080", Transport::Sctp), "pass");
  EXPECT_EQ(becomes_of("::1", "[::1]:30080"), "pass (and refused by the local stack)");
}

TEST_F(SimulatedNodeTest, TellsWhereATranslatedPacketGoes) {
  load("prerouting",
       "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80"), "10.64.1.5:8080");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80", Transport::Udp), "10.64.1.5:8080");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.96.0.10:80", Transport::Sctp), "10.64.1.5:8080");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80"), "pass");
}

TEST_F(SimulatedNodeTest, TellsWhereATranslatedPacketGoesInIpv6) {
  load("prerouting",
       "ip6 daddr fd96::10 meta l4proto { tcp, udp, sctp } dnat ip6 to [fd64::1:5]:8080");
  EXPECT_EQ(becomes_of("fd64::1:50", "[fd96::10]:80"), "[fd64::1:5]:8080");
  EXPECT_EQ(becomes_of("fd64::1:50", "[fd96::10]:80", Transport::Udp), "[fd64::1:5]:8080");
  EXPECT_EQ(becomes_of("2001:db8:77::7", "[fd96::10]:80", Transport::Sctp), "[fd64::1:5]:8080");
}

TEST_F(SimulatedNodeTest, SendsItsOwnPacketsThroughTheOutputHook) {
  load("output",
       "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080\n"
       "ip6 daddr fd96::10 meta l4proto { tcp, udp, sctp } dnat ip6 to [fd64::1:5]:8080");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80"), "10.64.1.5:8080");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80", Transport::Udp), "10.64.1.5:8080");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80", Transport::Sctp), "10.64.1.5:8080");
  EXPECT_EQ(becomes_of("fd20::11", "[fd96::10]:80"), "[fd64::1:5]:8080");
  EXPECT_EQ(becomes_of("fd20::11", "[fd96::10]:80", Transport::Sctp), "[fd64::1:5]:8080");
}

TEST_F(SimulatedNodeTest, TellsTranslationToItselfFromPassing) {
  load("prerouting",
       "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.20.0.11:6443");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:443"), "10.20.0.11:6443");
}

TEST_F(SimulatedNodeTest, SeesMasqueradingEvenOfItsOwnPackets) {
  const std::string rules =
      "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080\n"
      "ip6 daddr fd96::10 meta l4proto { tcp, udp, sctp } dnat ip6 to [fd64::1:5]:8080";
  load("prerouting", rules);
  load("output", rules);
  masquerade_everything();
  EXPECT_EQ(becomes_of("192.0.2.7", "10.96.0.10:80"), "10.64.1.5:8080 masqueraded");
  EXPECT_EQ(becomes_of("10.64.1.5", "10.96.0.10:80"), "10.64.1.5:8080 masqueraded");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80"), "10.64.1.5:8080 masqueraded");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.96.0.10:80", Transport::Sctp),
            "10.64.1.5:8080 masqueraded");
  EXPECT_EQ(becomes_of("fd20::11", "[fd96::10]:80"), "[fd64::1:5]:8080 masqueraded");
}

TEST_F(SimulatedNodeTest, SeesThatItRejectsWhatItWouldForward) {
  load("forward", "ip daddr 10.96.0.10 reject\nip6 daddr fd96::10 reject");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80"), "reject");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.96.0.10:80", Transport::Udp), "reject");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.96.0.10:80", Transport::Sctp), "reject");
  EXPECT_EQ(becomes_of("fd64::1:50", "[fd96::10]:80"), "reject");
  EXPECT_EQ(becomes_of("2001:db8:77::7", "[fd96::10]:80", Transport::Udp), "reject");
}

TEST_F(SimulatedNodeTest, SeesThatItRejectsWhatIsForItself) {
  load("input", "th dport 30080 reject");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.20.0.11:30080"), "reject");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.20.0.11:30080", Transport::Udp), "reject");
  EXPECT_EQ(becomes_of("fd20::11", "[fd20::11]:30080"), "reject");
}

TEST_F(SimulatedNodeTest, SeesThatItRejectsItsOwnPackets) {
  load("output", "ip daddr 10.96.0.10 reject\nip6 daddr fd96::10 reject");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80"), "reject");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:80", Transport::Udp), "reject");
  EXPECT_EQ(becomes_of("fd20::11", "[fd96::10]:80"), "reject");
}

TEST_F(SimulatedNodeTest, TakesAResetForARejection) {
  load("forward", "meta l4proto tcp reject with tcp reset");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80"), "reject");
  EXPECT_EQ(becomes_of("fd64::1:50", "[fd96::10]:80"), "reject");
}

TEST_F(SimulatedNodeTest, IsNotMistakenAboutOtherErrors) {
  load("forward", "ip daddr 10.96.0.10 reject with icmp type net-unreachable");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80"), "unreachable with ICMP code 0");
}

TEST_F(SimulatedNodeTest, NeverHoldsErrorsBack) {
  load("forward", "ip daddr 10.96.0.10 reject\nip6 daddr fd96::10 reject");
  for (int packet = 0; packet < 300; ++packet) {
    ASSERT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80"), "reject") << packet;
    ASSERT_EQ(becomes_of("fd64::1:50", "[fd96::10]:80"), "reject") << packet;
  }
}

TEST_F(SimulatedNodeTest, SeesDropsOnEveryPath) {
  for (const char* hook : {"forward", "input", "output"}) load(hook, "th dport 81 drop");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:81"), "drop");
  EXPECT_EQ(becomes_of("192.0.2.7", "10.20.0.11:81", Transport::Udp), "drop");
  EXPECT_EQ(becomes_of("10.20.0.11", "10.96.0.10:81"), "drop");
  EXPECT_EQ(becomes_of("127.0.0.1", "127.0.0.1:81"), "drop");
  EXPECT_EQ(becomes_of("fd64::1:50", "[fd96::10]:81", Transport::Sctp), "drop");
  EXPECT_EQ(becomes_of("fd20::11", "[fd20::11]:81"), "drop");
}

TEST_F(SimulatedNodeTest, CanSendWhatConnectionTrackingCallsInvalid) {
  load("forward", "ct state invalid drop");
  EXPECT_EQ(becomes_of("10.64.2.5", "10.64.1.50:40000", Transport::Tcp, true), "drop");
  EXPECT_EQ(becomes_of("10.64.2.5", "10.64.1.50:40000", Transport::Tcp, false), "pass");
}

TEST_F(SimulatedNodeTest, SendsEverythingElseInAStateThatIsNew) {
  for (const char* hook : {"prerouting", "output"})
    load(hook, "meta l4proto { tcp, udp, sctp } ct state != new drop");
  EXPECT_EQ(becomes_of("10.64.1.50", "192.0.2.7:80"), "pass");
  EXPECT_EQ(becomes_of("10.64.1.50", "192.0.2.7:80", Transport::Udp), "pass");
  EXPECT_EQ(becomes_of("10.20.0.11", "192.0.2.7:80", Transport::Sctp), "pass");
  EXPECT_EQ(becomes_of("fd64::1:50", "[2001:db8::7]:80", Transport::Sctp), "pass");
}

TEST_F(SimulatedNodeTest, SendsToItsOwnSourceOnlyWithThatAddress) {
  load("output", "ip daddr 198.51.100.4 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080");
  const auto address = node_->add_address(ip("198.51.100.4"));
  ASSERT_TRUE(address) << address.error().what;
  EXPECT_EQ(becomes_of("198.51.100.4", "198.51.100.4:443"), "10.64.1.5:8080");
}

TEST_F(SimulatedNodeTest, GivesUpAnExtraAddress) {
  { const auto address = node_->add_address(ip("198.51.100.4")); }
  load("input", "th dport 443 drop");
  EXPECT_EQ(becomes_of("192.0.2.7", "198.51.100.4:443"), "pass");
}

TEST_F(SimulatedNodeTest, ReportsASentinelThatIsLost) {
  load("forward", "meta l4proto 253 drop");
  EXPECT_EQ(becomes_of("10.64.1.50", "10.96.0.10:80"),
            "a sentinel, which must pass, did not come out");
}

}  // namespace
}  // namespace mkp::packets
