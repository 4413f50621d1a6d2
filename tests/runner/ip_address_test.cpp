#include "runner/ip_address.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mkp {
namespace {

// What a text reads as, in its one printed form.
std::string address(std::string_view text) {
  const std::optional<IpAddress> parsed = parse_ip_address(text);
  return parsed ? to_text(*parsed) : "invalid";
}

std::string prefix(std::string_view text) {
  const std::optional<IpPrefix> parsed = parse_ip_prefix(text);
  return parsed ? to_text(*parsed) : "invalid";
}

// Of texts that are addresses and prefixes.
IpAddress ip(std::string_view text) { return parse_ip_address(text).value_or(IpAddress{}); }
IpPrefix range(std::string_view text) { return parse_ip_prefix(text).value_or(IpPrefix{}); }

TEST(IpAddressTest, ADottedAddressReadsAsItself) { EXPECT_EQ(address("10.0.0.1"), "10.0.0.1"); }

TEST(IpAddressTest, LeadingZerosAreDecimal) {
  EXPECT_EQ(address("010.000.000.011"), "10.0.0.11");
  EXPECT_EQ(address("0000000010.0.0.1"), "10.0.0.1");
}

TEST(IpAddressTest, AnythingButFourDecimalBytesIsInvalid) {
  EXPECT_EQ(address("10.0.0.256"), "invalid");
  EXPECT_EQ(address("10.0.1"), "invalid");
  EXPECT_EQ(address("10.0.0.1.2"), "invalid");
  EXPECT_EQ(address("0x0a.0.0.1"), "invalid");
  EXPECT_EQ(address("10..0.1"), "invalid");
  EXPECT_EQ(address("10.0.0."), "invalid");
  EXPECT_EQ(address("10.0.0.99999999999"), "invalid");
}

TEST(IpAddressTest, BlanksAreNotTrimmed) {
  EXPECT_EQ(address(" 10.0.0.1"), "invalid");
  EXPECT_EQ(address("10.0.0.1 "), "invalid");
  EXPECT_EQ(address(""), "invalid");
}

TEST(IpAddressTest, AnIpv4MappedAddressIsIpv4) {
  EXPECT_EQ(address("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(address("::FFFF:0a00:0001"), "10.0.0.1");
  EXPECT_EQ(parse_ip_address("::ffff:010.0.0.1"), parse_ip_address("10.0.0.1"));
}

TEST(IpAddressTest, Ipv6PrintsLowerCaseWithItsLongestRunOfZerosCompressed) {
  EXPECT_EQ(address("FD00:0:0::0007"), "fd00::7");
  EXPECT_EQ(address("2001:0:0:1:0:0:0:1"), "2001:0:0:1::1");
  EXPECT_EQ(address("2001:0:0:1:1:0:0:1"), "2001::1:1:0:0:1");
  EXPECT_EQ(address("2001:db8:0:1:1:1:1:1"), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(address("::"), "::");
  EXPECT_EQ(address("0:0:0:0:0:0:0:1"), "::1");
  EXPECT_EQ(address("fe80::"), "fe80::");
  EXPECT_EQ(address("1::00002"), "1::2");
  EXPECT_EQ(address("64:ff9b::192.0.2.1"), "64:ff9b::c000:201");
  EXPECT_EQ(address("::1.2.3.4"), "::102:304");
}

TEST(IpAddressTest, ZonesAndBracketsAreInvalid) {
  EXPECT_EQ(address("fe80::1%eth0"), "invalid");
  EXPECT_EQ(address("[fd00::7]"), "invalid");
}

TEST(IpAddressTest, MalformedGroupsAreInvalid) {
  EXPECT_EQ(address("1:2:3:4:5:6:7"), "invalid");
  EXPECT_EQ(address("1:2:3:4:5:6:7:8:9"), "invalid");
  EXPECT_EQ(address("1:2:3:4:5:6:7::8"), "invalid");
  EXPECT_EQ(address("1::2::3"), "invalid");
  EXPECT_EQ(address(":::1"), "invalid");
  EXPECT_EQ(address("1:"), "invalid");
  EXPECT_EQ(address("12345::"), "invalid");
  EXPECT_EQ(address("::g"), "invalid");
  EXPECT_EQ(address("::1.2.3.4:5"), "invalid");
  EXPECT_EQ(address("1:2:3:4:5:6:7:1.2.3.4"), "invalid");
  EXPECT_EQ(address("1"), "invalid");
}

TEST(IpAddressTest, OrdersByFamilyThenAsANumber) {
  const std::set<IpAddress> sorted{ip("::1"), ip("10.0.0.10"), ip("10.0.0.9"), ip("192.168.0.1")};
  std::string text;
  for (const IpAddress& each : sorted) text += to_text(each) + " ";
  EXPECT_EQ(text, "10.0.0.9 10.0.0.10 192.168.0.1 ::1 ");
}

TEST(IpAddressTest, EqualAddressesHashAlikeAndFamiliesDoNotMix) {
  const std::unordered_set<IpAddress> seen{ip("10.0.0.1"), ip("::ffff:10.0.0.1"), ip("a00:1::")};
  EXPECT_EQ(seen.size(), 2U);
}

// The first address of each range that is special, the last one, and their neighbours.
TEST(IpAddressTest, LoopbackIsAWholeRangeOfIpv4AndOneAddressOfIpv6) {
  EXPECT_EQ(to_text(loopback(IpFamily::Ipv4)), "127.0.0.1");
  EXPECT_EQ(to_text(loopback(IpFamily::Ipv6)), "::1");
  EXPECT_FALSE(is_loopback(ip("126.255.255.255")));
  EXPECT_TRUE(is_loopback(ip("127.0.0.0")));
  EXPECT_TRUE(is_loopback(ip("127.255.255.255")));
  EXPECT_TRUE(is_loopback(ip("::ffff:127.0.0.1")));
  EXPECT_FALSE(is_loopback(ip("128.0.0.0")));
  EXPECT_TRUE(is_loopback(ip("::1")));
  EXPECT_FALSE(is_loopback(ip("::")));
  EXPECT_FALSE(is_loopback(ip("::2")));
  EXPECT_FALSE(is_loopback(ip("7f00:0:1::")));  // begins as 127.0.0.1 does
}

TEST(IpAddressTest, TheUnspecifiedAddressIsAllZero) {
  EXPECT_TRUE(is_unspecified(ip("0.0.0.0")));
  EXPECT_TRUE(is_unspecified(ip("::")));
  EXPECT_TRUE(is_unspecified(ip("::ffff:0.0.0.0")));
  EXPECT_FALSE(is_unspecified(ip("0.0.0.1")));
  EXPECT_FALSE(is_unspecified(ip("::1")));
}

TEST(IpAddressTest, MulticastAndBroadcastAreForMany) {
  EXPECT_FALSE(is_for_many(ip("223.255.255.255")));
  EXPECT_TRUE(is_for_many(ip("224.0.0.0")));
  EXPECT_TRUE(is_for_many(ip("239.255.255.255")));
  EXPECT_FALSE(is_for_many(ip("240.0.0.0")));
  EXPECT_FALSE(is_for_many(ip("255.255.255.254")));
  EXPECT_TRUE(is_for_many(ip("255.255.255.255")));
  EXPECT_TRUE(is_for_many(ip("ff02::1")));
  EXPECT_FALSE(is_for_many(ip("fe80::1")));
  EXPECT_FALSE(is_for_many(ip("e000::1")));  // begins as 224.0.0.1 does
}

TEST(IpPrefixTest, HostBitsAreCleared) {
  EXPECT_EQ(prefix("10.1.2.3/16"), "10.1.0.0/16");
  EXPECT_EQ(prefix("10.255.255.255/9"), "10.128.0.0/9");
  EXPECT_EQ(prefix("fd00:1:2:3:ffff::1/66"), "fd00:1:2:3:c000::/66");
  EXPECT_EQ(prefix("10.1.2.3/32"), "10.1.2.3/32");
}

TEST(IpPrefixTest, LeadingZerosAreDecimal) { EXPECT_EQ(prefix("010.001.0.0/016"), "10.1.0.0/16"); }

TEST(IpPrefixTest, AMaskThatIsNoLengthOfTheFamilyIsInvalid) {
  EXPECT_EQ(prefix("10.0.0.0/33"), "invalid");
  EXPECT_EQ(prefix("10.0.0.0"), "invalid");
  EXPECT_EQ(prefix("10.0.0.0/-1"), "invalid");
  EXPECT_EQ(prefix("10.0.0.0/255.0.0.0"), "invalid");
  EXPECT_EQ(prefix("10.0.0.0/"), "invalid");
  EXPECT_EQ(prefix("10.0.0.0/8/8"), "invalid");
  EXPECT_EQ(prefix("fd00::/129"), "invalid");
  EXPECT_EQ(prefix("/8"), "invalid");
}

TEST(IpPrefixTest, BlanksAreTheCallersToTrim) { EXPECT_EQ(prefix(" 10.0.0.0/8 "), "invalid"); }

TEST(IpPrefixTest, APrefixOfMappedAddressesIsIpv4) {
  EXPECT_EQ(parse_ip_prefix("::ffff:10.0.0.0/104"), parse_ip_prefix("10.0.0.0/8"));
  // Here kube-proxy keeps a length of 96 beside the text 0.0.0.0/0, and then fails to see that it
  // matches everything.
  EXPECT_EQ(parse_ip_prefix("::ffff:0.0.0.0/96"), parse_ip_prefix("0.0.0.0/0"));
}

TEST(IpPrefixTest, APrefixThatReachesBeyondTheMappedAddressesStaysIpv6) {
  EXPECT_EQ(prefix("::ffff:10.0.0.0/64"), "::/64");
}

std::string without_nested(const std::vector<std::string>& texts) {
  std::vector<IpPrefix> prefixes;
  prefixes.reserve(texts.size());
  for (const std::string& text : texts) prefixes.push_back(range(text));
  std::string kept;
  for (const IpPrefix& one : without_nested(std::move(prefixes))) {
    kept += (kept.empty() ? "" : " ") + to_text(one);
  }
  return kept;
}

TEST(IpPrefixTest, ThePrefixAroundAnAddressIsNeverLongerThanItsFamilyAllows) {
  EXPECT_EQ(to_text(prefix_of(ip("10.1.2.3"), 128)), "10.1.2.3/32");
  EXPECT_EQ(to_text(prefix_of(ip("fd00::7"), 128)), "fd00::7/128");
  EXPECT_EQ(to_text(prefix_of(ip("10.1.2.3"), 12)), "10.0.0.0/12");
  EXPECT_EQ(to_text(prefix_of(ip("10.1.2.3"), 0)), "0.0.0.0/0");
}

TEST(IpPrefixTest, OfPrefixesThatLieWithinOthersTheOthersAreLeftAndSorted) {
  EXPECT_EQ(without_nested({"10.2.0.0/16", "10.1.0.0/16", "10.1.2.0/24", "10.1.0.0/16"}),
            "10.1.0.0/16 10.2.0.0/16");
  EXPECT_EQ(without_nested({"10.1.0.0/24", "10.1.0.0/16", "10.1.0.0/32"}), "10.1.0.0/16");
  EXPECT_EQ(without_nested({"10.0.0.0/9", "10.128.0.0/9"}), "10.0.0.0/9 10.128.0.0/9");
  EXPECT_EQ(without_nested({"fd00::/8", "0.0.0.0/0", "fd00:1::/32", "192.0.2.0/24"}),
            "0.0.0.0/0 fd00::/8");
  EXPECT_EQ(without_nested({}), "");
}

TEST(IpPrefixTest, LengthZeroContainsItsWholeFamilyAndNoOther) {
  EXPECT_TRUE(contains(range("0.0.0.0/0"), ip("203.0.113.7")));
  EXPECT_TRUE(contains(range("::/0"), ip("fd00::7")));
  EXPECT_FALSE(contains(range("::/0"), ip("203.0.113.7")));
}

TEST(IpPrefixTest, ContainsTheAddressesThatShareItsBits) {
  const IpPrefix pods = range("10.180.0.0/15");
  EXPECT_TRUE(contains(pods, ip("10.181.255.255")));
  EXPECT_FALSE(contains(pods, ip("10.182.0.0")));
}

}  // namespace
}  // namespace mkp
