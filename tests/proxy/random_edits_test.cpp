#include <gtest/gtest.h>

#include <random>

#include "proxy/node_rules.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/proxy/live_text.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {
namespace {

constexpr int kNames = 12;
constexpr int kAddresses = 9;  // fewer than names, so that Services contend for them

// A small cluster under random edits, some of which the kernel fails to take.
class RandomCluster {
 public:
  RandomCluster() {
    start();
    EXPECT_TRUE(rules_->proxier().sync({}));
  }

  void start() { rules_ = std::make_unique<NodeRules>(kernel_, config_, families_, clock_); }

  void edit() {
    const std::string name = "s" + std::to_string(number(kNames));
    switch (number(7)) {
      case 0:
        cluster_.delete_service(name);
        return;
      case 1: {
        const std::string host = std::to_string(1 + number(kAddresses));
        cluster_.put_service(name, {.cluster_ips = {"172.30.0." + host, "fd00:30::" + host},
                                    .created = number(3),
                                    .port = static_cast<std::uint16_t>(80 + number(2))});
        return;
      }
      case 2:
        cluster_.delete_slice(name + (number(2) == 0 ? "-4" : "-6"));
        return;
      case 3:
        cluster_.put_slice(name, addresses("fd00:180::"), AddressType::Ipv6);
        return;
      default:
        cluster_.put_slice(name, addresses("10.180.0."));
    }
  }

  // The sync of what was edited; now and then the kernel or another program gets in its way.
  Result<SyncReport> sync() {
    if (number(8) == 0) kernel_.fail_next_commit({Errc::Unavailable, "no memory"});
    if (number(16) == 0)
      kernel_.edit(IpFamily::Ipv4, kTable).find_set(kAddressSets.verdicts)->elements.clear();
    ClusterChanges changes = number(32) == 0 ? start_over() : cluster_.take();
    Result<SyncReport> report = rules_->proxier().sync(std::move(changes));
    if (report && number(4) == 0) (void)rules_->proxier().cleanup();  // may be overtaken as well
    return report;
  }
  // What was taken for a sync that failed must not be lost: the Proxier keeps it. The change of a
  // Service of both families makes both look at the kernel, where somebody else may have been.
  void settle() {
    settled_ = !settled_;
    cluster_.put_service("settler", {.cluster_ips = {"172.30.0.250", "fd00:30::fa"},
                                     .port = static_cast<std::uint16_t>(settled_ ? 80 : 81)});
    kernel_.fail_next_commit({Errc::Unavailable, "no memory"});
    EXPECT_FALSE(rules_->proxier().sync(cluster_.take()));
    const Result<SyncReport> report = rules_->proxier().sync({});
    EXPECT_TRUE(report) << report.error().what;
  }

  std::string live() { return live_of(kernel_); }
  std::string fresh_start() {
    nft::FakeNftables other;
    NodeRules rules(other, config_, families_, clock_);
    EXPECT_TRUE(rules.proxier().sync(cluster_.all()));
    return live_of(other);
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  std::vector<std::string> addresses(const std::string& network) {
    std::vector<std::string> list;
    const int count = number(11);
    list.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) list.push_back(network + std::to_string(1 + number(30)));
    return list;
  }
  // A new process hears of everything.
  ClusterChanges start_over() {
    start();
    (void)cluster_.take();
    return cluster_.all();
  }
  std::string live_of(nft::FakeNftables& kernel) {
    std::string text;
    for (const IpFamily family : families_) {
      text += live_text(kernel.dump(family, kTable).value(), live_settings(config_, {}, family));
    }
    return text;
  }

  std::mt19937 random_{11};  // a fixed seed: the same edits each time
  Config config_;
  const std::vector<IpFamily> families_{IpFamily::Ipv4, IpFamily::Ipv6};
  FakeClock clock_;
  nft::FakeNftables kernel_;
  SmallCluster cluster_;
  std::unique_ptr<NodeRules> rules_;
  bool settled_ = false;
};

TEST(RandomEditsTest, WhateverHappensTheRulesEndAsAFreshStartWouldMakeThem) {
  RandomCluster cluster;
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 5; ++i) {
      cluster.edit();
      (void)cluster.sync();
    }
    cluster.settle();
    ASSERT_EQ(cluster.live(), cluster.fresh_start()) << "round " << round;
  }
}

}  // namespace
}  // namespace mkp
