#include "proxy/proxier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "proxy/node_rules.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/proxy/live_text.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {
namespace {

using testing::HasSubstr;

class ProxierTest : public testing::Test {
 protected:
  ProxierTest() { start(); }

  // A new process over whatever the kernel has.
  void start() {
    rules_ = std::make_unique<NodeRules>(kernel_, config_,
                                         std::vector{IpFamily::Ipv4, IpFamily::Ipv6}, clock_);
  }
  Result<SyncReport> sync() { return rules_->proxier().sync(cluster_.take()); }
  Result<SyncReport> sync_from_scratch() {
    start();
    return rules_->proxier().sync(cluster_.all());
  }
  std::string live(IpFamily family = IpFamily::Ipv4) {
    return live_text(kernel_.dump(family, kTable).value(), live_settings(config_, {}, family));
  }
  nft::FakeNftables::Table& table() { return kernel_.edit(IpFamily::Ipv4, kTable); }

  Config config_;
  FakeClock clock_;
  nft::FakeNftables kernel_;
  SmallCluster cluster_;
  std::unique_ptr<NodeRules> rules_;
};

constexpr std::string_view kWebLive =
    "172.30.0.10:80/TCP (default/web:http) -> 10.180.0.2:8080 10.180.0.3:8080\n"
    "cluster IP 172.30.0.10\n";

class WebProxierTest : public ProxierTest {
 protected:
  WebProxierTest() {
    cluster_.put_service("web", {.cluster_ips = {"172.30.0.10"}});
    cluster_.put_slice("web", {"10.180.0.2", "10.180.0.3"});
    EXPECT_TRUE(sync());
    kernel_.reset_counters();
  }
};

TEST_F(WebProxierTest, AFirstSyncMakesTheTablesOfBothFamilies) {
  EXPECT_EQ(live(), kWebLive);
  EXPECT_EQ(live(IpFamily::Ipv6), "");
}

TEST_F(WebProxierTest, OneEndpointReplacedIsOneTransactionOfTwoOperationsInItsFamily) {
  cluster_.put_slice("web", {"10.180.0.2", "10.180.0.9"});
  const Result<SyncReport> report = sync();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->size.added, 1U);
  EXPECT_EQ(report->size.removed, 1U);
  EXPECT_EQ(kernel_.counters().commits, 1U);
  EXPECT_EQ(kernel_.counters().operations, 2U);
  EXPECT_EQ(kernel_.counters().dumps, 0U);
}

TEST_F(WebProxierTest, ASyncWithoutChangesAsksTheKernelNothing) {
  EXPECT_TRUE(sync());
  EXPECT_EQ(kernel_.counters().commits, 0U);
  EXPECT_EQ(kernel_.counters().dumps, 0U);
}

TEST_F(WebProxierTest, ARestartOverTheSameStateSendsNothing) {
  const Result<SyncReport> report = sync_from_scratch();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->transactions, 0U);
  EXPECT_EQ(kernel_.counters().commits, 0U);
}

TEST_F(WebProxierTest, ARestartKeepsTheSlotsAndSendsTheDifferenceOnly) {
  cluster_.put_slice("web", {"10.180.0.3", "10.180.0.4"});
  const Result<SyncReport> report = sync_from_scratch();
  ASSERT_TRUE(report);
  EXPECT_EQ(kernel_.counters().operations, 2U);
  EXPECT_THAT(live(), HasSubstr("-> 10.180.0.3:8080 10.180.0.4:8080\n"));
}

TEST_F(WebProxierTest, ARestartRemovesServicesThatWentMeanwhile) {
  cluster_.delete_service("web");
  ASSERT_TRUE(sync_from_scratch());
  EXPECT_EQ(live(), "");
}

TEST_F(WebProxierTest, AFailedTransactionChangesNothingAndTheNextSyncMakesUpForIt) {
  cluster_.put_slice("web", {"10.180.0.2"});
  kernel_.fail_next_commit({Errc::Unavailable, "No buffer space available"});
  const Result<SyncReport> failed = sync();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what,
              HasSubstr("IPv4: commit table ip mini-kube-proxy: No buffer space"));
  EXPECT_EQ(live(), kWebLive);

  ASSERT_TRUE(sync());
  EXPECT_THAT(live(), HasSubstr("-> 10.180.0.2:8080\n"));
}

TEST_F(WebProxierTest, ARefusedOperationIsNamedWithItsService) {
  cluster_.put_slice("web", {"10.180.0.2"});
  kernel_.refuse_next({{0, 0, ENOMEM}});
  const Result<SyncReport> failed = sync();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what,
              HasSubstr("cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : 10.180.0.3"));
  EXPECT_THAT(failed.error().what,
              HasSubstr("for Service default/web:http: Cannot allocate memory"));
  ASSERT_TRUE(sync());
  EXPECT_THAT(live(), HasSubstr("-> 10.180.0.2:8080\n"));
}

TEST_F(WebProxierTest, AFamilyThatFailsDoesNotStopTheOther) {
  kernel_.object([](const nft::Operation& operation) {
    const auto* element = std::get_if<nft::AddElement>(&operation.what);
    return element && element->element.key.size() == 12 ? ENOMEM : 0;  // a frontend of IPv4
  });
  cluster_.put_service("dual", {.cluster_ips = {"172.30.0.11", "fd00:30::b"}});
  EXPECT_FALSE(sync());
  EXPECT_EQ(live(), kWebLive);
  EXPECT_THAT(live(IpFamily::Ipv6), HasSubstr("[fd00:30::b]:80/TCP (default/dual:http) ->"));

  kernel_.object(nullptr);
  EXPECT_TRUE(sync());
  EXPECT_THAT(live(), HasSubstr("172.30.0.11:80/TCP (default/dual:http) ->\n"));
}

TEST_F(WebProxierTest, AFamilyThatFailsFromTheStartTakesNothingFromTheOther) {
  kernel_.object([](const nft::Operation& operation) {
    const auto* set = std::get_if<nft::AddSet>(&operation.what);
    return set && set->set.key.front() == nft::Field::Ipv6Address ? ENOMEM : 0;
  });
  kernel_.edit(IpFamily::Ipv6, kTable).sets.clear();  // must be made again
  start();
  EXPECT_FALSE(rules_->proxier().serves());
  EXPECT_FALSE(rules_->proxier().sync(cluster_.all()));
  EXPECT_TRUE(rules_->proxier().serves());
  EXPECT_EQ(live(), kWebLive);
  cluster_.delete_service("web");
  EXPECT_FALSE(sync());
  EXPECT_TRUE(rules_->proxier().cleanup_due());
}

TEST_F(WebProxierTest, SomebodyElsesChangeIsNoticedByTheNextTransactionAndRepaired) {
  table().find_set(kAddressSets.verdicts)->elements.clear();
  cluster_.put_slice("web", {"10.180.0.2", "10.180.0.3", "10.180.0.4"});
  const Result<SyncReport> report = sync();
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_GE(report->resyncs, 1U);
  EXPECT_THAT(live(), HasSubstr("-> 10.180.0.2:8080 10.180.0.3:8080 10.180.0.4:8080\n"));
}

TEST_F(WebProxierTest, ASurpriseThatOneFamilyMeetsMakesTheOtherLookAsWell) {
  table().find_set(kAddressSets.verdicts)->elements.clear();
  cluster_.put_service("six", {.cluster_ips = {"fd00:30::6"}});
  const Result<SyncReport> report = sync();
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(live(), kWebLive);
}

TEST_F(WebProxierTest, TheOlderOfTwoServicesKeepsAClusterIpAndTheOtherTakesOver) {
  cluster_.put_service("young", {.cluster_ips = {"172.30.0.10"}, .created = 200});
  ASSERT_TRUE(sync());
  EXPECT_EQ(live(), kWebLive);
  cluster_.delete_service("web");
  kernel_.fail_next_commit({Errc::Unavailable, "for once"});
  ASSERT_FALSE(sync());
  ASSERT_TRUE(sync());
  EXPECT_EQ(live(), "172.30.0.10:80/TCP (default/young:http) ->\ncluster IP 172.30.0.10\n");
}

TEST_F(WebProxierTest, AServiceThatGoesWhileInDoubtLeavesNoClaimBehind) {
  cluster_.put_slice("web", {"10.180.0.2"});
  kernel_.refuse_next({{0, 0, ENOMEM}});
  ASSERT_FALSE(sync());
  cluster_.delete_service("web");
  cluster_.delete_slice("web-4");
  ASSERT_TRUE(sync());
  cluster_.put_service("young", {.cluster_ips = {"172.30.0.10"}, .created = 200});
  ASSERT_TRUE(sync());
  EXPECT_EQ(live(), "172.30.0.10:80/TCP (default/young:http) ->\ncluster IP 172.30.0.10\n");
}

TEST_F(WebProxierTest, ASyncWithoutChangesRepairsWhatSomebodyElseDid) {
  table().find_set(kAddressSets.verdicts)->elements.clear();
  ASSERT_TRUE(sync());
  EXPECT_EQ(live(), kWebLive);
}

TEST_F(WebProxierTest, UnusedChainsGoInATransactionOfTheirOwn) {
  cluster_.delete_service("web");
  const Result<SyncReport> report = sync();
  ASSERT_TRUE(report);
  EXPECT_TRUE(rules_->proxier().cleanup_due());
  EXPECT_NE(table().find_chain("cluster-4"), nullptr);

  start();
  ASSERT_TRUE(sync());
  ASSERT_TRUE(rules_->proxier().cleanup());
  EXPECT_EQ(table().find_chain("cluster-4"), nullptr);
}

TEST_F(WebProxierTest, APreviewSaysWhatASyncWouldDoAndDoesIt) {
  cluster_.put_slice("web", {"10.180.0.2", "10.180.0.9"});
  const auto preview = rules_->proxier().preview(cluster_.take());
  ASSERT_TRUE(preview);
  EXPECT_EQ(preview->text,
            "Service default/web:http\n"
            "# ClusterIP 172.30.0.10:80/TCP: endpoints + 10.180.0.9:8080 - 10.180.0.3:8080\n"
            "- element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.3 . 8080 }\n"
            "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.9 . 8080 }\n");
  EXPECT_EQ(kernel_.counters().commits, 0U);
}

}  // namespace
}  // namespace mkp
