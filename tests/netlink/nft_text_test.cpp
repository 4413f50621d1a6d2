#include "netlink/nft_text.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

// That every rule of the sample comes out as nft lists it is shown in tests/kernel; here is what
// nft is not asked about.

std::string line(const Operation& operation) {
  OperationPrinter printer(IpFamily::Ipv4, "t");
  printer.declare(addresses());
  printer.declare(verdicts());
  printer.declare(data());
  return printer.to_text(operation);
}

TEST(NftTextTest, WritesOperationsWithoutTheirVerb) {
  EXPECT_EQ(line({AddTable{}}), "table ip t");
  EXPECT_EQ(line({DeleteTable{}}), "table ip t");
  EXPECT_EQ(line({AddChain{chain("cluster-4")}}), "chain ip t cluster-4");
  EXPECT_EQ(line({DeleteChain{"cluster-4"}}), "chain ip t cluster-4");
  EXPECT_EQ(line({AddRule{"a", rule(goto_chain("b"))}}), "rule ip t a goto b");
  EXPECT_EQ(line({FlushChain{"a"}}), "flush chain ip t a");
  EXPECT_EQ(line({DeleteSet{"addresses"}}), "set ip t addresses");
  EXPECT_EQ(line({DeleteSet{"verdicts"}}), "map ip t verdicts");
}

TEST(NftTextTest, WritesABaseChainWithItsHook) {
  EXPECT_EQ(line({AddChain{base_chain("in")}}),
            "chain ip t in { type filter hook input priority filter; policy accept; }");
}

TEST(NftTextTest, WritesSetsWithTheirTypes) {
  EXPECT_EQ(line({AddSet{addresses()}}), "set ip t addresses { type ipv4_addr; }");
  EXPECT_EQ(line({AddSet{verdicts()}}), "map ip t verdicts { type ipv4_addr : verdict; }");
  EXPECT_EQ(
      line({AddSet{{"slots",
                    Set::Kind::DataMap,
                    {Field::Ipv6Address, Field::Slot},
                    {Field::Ipv6Address, Field::InetService}}}}),
      "map ip t slots { typeof ip6 daddr . numgen random mod 65536 : ip6 daddr . th dport; }");
}

TEST(NftTextTest, WritesSetsWithTheirContents) {
  EXPECT_EQ(line({AddSet{intervals()}}),
            "set ip t intervals { type ipv4_addr . inet_service; flags interval; }");
  EXPECT_EQ(line({AddSet{clients()}}),
            "set ip t clients { type ipv4_addr; size 65535; flags dynamic,timeout; }");
}

std::string interval_line(std::string_view first, std::string_view last, std::uint16_t low = 80,
                          std::uint16_t high = 80) {
  return to_text(
      interval(concatenate({ipv4(first), port(low)}), concatenate({ipv4(last), port(high)}), "web"),
      intervals());
}

TEST(NftTextTest, WritesIntervalsAsBrieflyAsItCan) {
  EXPECT_EQ(interval_line("192.0.2.7", "192.0.2.7"), "192.0.2.7 . 80 comment \"web\"");
  EXPECT_EQ(interval_line("192.0.2.0", "192.0.2.127"), "192.0.2.0/25 . 80 comment \"web\"");
  EXPECT_EQ(interval_line("0.0.0.0", "255.255.255.255"), "0.0.0.0/0 . 80 comment \"web\"");
  EXPECT_EQ(interval_line("192.0.2.0", "192.0.2.126"),
            "192.0.2.0-192.0.2.126 . 80 comment \"web\"");
  EXPECT_EQ(interval_line("192.0.2.1", "192.0.2.127"),
            "192.0.2.1-192.0.2.127 . 80 comment \"web\"");
  EXPECT_EQ(interval_line("192.0.2.7", "192.0.2.7", 80, 81), "192.0.2.7 . 80-81 comment \"web\"");
}

TEST(NftTextTest, WritesAnIntervalThatEndsInAnotherShapeInHexadecimal) {
  EXPECT_EQ(to_text(interval(ipv4("192.0.2.0"), port(80)), intervals()), "0xc0000200-0x0050");
}

TEST(NftTextTest, WritesTimeoutsAsNftDoes) {
  EXPECT_EQ(to_text(rule(load_source(), SetUpdate{"s", 0, 10800}), IpFamily::Ipv4),
            "update @s { ip saddr timeout 3h }");
  EXPECT_EQ(to_text(rule(load_source(), SetUpdate{"s", 0, 90}), IpFamily::Ipv4),
            "update @s { ip saddr timeout 1m30s }");
  EXPECT_EQ(to_text(rule(load_source(), SetUpdate{"s", 0, 86401}), IpFamily::Ipv4),
            "update @s { ip saddr timeout 1d1s }");
  EXPECT_EQ(to_text(rule(load_source(), SetUpdate{"s", 0, 0}), IpFamily::Ipv4),
            "update @s { ip saddr }");
}

TEST(NftTextTest, WritesElementsWithCommentAndValue) {
  EXPECT_EQ(line({AddElement{"addresses", element(ipv4("10.96.0.10"))}}),
            "element ip t addresses { 10.96.0.10 }");
  EXPECT_EQ(
      line({AddElement{"verdicts", element(ipv4("10.96.0.10"), go_to("b"), "shop/web:http")}}),
      "element ip t verdicts { 10.96.0.10 comment \"shop/web:http\" : goto b }");
  EXPECT_EQ(line({DeleteElement{"data", element(ipv4("10.96.0.10"), ipv4("10.180.0.1"))}}),
            "element ip t data { 10.96.0.10 : 10.180.0.1 }");
}

TEST(NftTextTest, WritesElementsOfASetThatItDoesNotKnowInHexadecimal) {
  EXPECT_EQ(line({AddElement{"unknown", element(ipv4("10.96.0.10"), ipv4("10.180.0.1"))}}),
            "element ip t unknown { 0x0a60000a : 0x0ab40001 }");
}

TEST(NftTextTest, LearnsASetFromItsAddition) {
  OperationPrinter printer(IpFamily::Ipv6, "t");
  printer.to_text({AddSet{{"ports", Set::Kind::Set, {Field::InetProto, Field::InetService}, {}}}});
  EXPECT_EQ(printer.to_text({AddElement{"ports", element(concatenate({byte(99), port(53)}))}}),
            "element ip6 t ports { 99 . 53 }");
}

TEST(NftTextTest, KeepsAMappedAddressIpv6) {
  Set set{"six", Set::Kind::Set, {Field::Ipv6Address}, {}};
  std::vector<std::uint8_t> bytes(16);
  bytes[10] = bytes[11] = 0xff;
  bytes[15] = 1;
  EXPECT_EQ(to_text(element(Bytes(bytes)), set), "::ffff:0.0.0.1");
}

TEST(NftTextTest, WritesMasksThatAreNoPrefix) {
  EXPECT_EQ(
      to_text(rule(load_destination(), Bitwise{0, 0, address("255.0.0.255"), address("0.0.0.0")},
                   Compare{Compare::Op::Equal, 0, address("10.0.0.1")}),
              IpFamily::Ipv4),
      "ip daddr & 255.0.0.255 == 10.0.0.1");
}

TEST(NftTextTest, WritesBitsThatAreKeptAndFlipped) {
  EXPECT_EQ(to_text(rule(MetaLoad{MetaKey::Mark, 0}, Bitwise{0, 0, number(0xff), number(0x0f)},
                         MetaSet{MetaKey::Mark, 0}),
                    IpFamily::Ipv4),
            "meta mark set meta mark & 0x000000ff ^ 0x0000000f");
}

TEST(NftTextTest, SurvivesRulesThatMakeNoSense) {
  EXPECT_EQ(to_text(rule(Lookup{"s", 3}, Compare{Compare::Op::Equal, 200, Bytes{}},
                         UnknownExpression{"log", {1, 2}}),
                    IpFamily::Ipv4),
            "[nothing] @s [nothing] 0x [log 0x0102]");
  EXPECT_EQ(to_text(rule(ImmediateData{0, Bytes{}}, Dnat{IpFamily::Ipv4, 0, 4}), IpFamily::Ipv4),
            "dnat to 0x:0x");
  EXPECT_EQ(to_text(rule(SetUpdate{"s", 15, 1}), IpFamily::Ipv6),
            "update @s { [nothing] timeout 1s }");
}

}  // namespace
}  // namespace mkp::nft
