#include "proxy/cluster_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "informer/manifest_source.h"
#include "proxy/sync_thread.h"
#include "tests/fakes/fake_clock.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// Answers no list and no watch.
class RefusingSource final : public ObjectSource {
 public:
  explicit RefusingSource(Errc code) : code_(code) {}
  asio::awaitable<Result<Listing>> list(ListQuery) override {
    co_return fail(code_, "not for you");
  }
  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery) override {
    co_return fail(code_, "not for you");
  }

 private:
  Errc code_;
};

// A directory of manifests, behind the feed that the daemon has of it.
class ClusterFeedTest : public testing::Test {
 protected:
  ClusterFeedTest() {
    std::string path = (std::filesystem::temp_directory_path() / "mkp-feed-XXXXXX").string();
    directory_ = ::mkdtemp(path.data());
    write("all.yaml",
          "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
          "spec: {clusterIP: 172.30.0.10, ports: [{port: 80}]}\n---\n"
          "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nspec: {podCIDRs: "
          "[10.180.7.0/24]}\n---\n"
          "apiVersion: v1\nkind: Node\nmetadata: {name: node-b}\nspec: {podCIDRs: "
          "[10.180.8.0/24]}\n---\n"
          "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: kubernetes}\n"
          "spec: {cidrs: [172.30.0.0/16]}\n---\n"
          "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
          "metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}\n"
          "addressType: IPv4\nports: [{port: 8080}]\nendpoints: [{addresses: [10.180.7.2]}]\n");
  }
  ~ClusterFeedTest() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }
  void start() {
    source_ = std::make_unique<ManifestSource>(directory_.string());
    ASSERT_TRUE(source_->read_now());
    const auto sources = [this](ObjectKind kind) -> ObjectSource& {
      const bool refused = refusing_ && kind == ObjectKind::ServiceCidr;
      return refused ? *refusing_ : source_->source(kind);
    };
    feed_ = std::make_unique<ClusterFeed>(sources, clock_, "node-a", std::nullopt);
    asio::co_spawn(loop_, feed_->run(), asio::detached);
    loop_.poll();
  }
  void pass(Duration time) {
    clock_.advance(time);
    loop_.restart();
    loop_.poll();
  }
  // Whether the trackers know enough for rules, from the call on.
  std::shared_ptr<bool> synced() {
    auto synced = std::make_shared<bool>(false);
    asio::co_spawn(loop_, feed_->wait_for_sync(),
                   [synced](const std::exception_ptr&) { *synced = true; });
    pass(0ms);
    return synced;
  }

  std::filesystem::path directory_;
  FakeClock clock_;
  std::unique_ptr<ManifestSource> source_;
  std::unique_ptr<RefusingSource> refusing_;  // in place of the ServiceCIDRs, if it is there
  std::unique_ptr<ClusterFeed> feed_;
  asio::io_context loop_;  // last: dies first
};

TEST_F(ClusterFeedTest, TellsOfEveryServiceAndSliceAndOfItsOwnNodeAlone) {
  start();
  EXPECT_FALSE(feed_->has_pending());
  ASSERT_TRUE(feed_->has_changes());
  const ClusterChanges changes = feed_->take();
  ASSERT_EQ(changes.services.size(), 1U);
  EXPECT_EQ(to_text(changes.services[0].name), "default/web");
  ASSERT_EQ(changes.slices.size(), 1U);
  EXPECT_EQ(changes.slices[0].current->service_name, "web");
  ASSERT_NE(changes.node, nullptr);
  EXPECT_EQ(changes.node->node.name, "node-a");
  EXPECT_EQ(changes.node->node.pod_cidrs, std::vector{prefix("10.180.7.0/24")});
  EXPECT_EQ(changes.node->service_cidrs, std::vector{prefix("172.30.0.0/16")});
}

TEST_F(ClusterFeedTest, WhatWasTakenIsNotToldAgain) {
  start();
  (void)feed_->take();
  EXPECT_FALSE(feed_->has_changes());
  EXPECT_TRUE(feed_->take().empty());
}

TEST_F(ClusterFeedTest, TellsOfTheNodesAddressesWhenTheyChange) {
  start();
  (void)feed_->take();
  feed_->note_addresses({ip("192.168.0.2")});
  const ClusterChanges changes = feed_->take();
  ASSERT_NE(changes.node, nullptr);
  EXPECT_EQ(changes.node->addresses, std::vector{ip("192.168.0.2")});
  feed_->note_addresses({ip("192.168.0.2")});
  EXPECT_FALSE(feed_->has_changes());
}

// A server that starts says so to everybody, for a moment.
TEST_F(ClusterFeedTest, WaitsForFiveSecondsForWhatIsForbidden) {
  refusing_ = std::make_unique<RefusingSource>(Errc::Denied);
  start();
  const auto done = synced();
  EXPECT_FALSE(*done);
  pass(4999ms);
  EXPECT_FALSE(*done);
  pass(1ms);
  EXPECT_TRUE(*done);
}

TEST_F(ClusterFeedTest, DoesNotWaitForWhatTheServerDoesNotKnow) {
  refusing_ = std::make_unique<RefusingSource>(Errc::NotFound);
  start();
  EXPECT_TRUE(*synced());
}

TEST(SyncThreadTest, AJobRunsOnAnotherThreadAndItsAnswerComesBackToTheLoop) {
  asio::io_context loop;
  SyncThread thread;
  std::thread::id worked_on;
  std::thread::id answered_on;
  const auto ask = [&]() -> asio::awaitable<void> {
    const auto job = [&] {
      worked_on = std::this_thread::get_id();
      return 42;
    };
    const int answer = co_await thread.run(job);
    EXPECT_EQ(answer, 42);
    answered_on = std::this_thread::get_id();
  };
  asio::co_spawn(loop, ask(), asio::detached);
  loop.run();
  EXPECT_NE(worked_on, std::this_thread::get_id());
  EXPECT_EQ(answered_on, std::this_thread::get_id());
}

}  // namespace
}  // namespace mkp
