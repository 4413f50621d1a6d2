#include "proxy/udp_frontends.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/proxy/udp_literals.h"

namespace mkp {
namespace {

constexpr std::string_view kClient = "203.0.113.9:41001";
constexpr const char* kWeb = "172.30.0.10:53";
constexpr const char* kA = "10.180.0.2:5353";
constexpr const char* kB = "10.180.0.3:5353";
constexpr const char* kC = "10.180.0.4:5353";

class UdpFrontendsTest : public testing::Test {
 protected:
  // What one sync said, and whether it makes a visit due when everything before was dealt with.
  bool needs_visit_after(const UdpChanges& changes) {
    all_visited();
    frontends_.apply(changes);
    return frontends_.needs_visit();
  }
  bool needs_visit_after(UdpChanges::Change change) {
    return needs_visit_after(udp_changes({std::move(change)}));
  }
  void apply(UdpChanges::Change change) { frontends_.apply(udp_changes({std::move(change)})); }
  void all_visited() { frontends_.visited(frontends_.revision()); }
  bool is_stale(std::string_view dialled, std::string_view answering) const {
    return frontends_.is_stale(flow(kClient, dialled, answering));
  }

  UdpFrontends frontends_;
};

// --- a frontend ---

TEST_F(UdpFrontendsTest, LeavesFlowsToAnEndpointThatServes) {
  apply(change(kWeb, {}, {kA, kB}));
  EXPECT_FALSE(is_stale(kWeb, kA));
  EXPECT_FALSE(is_stale(kWeb, kB));
}

TEST_F(UdpFrontendsTest, CallsFlowsToAnyOtherEndpointStale) {
  apply(change(kWeb, {}, {kA}));
  EXPECT_TRUE(is_stale(kWeb, kB));
  EXPECT_TRUE(is_stale(kWeb, "10.180.0.2:5354"));
}

TEST_F(UdpFrontendsTest, CallsFlowsOlderThanTheFrontendStale) {
  apply(change(kWeb, {}, {kA}));
  EXPECT_TRUE(is_stale(kWeb, kWeb));
}

TEST_F(UdpFrontendsTest, CallsAllFlowsToAFrontendWithoutEndpointsStale) {
  apply(change(kWeb, {kA}, {}));
  EXPECT_TRUE(is_stale(kWeb, kA));
  EXPECT_TRUE(is_stale(kWeb, kWeb));
}

TEST_F(UdpFrontendsTest, LeavesFlowsToOtherPortsAndAddressesAlone) {
  apply(change(kWeb, {}, {kA}));
  EXPECT_FALSE(is_stale("172.30.0.10:54", kB));
  EXPECT_FALSE(is_stale("172.30.0.11:53", kB));
  EXPECT_FALSE(is_stale("10.180.0.9:53", "10.180.0.9:53"));
}

TEST_F(UdpFrontendsTest, IgnoresTcpAndSctpFrontends) {
  UdpChanges::Change tcp = change(kWeb, {}, {kA});
  tcp.frontend.protocol = Protocol::Tcp;
  UdpChanges::Change sctp = tcp;
  sctp.frontend.protocol = Protocol::Sctp;
  EXPECT_FALSE(needs_visit_after(udp_changes({tcp, sctp})));
  EXPECT_FALSE(is_stale(kWeb, kB));
}

// --- node ports ---

TEST_F(UdpFrontendsTest, JudgesNodePortsAtTheAddressesThatAnswer) {
  frontends_.apply(node_port_ips({"192.168.0.1", "192.168.0.2"}));
  apply(change("30053", {}, {kA}));
  EXPECT_FALSE(is_stale("192.168.0.1:30053", kA));
  EXPECT_TRUE(is_stale("192.168.0.1:30053", kB));
  EXPECT_TRUE(is_stale("192.168.0.2:30053", "192.168.0.2:30053"));
}

TEST_F(UdpFrontendsTest, LeavesFlowsWithANodePortsNumberToOtherAddressesAlone) {
  frontends_.apply(node_port_ips({"192.168.0.1"}));
  apply(change("30053", {}, {kA}));
  EXPECT_FALSE(is_stale("192.168.0.7:30053", "192.168.0.7:30053"));
  EXPECT_FALSE(is_stale("198.51.100.7:30053", kB));
  EXPECT_FALSE(is_stale("127.0.0.1:30053", "127.0.0.1:30053"));
}

TEST_F(UdpFrontendsTest, LetsAnAddressAndPortOfItsOwnGoBeforeANodePort) {
  frontends_.apply(node_port_ips({"192.168.0.1"}));
  apply(change("30053", {}, {kA}));
  apply(change("192.168.0.1:30053", {}, {kB}));
  EXPECT_FALSE(is_stale("192.168.0.1:30053", kB));
  EXPECT_TRUE(is_stale("192.168.0.1:30053", kA));
}

TEST_F(UdpFrontendsTest, CallsAnotherServicesFlowWithTheNumberOfANodePortHealthy) {
  frontends_.apply(node_port_ips({"192.168.0.1"}));
  apply(change("30053", {kA}, {}));
  apply(change("172.30.0.10:30053", {}, {kB}));
  EXPECT_FALSE(is_stale("172.30.0.10:30053", kB));
}

TEST_F(UdpFrontendsTest, FindsFlowsWeLedFromAnAddressThatAnswersNoMore) {
  frontends_.apply(node_port_ips({"192.168.0.1", "192.168.0.2"}));
  apply(change("30053", {}, {kA}));
  frontends_.apply(node_port_ips({"192.168.0.1"}));
  EXPECT_TRUE(is_stale("192.168.0.2:30053", kA));
  EXPECT_FALSE(is_stale("192.168.0.2:30053", "192.168.0.2:30053"));
  EXPECT_FALSE(is_stale("192.168.0.1:30053", kA));
  all_visited();
  EXPECT_FALSE(is_stale("192.168.0.2:30053", kA));
}

TEST_F(UdpFrontendsTest, FindsFlowsOfANodePortThatIsGone) {
  frontends_.apply(node_port_ips({"192.168.0.1"}));
  apply(change("30053", {}, {kA}));
  apply(gone("30053", {kA}));
  EXPECT_TRUE(is_stale("192.168.0.1:30053", kA));
  EXPECT_FALSE(is_stale("192.168.0.1:30053", "192.168.0.1:30053"));
  EXPECT_FALSE(is_stale("198.51.100.7:30053", kA));
}

// --- what is gone ---

TEST_F(UdpFrontendsTest, CallsFlowsToAGoneFrontendStaleOnlyWhereWeLedThem) {
  apply(change(kWeb, {}, {kA}));
  apply(gone(kWeb, {kA}));
  EXPECT_TRUE(is_stale(kWeb, kA));
  EXPECT_FALSE(is_stale(kWeb, kB));
  EXPECT_FALSE(is_stale(kWeb, kWeb));
}

TEST_F(UdpFrontendsTest, KnowsAFrontendThatWentBeforeWeCame) {
  EXPECT_TRUE(needs_visit_after(gone(kWeb, {kA})));
  EXPECT_TRUE(is_stale(kWeb, kA));
}

TEST_F(UdpFrontendsTest, ForgetsWhatIsGoneOnceItWasVisited) {
  apply(change(kWeb, {}, {kA}));
  apply(gone(kWeb, {kA}));
  all_visited();
  EXPECT_FALSE(is_stale(kWeb, kA));
  EXPECT_EQ(frontends_.former_count(), 0U);
}

TEST_F(UdpFrontendsTest, RemembersWhatWentAfterAVisitHadBegun) {
  apply(change(kWeb, {}, {kA}));
  const std::uint64_t begun = frontends_.revision();
  apply(gone(kWeb, {kA}));
  frontends_.visited(begun);
  EXPECT_TRUE(frontends_.needs_visit());
  EXPECT_TRUE(is_stale(kWeb, kA));
}

TEST_F(UdpFrontendsTest, RemembersWhoServedThoughNewFlowsWentElsewhere) {
  apply(change(kWeb, {}, {kA, kB}));
  all_visited();
  apply(gone(kWeb, {kA}));  // where the rules led new flows
  EXPECT_TRUE(is_stale(kWeb, kB));
  EXPECT_TRUE(frontends_.needs_visit());
}

TEST_F(UdpFrontendsTest, TakesAFrontendThatReturnsForOneAgain) {
  apply(change(kWeb, {}, {kA}));
  apply(gone(kWeb, {kA}));
  apply(change(kWeb, {}, {kA}));
  EXPECT_FALSE(is_stale(kWeb, kA));
  EXPECT_TRUE(is_stale(kWeb, kWeb));
}

TEST_F(UdpFrontendsTest, RemembersAllEndpointsOfAFrontendThatChangedBeforeItWent) {
  apply(change(kWeb, {}, {kA, kB}));
  apply(change(kWeb, {kA, kB}, {kB, kC}));
  apply(gone(kWeb, {kB, kC}));
  EXPECT_TRUE(is_stale(kWeb, kA));
  EXPECT_TRUE(is_stale(kWeb, kB));
  EXPECT_TRUE(is_stale(kWeb, kC));
}

TEST_F(UdpFrontendsTest, RemembersNoMoreThanItsLimit) {
  UdpChanges::Change vast = gone(kWeb, {});
  vast.before.resize(UdpFrontends::kMostFormer + 10);
  for (std::size_t i = 0; i < vast.before.size(); ++i) {
    vast.before[i].ip.bytes[1] = static_cast<std::uint8_t>(i >> 16);
    vast.before[i].port = static_cast<std::uint16_t>(i);
  }
  apply(vast);
  EXPECT_EQ(frontends_.former_count(), UdpFrontends::kMostFormer);
  all_visited();
  EXPECT_EQ(frontends_.former_count(), 0U);
}

TEST_F(UdpFrontendsTest, TakesWhatACompleteChangeDoesNotNameForGone) {
  apply(change(kWeb, {}, {kA}));
  apply(change("172.30.0.11:53", {}, {kB}));
  UdpChanges resync = udp_changes({change("172.30.0.11:53", {}, {kB})});
  resync.complete = true;
  frontends_.apply(resync);
  EXPECT_TRUE(is_stale(kWeb, kA));
  EXPECT_FALSE(is_stale(kWeb, kWeb));
  EXPECT_FALSE(is_stale("172.30.0.11:53", kB));
  EXPECT_TRUE(is_stale("172.30.0.11:53", kA));
}

// --- when a visit is due ---

TEST_F(UdpFrontendsTest, NeedsAVisitForACompleteChangeEvenIfItSaysNothingNew) {
  apply(change(kWeb, {}, {kA}));
  UdpChanges resync = udp_changes({change(kWeb, {}, {kA})});
  resync.complete = true;
  EXPECT_TRUE(needs_visit_after(resync));
  resync.frontends.clear();
  EXPECT_TRUE(needs_visit_after(resync));
  EXPECT_FALSE(needs_visit_after(resync));
}

TEST_F(UdpFrontendsTest, NeedsNoVisitForNothing) {
  EXPECT_FALSE(frontends_.needs_visit());
  EXPECT_FALSE(needs_visit_after(udp_changes({})));
}

TEST_F(UdpFrontendsTest, NeedsAVisitForANewFrontend) {
  EXPECT_TRUE(needs_visit_after(change(kWeb, {}, {kA})));
  EXPECT_TRUE(needs_visit_after(change("172.30.0.11:53", {}, {})));
}

TEST_F(UdpFrontendsTest, NeedsAVisitForAFrontendThatWasThereBeforeWeCame) {
  EXPECT_TRUE(needs_visit_after(change(kWeb, {kA}, {kA})));
}

TEST_F(UdpFrontendsTest, NeedsAVisitWhenAnEndpointNoLongerServes) {
  apply(change(kWeb, {}, {kA, kB}));
  EXPECT_TRUE(needs_visit_after(change(kWeb, {kA, kB}, {kB})));
  EXPECT_TRUE(needs_visit_after(change(kWeb, {kB}, {kC})));
  EXPECT_TRUE(needs_visit_after(change(kWeb, {kC}, {})));
}

TEST_F(UdpFrontendsTest, NeedsAVisitForAFirstEndpoint) {
  apply(change(kWeb, {}, {}));
  EXPECT_TRUE(needs_visit_after(change(kWeb, {}, {kA})));
}

TEST_F(UdpFrontendsTest, NeedsNoVisitForMoreEndpoints) {
  apply(change(kWeb, {}, {kA}));
  EXPECT_FALSE(needs_visit_after(change(kWeb, {kA}, {kA, kB})));
  EXPECT_FALSE(is_stale(kWeb, kB));
}

TEST_F(UdpFrontendsTest, NeedsAVisitForAFrontendThatGoesIfItHadEndpoints) {
  apply(change(kWeb, {}, {kA}));
  EXPECT_TRUE(needs_visit_after(gone(kWeb, {kA})));
  apply(change(kWeb, {}, {}));
  EXPECT_FALSE(needs_visit_after(gone(kWeb, {})));
}

TEST_F(UdpFrontendsTest, NeedsAVisitForNodePortAddressesIfThereAreNodePorts) {
  apply(change(kWeb, {}, {kA}));
  EXPECT_FALSE(needs_visit_after(node_port_ips({"192.168.0.1"})));
  apply(change("30053", {}, {kA}));
  EXPECT_TRUE(needs_visit_after(node_port_ips({"192.168.0.1", "192.168.0.2"})));
  EXPECT_FALSE(needs_visit_after(node_port_ips({"192.168.0.1", "192.168.0.2"})));
  EXPECT_TRUE(needs_visit_after(node_port_ips({})));
}

}  // namespace
}  // namespace mkp
