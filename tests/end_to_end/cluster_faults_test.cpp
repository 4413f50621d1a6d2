// The built program against a real API server that goes away and comes back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/control_plane.h"
#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/program_run.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using cluster::ControlPlane;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr int kServices = 200;
constexpr int kRounds = 2;  // of each fault
constexpr milliseconds kGoal = 3s;

class ClusterFaultsTest : public testing::Test {
 protected:
  ClusterFaultsTest() {
    Result<std::unique_ptr<ControlPlane>> started = ControlPlane::start();
    EXPECT_TRUE(started) << started.error().what;
    cluster_ = std::move(*started);
    const auto attached = cluster_->attach();
    EXPECT_TRUE(attached) << attached.error().what;
    link_ = *attached;
    seed(2);
    config_ = cluster_->file("mini-kube-proxy.yaml");
    std::ofstream(config_) << "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                              "kind: KubeProxyConfiguration\n"
                              "clusterCIDR: 10.180.0.0/16\n"
                              "hostnameOverride: worker-1\n"
                              "nftables: {minSyncPeriod: 0s}\n"
                              "clientConnection: {kubeconfig: "
                           << cluster_->proxy_kubeconfig() << "}\n";
  }

  // Straight into etcd, so also while the server is away.
  void seed(int endpoints) {
    const Result<> seeded = cluster_->seed(kServices, endpoints);
    EXPECT_TRUE(seeded) << seeded.error().what;
  }
  void patch(const std::string& path, const std::string& text) {
    const Result<> patched = cluster_->admin().patch(path, text);
    EXPECT_TRUE(patched) << patched.error().what;
  }
  static std::string slice_path(int service) {
    return fmt::format("/apis/discovery.k8s.io/v1/namespaces/team-{}/endpointslices/svc-{}-x",
                       service % 20, service);
  }
  static std::string endpoints(const std::vector<std::string>& addresses) {
    std::string all;
    for (const std::string& address : addresses) {
      all += fmt::format(R"({}{{"addresses":["{}"],"conditions":{{"ready":true}}}})",
                         all.empty() ? "" : ",", address);
    }
    return R"({"endpoints":[)" + all + "]}";
  }

  // One of the Services gets other endpoints, or another port, or none of the former any more.
  void change_something() {
    const int service = 1 + static_cast<int>(random_() % (kServices - 1));
    if (random_() % 4 == 0) {
      patch(fmt::format("/api/v1/namespaces/team-{0}/services/svc-{1}", service % 20, service),
            fmt::format(R"({{"spec":{{"ports":[{{"name":"http","port":{},"protocol":"TCP"}}]}}}})",
                        80 + random_() % 3));
      return;
    }
    std::vector<std::string> addresses;
    for (std::size_t i = random_() % 5; i > 0; --i) addresses.push_back(new_address());
    patch(slice_path(service), endpoints(addresses));
  }
  std::string new_address() {
    ++addresses_;
    return fmt::format("10.180.{}.{}", 100 + addresses_ / 200, 1 + addresses_ % 200);
  }
  // The first Service leads to where it never did.
  std::string mark() {
    std::string address = new_address();
    patch(slice_path(0), endpoints({address}));
    return address;
  }

  static std::string metrics() {
    return packets::run_program({"curl", "--silent", "http://127.0.0.1:10249/metrics"})
        .value_or("");
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++found;
    }
    return found;
  }
  std::string live() { return kernel_.live(config_); }
  bool shows(const std::string& address) {
    return live().find(address + ":8080") != std::string::npos;
  }
  // A program that has just listed everything finds nothing to change.
  bool kernel_equals_server() {
    ProgramRun fresh({"--config", config_, "--dry-run", "--once"});
    return fresh.wait() == 0;
  }

  // The server ends by SIGKILL; with `away` done, it starts again. Yields the time from when it
  // says that it is ready until what is changed then is in the kernel.
  // `changes`: whether what is done while it is away gives the kernel something to do.
  milliseconds restart(bool changes, const std::function<void()>& away) {
    EXPECT_TRUE(cluster_->stop_api_server());
    const std::uint32_t before = kernel_.generation();
    away();
    EXPECT_EQ(kernel_.generation(), before);
    const Result<> started = cluster_->start_api_server();
    EXPECT_TRUE(started) << started.error().what;
    EXPECT_TRUE(changes || kernel_.generation() == before);  // nobody touched a rule
    return until_shown(mark());
  }
  // From one event to the next nothing arrives any more; api_faults_test cuts events in two. Yields
  // the time from when the way is mended until what was changed meanwhile is in the kernel.
  milliseconds cut_network() {
    for (int i = 0; i < 10; ++i) change_something();
    EXPECT_TRUE(cluster_->cut(link_));
    for (int i = 0; i < 10; ++i) change_something();
    const std::string marker = mark();
    std::this_thread::sleep_for(1s);  // what was on its way when the network was cut
    const std::uint32_t before = kernel_.generation();
    std::this_thread::sleep_for(5s);  // longer than it takes to notice a silent peer
    EXPECT_EQ(kernel_.generation(), before);
    EXPECT_TRUE(cluster_->mend(link_));
    return until_shown(marker);
  }
  milliseconds until_shown(const std::string& marker) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually([&] { return shows(marker); }, 20s));
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  }

  std::unique_ptr<ControlPlane> cluster_;
  cluster::Attachment link_;
  std::string config_;
  KernelView kernel_;
  std::mt19937 random_{3};  // a fixed seed: the same changes each time
  int addresses_ = 0;
};

TEST_F(ClusterFaultsTest, TheFeedIsBackWithinThreeSecondsAndNothingIsMissed) {
  ProgramRun daemon({"--config", config_});
  ASSERT_TRUE(daemon.says("the rules of this node are in place")) << daemon.standard_error();
  struct Fault {
    const char* name;
    std::function<milliseconds()> act;
  };
  int endpoints = 2;
  std::vector<Fault> faults;
  for (int round = 0; round < kRounds; ++round) {
    faults.push_back({"killed", [this] { return restart(false, [] {}); }});
    faults.push_back({"killed, other objects, compacted", [&] {
                        return restart(true, [&] {
                          seed(endpoints = 5 - endpoints);
                          EXPECT_TRUE(cluster_->compact());
                        });
                      }});
    faults.push_back({"token rotated", [this] {
                        return restart(false,
                                       [this] { EXPECT_TRUE(cluster_->rotate_proxy_token()); });
                      }});
    faults.push_back({"certificate rotated", [this] {
                        return restart(
                            false, [this] { EXPECT_TRUE(cluster_->rotate_serving_certificate()); });
                      }});
    faults.push_back({"network cut", [this] { return cut_network(); }});
  }
  std::shuffle(faults.begin(), faults.end(), random_);
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    for (int i = 0; i < 5; ++i) change_something();
    EXPECT_TRUE(eventually([&] { return kernel_equals_server(); }));
    const milliseconds took = fault.act();
    std::cout << fault.name << ": back after " << took.count() << " ms\n";
    EXPECT_LT(took, kGoal);
    EXPECT_TRUE(eventually([&] { return kernel_equals_server(); }, 5s));
    if (HasFailure()) break;
  }
  EXPECT_THAT(metrics(), HasSubstr("\nmini_kube_proxy_relists_total{resource=\"services\"} "));
  // An outage is one line, however many watches it ends.
  EXPECT_LE(count(daemon.standard_error(), "the API server is out of reach"), faults.size());
  EXPECT_GE(count(daemon.standard_error(), "the API server answers again"),
            faults.size() - kRounds);  // a cut may be noticed only when it is over
  if (HasFailure()) std::cout << daemon.standard_error();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

}  // namespace
}  // namespace mkp
