// What the settings mean on one node.
#include "proxy/node_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

std::vector<IpPrefix> prefixes(const Texts& texts) {
  std::vector<IpPrefix> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(prefix(text));
  return all;
}

// A dual-stack node with a second interface.
NodeFacts node_a() {
  NodeFacts facts;
  facts.node.name = "node-a";
  facts.node.ips = {ip("192.168.0.10"), ip("fd00:192::10")};
  facts.addresses = {ip("127.0.0.1"), ip("192.168.0.10"), ip("192.168.7.1"),
                     ip("::1"),       ip("fd00:192::10"), ip("fe80::1")};
  return facts;
}

// "192.168.0.10 | fd00:192::10": who answers in either family, "anywhere" where all do.
std::string answering(const Config& config, const NodeFacts& facts) {
  const auto read = [&](IpFamily family) {
    const NodeModel model = node_model(config, facts, family).model;
    std::string text = model.node_ports_anywhere ? "anywhere" : "";
    for (const IpAddress& ip : model.node_port_ips) {
      text += (text.empty() ? "" : " ") + to_text(ip);
    }
    return text.empty() ? "-" : text;
  };
  return read(IpFamily::Ipv4) + " | " + read(IpFamily::Ipv6);
}

Config asking_for(bool primary, const Texts& texts) {
  Config config;
  config.node_port_addresses = {.primary = primary, .prefixes = prefixes(texts)};
  return config;
}

Texts problems(const Config& config, const NodeFacts& facts) {
  Texts all = node_model(config, facts, IpFamily::Ipv4).problems;
  for (std::string& one : node_model(config, facts, IpFamily::Ipv6).problems) {
    all.push_back(std::move(one));
  }
  return all;
}

// --- node ports ---

TEST(NodePortAddressesTest, AreTheNodesOwnUnlessSaidOtherwise) {
  EXPECT_EQ(answering(Config{}, node_a()), "192.168.0.10 | fd00:192::10");
  EXPECT_THAT(problems(Config{}, node_a()), IsEmpty());
}

TEST(NodePortAddressesTest, OfPrefixesAreThoseOfTheInterfacesWithin) {
  const Config config = asking_for(false, {"192.168.0.0/16", "fe80::/10"});
  EXPECT_EQ(answering(config, node_a()), "192.168.0.10 192.168.7.1 | fe80::1");
  EXPECT_THAT(problems(config, node_a()), IsEmpty());
}

TEST(NodePortAddressesTest, OfThePrimaryAndPrefixesAreBoth) {
  EXPECT_EQ(answering(asking_for(true, {"192.168.7.0/24", "fe80::1/128"}), node_a()),
            "192.168.0.10 192.168.7.1 | fd00:192::10 fe80::1");
}

TEST(NodePortAddressesTest, OfLengthZeroAreAllOfThatFamilyButLoopback) {
  EXPECT_EQ(answering(asking_for(true, {"0.0.0.0/0"}), node_a()),
            "anywhere 192.168.0.10 192.168.7.1 | fd00:192::10");
  EXPECT_EQ(answering(asking_for(false, {"0.0.0.0/0", "::/0"}), node_a()),
            "anywhere 192.168.0.10 192.168.7.1 | anywhere fd00:192::10 fe80::1");
}

TEST(NodePortAddressesTest, OfNothingAreAllButLoopback) {
  EXPECT_EQ(answering(asking_for(false, {}), node_a()),
            "anywhere 192.168.0.10 192.168.7.1 | anywhere fd00:192::10 fe80::1");
  EXPECT_THAT(problems(asking_for(false, {}), node_a()), IsEmpty());
}

TEST(NodePortAddressesTest, OfTheOtherFamilyOnlyLeaveThisOneOpenEverywhereAndThatIsReported) {
  const Config config = asking_for(false, {"192.168.0.0/24"});
  EXPECT_EQ(answering(config, node_a()), "192.168.0.10 | anywhere fd00:192::10 fe80::1");
  EXPECT_THAT(problems(config, node_a()),
              ElementsAre("nodePortAddresses names no IPv6 prefix, so IPv6 node ports are open at "
                          "every IPv6 address of this node: add one to have it otherwise"));
}

TEST(NodePortAddressesTest, OfAPrimaryThatIsNotKnownAreAll) {
  NodeFacts facts = node_a();
  facts.node.ips = {ip("192.168.0.10")};
  EXPECT_EQ(answering(Config{}, facts), "192.168.0.10 | anywhere fd00:192::10 fe80::1");
}

TEST(NodePortAddressesTest, OfAPrimaryThatNoInterfaceHasAreNoneAndThatIsReported) {
  NodeFacts facts = node_a();
  facts.node.ips = {ip("203.0.113.4"), ip("fd00:192::10")};
  EXPECT_EQ(answering(Config{}, facts), "- | fd00:192::10");
  EXPECT_THAT(problems(Config{}, facts),
              ElementsAre("no IPv4 address of this node is within 203.0.113.4/32, which "
                          "nodePortAddresses asks for: node ports get no IPv4 traffic until an "
                          "interface has such an address, or nodePortAddresses is changed"));
}

TEST(NodePortAddressesTest, OfLoopbackNeverAnswerAndThatIsReported) {
  const Config config = asking_for(true, {"127.0.0.0/8", "::1/128"});
  EXPECT_EQ(answering(config, node_a()), "192.168.0.10 | fd00:192::10");
  EXPECT_THAT(problems(config, node_a()),
              ElementsAre("nodePortAddresses: 127.0.0.0/8 is of loopback, which never answers on "
                          "node ports: of the addresses asked for, only others do",
                          "nodePortAddresses: ::1/128 is of loopback, which never answers on node "
                          "ports: of the addresses asked for, only others do"));
}

TEST(NodePortAddressesTest, OfLoopbackAlongsideAPrefixThatNoneIsWithinAreNoneAndBothAreReported) {
  const Config config = asking_for(false, {"127.0.0.0/8", "10.9.0.0/16", "fe80::/10"});
  EXPECT_EQ(answering(config, node_a()), "- | fe80::1");
  EXPECT_THAT(problems(config, node_a()),
              ElementsAre(HasSubstr("127.0.0.0/8 is of loopback"),
                          HasSubstr("no IPv4 address of this node is within 10.9.0.0/16")));
}

TEST(NodePortAddressesTest, FollowTheInterfaces) {
  NodeFacts facts = node_a();
  const Config config = asking_for(false, {"192.168.7.0/24", "::/0"});
  EXPECT_EQ(node_model(config, facts, IpFamily::Ipv4).model.node_port_ips,
            std::vector<IpAddress>{ip("192.168.7.1")});
  facts.addresses = {ip("192.168.7.2"), ip("192.168.8.1")};
  EXPECT_EQ(node_model(config, facts, IpFamily::Ipv4).model.node_port_ips,
            std::vector<IpAddress>{ip("192.168.7.2")});
}

// --- who is a pod ---

LocalPods local_pods(const Config& config, IpFamily family = IpFamily::Ipv4) {
  NodeFacts facts = node_a();
  facts.node.pod_cidrs = prefixes({"10.180.7.0/24", "fd00:180:7::/64"});
  return node_model(config, facts, family).model.local_pods;
}

TEST(LocalPodsTest, OfModeClusterCidrAreThoseOfTheWholeCluster) {
  Config config;
  config.cluster_cidr = prefixes({"10.180.0.0/16", "fd00:180::/48"});
  EXPECT_EQ(local_pods(config, IpFamily::Ipv4).sources, prefixes({"10.180.0.0/16"}));
  EXPECT_EQ(local_pods(config, IpFamily::Ipv6).sources, prefixes({"fd00:180::/48"}));
}

TEST(LocalPodsTest, OfModeClusterCidrWithoutARangeOfTheFamilyCannotBeTold) {
  Config config;
  config.cluster_cidr = prefixes({"10.180.0.0/16"});
  EXPECT_EQ(local_pods(config, IpFamily::Ipv6), LocalPods{});
  EXPECT_EQ(local_pods(Config{}), LocalPods{});
}

TEST(LocalPodsTest, OfModeNodeCidrAreThoseOfTheNodesOwnRanges) {
  Config config;
  config.cluster_cidr = prefixes({"10.180.0.0/16"});
  config.detect_local_mode = DetectLocalMode::NodeCidr;
  EXPECT_EQ(local_pods(config, IpFamily::Ipv4).sources, prefixes({"10.180.7.0/24"}));
  EXPECT_EQ(local_pods(config, IpFamily::Ipv6).sources, prefixes({"fd00:180:7::/64"}));
}

TEST(LocalPodsTest, OfModeNodeCidrWithoutPodCidrsCannotBeToldAndThatIsReportedInEachFamily) {
  Config config;
  config.detect_local_mode = DetectLocalMode::NodeCidr;
  NodeFacts facts = node_a();
  facts.node.pod_cidrs = prefixes({"10.180.7.0/24"});
  EXPECT_THAT(
      problems(config, facts),
      ElementsAre("Node node-a has no IPv6 podCIDR (yet), which detectLocalMode NodeCIDR goes by: "
                  "until it has, nobody's address is replaced on the way to a cluster IP, so "
                  "clients outside the cluster may get no answer, and pods use frontends of "
                  "externalTrafficPolicy Local as those outside do"));
}

TEST(LocalPodsTest, OfModeBridgeInterfaceComeInByThatInterfaceInBothFamilies) {
  Config config;
  config.detect_local_mode = DetectLocalMode::BridgeInterface;
  config.detect_local.bridge_interface = "cbr0";
  const LocalPods expected{.sources = {}, .interface = "cbr0", .interface_prefix = ""};
  EXPECT_EQ(local_pods(config, IpFamily::Ipv4), expected);
  EXPECT_EQ(local_pods(config, IpFamily::Ipv6), expected);
}

TEST(LocalPodsTest, OfModeInterfaceNamePrefixComeInByInterfacesOfThatNameInBothFamilies) {
  Config config;
  config.detect_local_mode = DetectLocalMode::InterfaceNamePrefix;
  config.detect_local.interface_name_prefix = "veth";
  const LocalPods expected{.sources = {}, .interface = "", .interface_prefix = "veth"};
  EXPECT_EQ(local_pods(config, IpFamily::Ipv4), expected);
  EXPECT_EQ(local_pods(config, IpFamily::Ipv6), expected);
}

TEST(LocalPodsTest, OfOneModeIgnoreTheSettingsOfTheOthers) {
  Config config;
  config.cluster_cidr = prefixes({"10.180.0.0/16"});
  config.detect_local.bridge_interface = "cbr0";
  config.detect_local.interface_name_prefix = "veth";
  EXPECT_EQ(
      local_pods(config),
      (LocalPods{.sources = prefixes({"10.180.0.0/16"}), .interface = "", .interface_prefix = ""}));
}

// --- the ranges of cluster IPs ---

TEST(ServiceCidrsTest, AreTakenApartByFamilySortedAndWithoutWhatLiesWithinAnother) {
  NodeFacts facts = node_a();
  facts.service_cidrs = prefixes({"172.31.0.0/16", "fd00:30::/112", "172.30.8.0/24",
                                  "172.30.0.0/16", "172.30.0.0/16", "fd00:30::/108"});
  EXPECT_EQ(node_model(Config{}, facts, IpFamily::Ipv4).model.service_cidrs,
            prefixes({"172.30.0.0/16", "172.31.0.0/16"}));
  EXPECT_EQ(node_model(Config{}, facts, IpFamily::Ipv6).model.service_cidrs,
            prefixes({"fd00:30::/108"}));
}

TEST(ServiceCidrsTest, AreNoneUntilTheyAreKnown) {
  EXPECT_THAT(node_model(Config{}, node_a(), IpFamily::Ipv4).model.service_cidrs, IsEmpty());
}

}  // namespace
}  // namespace mkp
