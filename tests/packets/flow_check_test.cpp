#include "tests/packets/flow_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/packets/program.h"

namespace mkp::packets {
namespace {

IpAddress ip(std::string_view text) { return parse_ip_address(text).value_or(IpAddress{}); }

AddressPort at(std::string_view text) { return parse_address_port(text).value_or(AddressPort{}); }

// A flow from a pod to a cluster IP.
Flow flow(Expectation::Kind kind, const std::map<AddressPort, bool>& endpoints = {}) {
  Flow made;
  made.from = ip("10.64.1.50");
  made.to = at("10.96.0.10:80");
  made.expect.kind = kind;
  made.masquerade = endpoints;
  for (const auto& [endpoint, masquerade] : endpoints) made.expect.endpoints.insert(endpoint);
  return made;
}

Flow translated(const std::map<AddressPort, bool>& endpoints) {
  return flow(Expectation::Kind::Translated, endpoints);
}

const AddressPort kFirst = at("10.64.1.5:8080");
const AddressPort kSecond = at("10.64.2.5:8080");

constexpr std::string_view kRandom =
    "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to numgen random mod 2 map "
    "{ 0 : 10.64.1.5 . 8080, 1 : 10.64.2.5 . 8080 }";
constexpr std::string_view kByClient =
    "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to jhash ip saddr mod 2 seed 7 "
    "map "
    "{ 0 : 10.64.1.5 . 8080, 1 : 10.64.2.5 . 8080 }";

class FlowCheckTest : public testing::Test {
 protected:
  static void load(std::string_view rule,
                   std::string_view hook = "type nat hook prerouting priority -100") {
    const Result<std::string> loaded = run_program(
        {"nft", "-f", "-"}, fmt::format("table ip by-hand\ndelete table ip by-hand\n"
                                        "table ip by-hand {{ chain rules {{\n{}\n{}\n}}\n}}\n",
                                        hook, rule));
    EXPECT_TRUE(loaded) << loaded.error().what;
  }

  // "" when the flow is as expected.
  std::string mismatch(const Flow& checked, const std::string& service_port = "web") {
    const Result<std::optional<std::string>> wrong = check_.mismatch(checked, service_port);
    return wrong ? wrong->value_or("") : wrong.error().what;
  }

  std::unique_ptr<SimulatedNode> node_ = SimulatedNode::create({ip("10.20.0.11")}).value();
  FlowCheck check_{*node_, Mode::Nftables};
};

TEST_F(FlowCheckTest, IsContentWhenEveryEndpointIsMet) {
  load(kRandom);
  EXPECT_EQ(mismatch(translated({{kFirst, false}, {kSecond, false}})), "");
}

TEST_F(FlowCheckTest, ReportsAnEndpointThatNobodyExpects) {
  load(kRandom);
  EXPECT_EQ(mismatch(translated({{kFirst, false}})), "10.64.2.5:8080");
}

TEST_F(FlowCheckTest, ReportsAnEndpointThatIsNeverChosen) {
  load("ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080");
  EXPECT_EQ(mismatch(translated({{kFirst, false}, {kSecond, false}})),
            "never 10.64.2.5:8080 in 600 tries");
}

TEST_F(FlowCheckTest, ReportsAMissingMasquerade) {
  load("ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080");
  EXPECT_EQ(mismatch(translated({{kFirst, true}})), "10.64.1.5:8080");
}

TEST_F(FlowCheckTest, ReportsWhatBecomesOfAPacketInstead) {
  load("ip daddr 10.96.0.10 reject", "type filter hook forward priority 0");
  EXPECT_EQ(mismatch(translated({{kFirst, false}})), "reject");
  EXPECT_EQ(mismatch(flow(Expectation::Kind::Drop)), "reject");
  EXPECT_EQ(mismatch(flow(Expectation::Kind::Pass)), "reject");
  EXPECT_EQ(mismatch(flow(Expectation::Kind::Reject)), "");
}

TEST_F(FlowCheckTest, TellsDropFromReject) {
  load("ip daddr 10.96.0.10 drop", "type filter hook forward priority 0");
  EXPECT_EQ(mismatch(flow(Expectation::Kind::Drop)), "");
  EXPECT_EQ(mismatch(flow(Expectation::Kind::Reject)), "drop");
}

TEST_F(FlowCheckTest, TakesTheNodesOwnRefusalForARejectWhereThereIsNoService) {
  Flow to_node = flow(Expectation::Kind::Reject);
  to_node.to = at("10.20.0.11:30080");
  EXPECT_EQ(mismatch(to_node, ""), "");
  EXPECT_EQ(mismatch(to_node, "web"), "pass (and refused by the local stack)");
  to_node.to = at("10.20.0.12:30080");
  EXPECT_EQ(mismatch(to_node, ""), "pass");
}

TEST_F(FlowCheckTest, SeesNoAffinityInARandomChoice) {
  load(kRandom);
  Flow sticky = translated({{kFirst, false}, {kSecond, false}});
  sticky.sticky = std::chrono::hours(3);
  EXPECT_NE(mismatch(sticky).find("no affinity"), std::string::npos);
}

TEST_F(FlowCheckTest, SeesAffinityAndEveryEndpointThroughOtherClients) {
  load(kByClient);
  Flow sticky = translated({{kFirst, false}, {kSecond, false}});
  sticky.sticky = std::chrono::hours(3);
  EXPECT_EQ(mismatch(sticky), "");
  sticky.sticky.reset();
  EXPECT_NE(mismatch(sticky).find("never"), std::string::npos);
}

TEST_F(FlowCheckTest, RemembersAffinityFromOneFlowToTheNext) {
  Flow sticky = translated({{kFirst, false}, {kSecond, false}});
  sticky.sticky = std::chrono::hours(3);
  load(kByClient);
  ASSERT_EQ(mismatch(sticky), "");
  load(
      "ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to jhash ip saddr mod 2 seed 7 "
      "map "
      "{ 1 : 10.64.1.5 . 8080, 0 : 10.64.2.5 . 8080 }");
  EXPECT_NE(mismatch(sticky).find("no affinity"), std::string::npos);
}

TEST_F(FlowCheckTest, FollowsOneFlowByItsSourcePort) {
  load("ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080");
  Flow same = translated({{kFirst, false}});
  same.transport = Transport::Udp;
  same.source_port = 41'000;
  EXPECT_EQ(mismatch(same), "");
  load("ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.2.5:8080");
  EXPECT_EQ(mismatch(same), "");  // connection tracking knows the flow
  same.source_port.reset();
  EXPECT_EQ(mismatch(same), "10.64.2.5:8080");
}

TEST_F(FlowCheckTest, SendsFromTheNodeWhenTheFlowSaysSo) {
  load("ip daddr 10.96.0.10 meta l4proto { tcp, udp, sctp } dnat ip to 10.64.1.5:8080",
       "type nat hook output priority -100");
  Flow own = translated({{kFirst, false}});
  EXPECT_EQ(mismatch(own), "pass");
  own.from.reset();
  EXPECT_EQ(mismatch(own), "");
}

TEST_F(FlowCheckTest, KnowsNoAcceptInNftablesMode) {
  EXPECT_NE(mismatch(flow(Expectation::Kind::Accept)), "");
}

TEST_F(FlowCheckTest, SeesAMarkOfOthersThatIsKept) {
  load(kRandom);
  Flow marked = translated({{kFirst, false}, {kSecond, false}});
  marked.mark = 0x4000;
  EXPECT_EQ(mismatch(marked), "");
}

TEST_F(FlowCheckTest, ReportsAMarkOfOthersThatIsLost) {
  load(fmt::format("meta l4proto tcp meta mark set 0x8000\n{}", kRandom));
  Flow marked = translated({{kFirst, false}, {kSecond, false}});
  marked.mark = 0x4000;
  EXPECT_EQ(mismatch(marked), "drop");
}

TEST_F(FlowCheckTest, ForgetsWhereClientsStuckWhenTheyStickNoMore) {
  load(kByClient);
  Flow sticky = translated({{kFirst, false}, {kSecond, false}});
  sticky.sticky = std::chrono::seconds(60);
  ASSERT_EQ(mismatch(sticky), "");
  load(kRandom);
  EXPECT_EQ(mismatch(translated({{kFirst, false}, {kSecond, false}})), "");
  load(
      fmt::format("ip saddr 10.64.1.50 meta l4proto tcp dnat ip to 10.64.1.5:8080\n{}", kByClient));
  const std::string one_way = mismatch(sticky);
  load(
      fmt::format("ip saddr 10.64.1.50 meta l4proto tcp dnat ip to 10.64.2.5:8080\n{}", kByClient));
  EXPECT_EQ(one_way, "");
  EXPECT_NE(mismatch(sticky), "");
}

}  // namespace
}  // namespace mkp::packets
