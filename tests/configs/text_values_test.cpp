#include "configs/text_values.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

using namespace std::chrono_literals;

// What a text reads as, printed again; or what it is not.
template <class T>
std::string reread(std::string_view text) {
  const Result<T> value = parse_value<T>(text);
  return value ? value_text(*value) : value.error().what;
}

std::string reread_listen(std::string_view text) {
  const Result<ListenAddress> value = parse_listen_address(text, 10256);
  return value ? value_text(*value) : value.error().what;
}

TEST(TextValuesTest, BooleansAreGos) {
  EXPECT_EQ(reread<bool>("true"), "true");
  EXPECT_EQ(reread<bool>("T"), "true");
  EXPECT_EQ(reread<bool>("0"), "false");
  EXPECT_EQ(reread<bool>("yes"), "\"yes\" is not true or false");
  EXPECT_EQ(reread<bool>(""), "\"\" is not true or false");
}

TEST(TextValuesTest, IntegersHaveThirtyTwoBits) {
  EXPECT_EQ(reread<std::int32_t>("-999"), "-999");
  EXPECT_EQ(reread<std::int32_t>("2147483647"), "2147483647");
  EXPECT_EQ(reread<std::int32_t>("2147483648"), "\"2147483648\" is not an integer of 32 bits");
  EXPECT_EQ(reread<std::int32_t>("1.0"), "\"1.0\" is not an integer of 32 bits");
}

TEST(TextValuesTest, RatesMayHaveFractions) {
  EXPECT_EQ(reread<float>("0.5"), "0.5");
  EXPECT_EQ(reread<float>("fast"), "\"fast\" is not a number");
}

TEST(TextValuesTest, DurationsAreGos) {
  EXPECT_EQ(reread<Duration>("90s"), "1m30s");
  EXPECT_EQ(reread<Duration>("5 s"), "\"5 s\" is not a duration such as 10ms or 1m30s");
}

TEST(TextValuesTest, AWrongNameIsAnsweredWithTheRightOnes) {
  EXPECT_EQ(reread<ProxyMode>("ipvs"), "ipvs");
  EXPECT_EQ(reread<ProxyMode>("ebpf"), "\"ebpf\" is not one of nftables, iptables, ipvs");
  EXPECT_EQ(reread<DetectLocalMode>("NodeCIDR"), "NodeCIDR");
  EXPECT_EQ(reread<DetectLocalMode>("nodecidr"),
            "\"nodecidr\" is not one of ClusterCIDR, NodeCIDR, BridgeInterface, "
            "InterfaceNamePrefix");
  EXPECT_EQ(reread<LogFormat>("json"), "json");
  EXPECT_EQ(reread<LogFormat>("xml"), "\"xml\" is not one of text, json");
}

TEST(TextValuesTest, PrefixesAreSplitAtCommasAndNotTrimmed) {
  EXPECT_EQ(reread<std::vector<IpPrefix>>(""), "");
  EXPECT_EQ(reread<std::vector<IpPrefix>>("10.180.1.2/16,FD00::/56"), "10.180.0.0/16,fd00::/56");
  EXPECT_EQ(reread<std::vector<IpPrefix>>("10.0.0.0/8, fd00::/8"),
            "\" fd00::/8\" is not a prefix such as 10.180.0.0/16 or fd00:10:180::/56");
  EXPECT_EQ(reread<std::vector<IpPrefix>>("10.0.0.0/8,"),
            "\"\" is not a prefix such as 10.180.0.0/16 or fd00:10:180::/56");
}

TEST(TextValuesTest, NodePortAddressesAreKeywordsAndPrefixes) {
  EXPECT_EQ(reread<NodePortAddresses>("primary"), "primary");
  EXPECT_EQ(reread<NodePortAddresses>("192.168.0.0/24,fd00::/64"), "192.168.0.0/24,fd00::/64");
  EXPECT_EQ(reread<NodePortAddresses>("192.168.0.0/24,primary"), "primary,192.168.0.0/24");
  EXPECT_EQ(reread<NodePortAddresses>("localhost"), "127.0.0.0/8,::1/128");
  EXPECT_EQ(reread<NodePortAddresses>("all"), "0.0.0.0/0,::/0");
  EXPECT_EQ(reread<NodePortAddresses>("192.168.0.1"),
            "\"192.168.0.1\" is not primary, localhost, all or a prefix such as 192.168.0.0/24");
}

TEST(TextValuesTest, ModulesHaveAPatternAndAVerbosity) {
  EXPECT_EQ(reread<std::vector<LoggingConfig::Module>>("proxier=4,a=b=2"), "proxier=4,a=b=2");
  EXPECT_EQ(reread<std::vector<LoggingConfig::Module>>("=2"),
            "\"=2\" is not a file pattern and verbosity such as gc*=2");
  EXPECT_EQ(reread<std::vector<LoggingConfig::Module>>("proxier"),
            "\"proxier\" is not a file pattern and verbosity such as gc*=2");
}

TEST(TextValuesTest, AnyFeatureGateIsTaken) {
  EXPECT_EQ((reread<std::map<std::string, bool>>("B=true,A=false")), "A=false,B=true");
  EXPECT_EQ((reread<std::map<std::string, bool>>("A=maybe")),
            "\"A=maybe\" is not a feature gate and its state such as AllAlpha=false");
}

TEST(TextValuesTest, AListenAddressMayLackItsPort) {
  EXPECT_EQ(reread_listen("0.0.0.0:80"), "0.0.0.0:80");
  EXPECT_EQ(reread_listen("127.0.0.1"), "127.0.0.1:10256");
  EXPECT_EQ(reread_listen("::"), "[::]:10256");
  EXPECT_EQ(reread_listen("[::1]:80"), "[::1]:80");
}

TEST(TextValuesTest, AListenAddressIsNoNameAndItsPortANumber) {
  const std::string refused =
      " is not an address with a port such as 127.0.0.1:10249 or [::1]:10249";
  EXPECT_EQ(reread_listen("localhost:80"), "\"localhost:80\"" + refused);
  EXPECT_EQ(reread_listen("127.0.0.1:65536"), "\"127.0.0.1:65536\"" + refused);
  EXPECT_EQ(reread_listen("127.0.0.1:http"), "\"127.0.0.1:http\"" + refused);
  EXPECT_EQ(reread_listen("[127.0.0.1]:80"), "\"[127.0.0.1]:80\"" + refused);
  EXPECT_EQ(reread_listen("[::1]"), "\"[::1]\"" + refused);
  EXPECT_EQ(reread_listen(":80"), "\":80\"" + refused);
  EXPECT_EQ(reread_listen("["), "\"[\"" + refused);
}

}  // namespace
}  // namespace mkp
