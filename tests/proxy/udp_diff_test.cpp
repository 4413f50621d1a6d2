// What a diff of rules means for UDP flows.
#include "proxy/udp_diff.h"

#include <gtest/gtest.h>

#include "proxy/udp_frontends.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

constexpr std::string_view kDns = "172.30.0.10:53";
constexpr std::string_view kA = "10.180.0.2:5353";
constexpr std::string_view kB = "10.180.0.3:5353";
constexpr std::string_view kC = "10.180.0.4:5353";

ServicePortName udp(std::string_view service) {
  return {{"default", std::string(service)}, "dns", Protocol::Udp};
}
ServicePort dns(const std::vector<std::string_view>& to, std::string_view at = kDns) {
  return cluster_port(at, to, Protocol::Udp);
}

std::string listed(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& one : endpoints) text += (text.empty() ? "" : " ") + to_text(one);
  return text.empty() ? "none" : text;
}

// A line for each frontend: where flows were led, and who goes on with them.
std::string text(const UdpChanges& changes) {
  std::string lines;
  for (const UdpChanges::Change& change : changes.frontends) {
    lines += to_text(change.frontend) + ": " + listed(change.before) + " -> " +
             (change.after ? listed(*change.after) : "gone") + "\n";
  }
  return lines;
}
std::string text(const RuleModel& applied, const RuleModel& desired) {
  return text(udp_changes(IpFamily::Ipv4, diff(applied, desired)));
}

// --- a diff ---

TEST(UdpDiffTest, NothingChangedIsNothingToSay) {
  const RuleModel model{{udp("dns"), dns({kA})}};
  EXPECT_TRUE(udp_changes(IpFamily::Ipv4, diff(model, model)).empty());
}

TEST(UdpDiffTest, TcpAndSctpHaveNoFlowsToForget) {
  ServicePortName sctp = udp("dns");
  sctp.protocol = Protocol::Sctp;
  const RuleModel model{{port_name("web"), cluster_port("172.30.0.10:80", {"10.180.0.2:80"})},
                        {sctp, cluster_port(kDns, {kA}, Protocol::Sctp)}};
  EXPECT_EQ(text({}, model), "");
  EXPECT_EQ(text(model, {}), "");
}

TEST(UdpDiffTest, ANewFrontendLedNowhereBefore) {
  EXPECT_EQ(text({}, {{udp("dns"), dns({kA, kB})}}),
            "172.30.0.10:53/UDP: none -> 10.180.0.2:5353 10.180.0.3:5353\n");
}

TEST(UdpDiffTest, AFrontendThatGoesSaysWhereItLed) {
  EXPECT_EQ(text({{udp("dns"), dns({kA})}}, {}), "172.30.0.10:53/UDP: 10.180.0.2:5353 -> gone\n");
}

TEST(UdpDiffTest, AFrontendThatLosesItsLastEndpointRefuses) {
  EXPECT_EQ(text({{udp("dns"), dns({kA})}}, {{udp("dns"), dns({})}}),
            "172.30.0.10:53/UDP: 10.180.0.2:5353 -> none\n");
}

TEST(UdpDiffTest, AnAddressThatChangesIsAFrontendGoneAndANewOne) {
  EXPECT_EQ(text({{udp("dns"), dns({kA})}}, {{udp("dns"), dns({kA}, "172.30.0.11:53")}}),
            "172.30.0.10:53/UDP: 10.180.0.2:5353 -> gone\n"
            "172.30.0.11:53/UDP: none -> 10.180.0.2:5353\n");
}

TEST(UdpDiffTest, AFrontendThatPassesFromOneServiceToAnotherIsOneChangeWhicheverComesFirst) {
  const RuleModel of_a{{udp("a"), dns({kA})}};
  const RuleModel of_b{{udp("b"), dns({kB})}};
  EXPECT_EQ(text(of_a, of_b), "172.30.0.10:53/UDP: 10.180.0.2:5353 -> 10.180.0.3:5353\n");
  EXPECT_EQ(text(of_b, of_a), "172.30.0.10:53/UDP: 10.180.0.3:5353 -> 10.180.0.2:5353\n");
}

TEST(UdpDiffTest, TwoServicesThatSwapFrontendsAreTwoChanges) {
  constexpr std::string_view other = "172.30.0.11:53";
  EXPECT_EQ(text({{udp("a"), dns({kA})}, {udp("b"), dns({kB}, other)}},
                 {{udp("a"), dns({kA}, other)}, {udp("b"), dns({kB})}}),
            "172.30.0.10:53/UDP: 10.180.0.2:5353 -> 10.180.0.3:5353\n"
            "172.30.0.11:53/UDP: 10.180.0.3:5353 -> 10.180.0.2:5353\n");
}

TEST(UdpDiffTest, AFrontendThatPassesFromUdpToTcpIsGone) {
  ServicePortName tcp = udp("dns");
  tcp.protocol = Protocol::Tcp;
  EXPECT_EQ(text({{udp("dns"), dns({kA})}}, {{tcp, cluster_port(kDns, {kA})}}),
            "172.30.0.10:53/UDP: 10.180.0.2:5353 -> gone\n");
}

TEST(UdpDiffTest, EveryFrontendOfAPortHasItsOwnLine) {
  ServicePort port = dns({kA});
  port.frontends.push_back({Frontend{std::nullopt, Protocol::Udp, 30053}, FrontendKind::NodePort});
  EXPECT_EQ(text({{udp("dns"), port}}, {}),
            "node port 30053/UDP: 10.180.0.2:5353 -> gone\n"
            "172.30.0.10:53/UDP: 10.180.0.2:5353 -> gone\n");
}

TEST(UdpDiffTest, FlowsWereLedToEitherListAndStayWithAllThatServe) {
  ServicePort before = dns({kA});
  before.endpoints.local = endpoints({kB});
  before.serving = endpoints({kA, kC});
  ServicePort after = before;
  after.endpoints.cluster = endpoints({kC});  // hints: new flows go elsewhere, others stay
  EXPECT_EQ(text({{udp("dns"), before}}, {{udp("dns"), after}}),
            "172.30.0.10:53/UDP: 10.180.0.2:5353 10.180.0.3:5353 10.180.0.4:5353 -> "
            "10.180.0.2:5353 10.180.0.4:5353\n");
}

TEST(UdpDiffTest, ANodeThatAnswersElsewhereIsToldOfAndOneThatDoesNotIsNot) {
  RuleDiff changed;
  changed.node.emplace();
  changed.node->node_port_ips = {ip("192.168.0.10")};
  EXPECT_EQ(udp_changes(IpFamily::Ipv4, changed).node_port_ips,
            std::vector<IpAddress>{ip("192.168.0.10")});
  EXPECT_EQ(udp_changes(IpFamily::Ipv4, RuleDiff{}).node_port_ips, std::nullopt);
}

// --- a resync ---

TEST(UdpResyncTest, NamesEveryFrontendAndWhoAnswersOnNodePorts) {
  NodeModel node;
  node.node_port_ips = {ip("192.168.0.10")};
  const RuleModel model{{port_name("web"), cluster_port("172.30.0.10:80", {"10.180.0.2:80"})},
                        {udp("dns"), dns({kA})}};
  const UdpChanges changes = udp_changes(IpFamily::Ipv4, model, node, {});
  EXPECT_EQ(text(changes), "172.30.0.10:53/UDP: none -> 10.180.0.2:5353\n");
  EXPECT_EQ(changes.node_port_ips, node.node_port_ips);
  EXPECT_TRUE(changes.complete);
}

TEST(UdpResyncTest, OfNothingIsNewsAllTheSame) {
  EXPECT_FALSE(udp_changes(IpFamily::Ipv6, {}, NodeModel{}, {}).empty());
}

TEST(UdpResyncTest, TellsOfUdpFrontendsThatTheKernelHadAndAreNoneAnyMore) {
  const std::vector<Plan::GoneFrontend> gone = {
      {frontend("172.30.0.9:53", Protocol::Udp), endpoints({kB})},
      {frontend("172.30.0.9:53", Protocol::Tcp), endpoints({kB})},
      {frontend(kDns, Protocol::Udp), endpoints({kC})}};
  EXPECT_EQ(text(udp_changes(IpFamily::Ipv4, {{udp("dns"), dns({kA})}}, NodeModel{}, gone)),
            "172.30.0.9:53/UDP: 10.180.0.3:5353 -> gone\n"
            "172.30.0.10:53/UDP: 10.180.0.4:5353 -> 10.180.0.2:5353\n");
}

// --- what becomes of flows ---

UdpFlow flow(std::string_view dialled, std::string_view answering) {
  const Endpoint to = endpoint(dialled);
  const Endpoint from = endpoint(answering);
  UdpFlow made;
  made.source = {ip("203.0.113.9"), 41000};
  made.destination = {to.ip, to.port};
  made.reply_source = {from.ip, from.port};
  made.reply_destination = made.source;
  return made;
}

TEST(UdpDiffTest, AFlowFollowsItsFrontendToAnotherService) {
  const RuleModel of_a{{udp("a"), dns({kA})}};
  const RuleModel of_b{{udp("b"), dns({kB})}};
  UdpFrontends frontends;
  frontends.apply(udp_changes(IpFamily::Ipv4, of_a, NodeModel{}, {}));
  EXPECT_FALSE(frontends.is_stale(flow(kDns, kA)));
  frontends.apply(udp_changes(IpFamily::Ipv4, diff(of_a, of_b)));
  EXPECT_TRUE(frontends.is_stale(flow(kDns, kA)));
  EXPECT_FALSE(frontends.is_stale(flow(kDns, kB)));
}

}  // namespace
}  // namespace mkp
