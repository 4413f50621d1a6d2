// The built program against a real API server and etcd: see tests/cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/cluster/control_plane.h"
#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/program_run.h"

namespace mkp {
namespace {

using cluster::ControlPlane;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kServices = 1000;
constexpr int kPatches = 300;
constexpr std::chrono::milliseconds kGoal{10};

using Times = std::vector<std::chrono::microseconds>;

void print(Times times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return static_cast<double>(
               times[static_cast<std::size_t>(share * 0.999 * static_cast<double>(times.size()))]
                   .count()) /
           1000.0;
  };
  std::cout << "PATCH to commit, ms: p10 " << at(0.1) << ", p50 " << at(0.5) << ", p90 " << at(0.9)
            << ", p99 " << at(0.99) << ", max " << at(1) << "\n";
}

class ApiServerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<std::unique_ptr<ControlPlane>> started = ControlPlane::start();
    ASSERT_TRUE(started) << started.error().what;
    cluster_ = std::move(*started);
    const auto attached = cluster_->attach();
    ASSERT_TRUE(attached) << attached.error().what;
    const Result<> seeded = cluster_->seed(kServices, 2);
    ASSERT_TRUE(seeded) << seeded.error().what;
    std::ofstream(config()) << "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                               "kind: KubeProxyConfiguration\n"
                               "clusterCIDR: 10.180.0.0/16\n"
                               "hostnameOverride: worker-1\n"
                               "nftables: {minSyncPeriod: 0s}\n"
                               "clientConnection: {kubeconfig: "
                            << cluster_->proxy_kubeconfig() << "}\n";
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  static std::string events() {
    return cluster_->admin().get("/apis/events.k8s.io/v1/namespaces/default/events").value_or("");
  }
  static std::ptrdiff_t starts(const std::string& events) {
    static const std::regex kReason(R"("reason":\s*"Starting")");
    return std::distance(std::sregex_iterator(events.begin(), events.end(), kReason), {});
  }
  static std::string config() { return cluster_->file("mini-kube-proxy.yaml"); }
  static std::string slice_path(int service) {
    return "/apis/discovery.k8s.io/v1/namespaces/team-" + std::to_string(service % 20) +
           "/endpointslices/svc-" + std::to_string(service) + "-x";
  }
  static std::string one_endpoint(const std::string& address) {
    return R"({"endpoints":[{"addresses":[")" + address + R"("],"conditions":{"ready":true}}]})";
  }

  static inline std::unique_ptr<ControlPlane> cluster_;
  KernelView kernel_;
};

TEST_F(ApiServerTest, ObjectsThatAreMadeChangedAndDeletedThroughTheApiAppearInTheKernel) {
  kernel_.remove_tables();
  ProgramRun daemon({"--config", config()});
  ASSERT_TRUE(daemon.says("the rules of this node are in place")) << daemon.standard_error();
  cluster::AdminClient& admin = cluster_->admin();
  const auto shows = [this](const std::string& text) {
    return eventually([&] { return kernel_.live(config()).find(text) != std::string::npos; });
  };
  ASSERT_TRUE(admin.apply(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"made",
      "namespace":"default"},"spec":{"clusterIP":"10.97.1.1","ports":[{"port":80}]}})"));
  ASSERT_TRUE(admin.apply(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",
      "metadata":{"name":"made-1","namespace":"default",
      "labels":{"kubernetes.io/service-name":"made"}},"addressType":"IPv4",
      "ports":[{"port":8080,"name":"","protocol":"TCP"}],
      "endpoints":[{"addresses":["10.180.7.7"],"conditions":{"ready":true}}]})"));
  EXPECT_TRUE(shows("10.180.7.7")) << kernel_.live(config()).substr(0, 2000);

  ASSERT_TRUE(admin.patch("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/made-1",
                          one_endpoint("10.180.7.8")));
  EXPECT_TRUE(shows("10.180.7.8"));
  EXPECT_THAT(kernel_.live(config()), Not(HasSubstr("10.180.7.7")));

  ASSERT_TRUE(admin.remove("/api/v1/namespaces/default/services/made"));
  EXPECT_TRUE(
      eventually([&] { return kernel_.live(config()).find("10.97.1.1") == std::string::npos; }));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(ApiServerTest, TellsTheNodeThatItStartsAndCountsTheBytesOfThat) {
  const std::ptrdiff_t before = starts(events());
  ProgramRun daemon({"--config", config()});
  EXPECT_TRUE(eventually([&] { return starts(events()) > before; })) << events();
  const auto metrics = [] {
    return packets::run_program({"curl", "--silent", "http://127.0.0.1:10249/metrics"})
        .value_or("");
  };
  EXPECT_TRUE(eventually([&] {
    const std::string page = metrics();
    return page.find(
               "rest_client_request_size_bytes_count{host=\"10.20.255.1:6443\","
               "verb=\"POST\"} 1\n") != std::string::npos &&
           page.find(
               "rest_client_response_size_bytes_count{host=\"10.20.255.1:6443\","
               "verb=\"POST\"} 1\n") != std::string::npos;
  })) << metrics();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(ApiServerTest, TellsTheNodeWhichServerCannotListenBeforeItEnds) {
  const std::map<std::string, std::string> servers = {
      {"healthzBindAddress", "FailedToStartProxierHealthcheck"},
      {"metricsBindAddress", "FailedToStartMetricServer"}};
  for (const auto& [field, reason] : servers) {
    const std::string elsewhere = cluster_->file(field + ".yaml");
    std::filesystem::copy_file(config(), elsewhere);
    std::ofstream(elsewhere, std::ios::app) << "bindAddressHardFail: true\n"
                                            << field << ": 192.0.2.1:10250\n";
    ProgramRun daemon({"--config", elsewhere});
    EXPECT_EQ(daemon.wait(), 1);
    EXPECT_THAT(events(), AllOf(HasSubstr(reason), HasSubstr(field + ": listen on 192.0.2.1")));
  }
}

TEST_F(ApiServerTest, APatchIsInTheKernelWithinTenMilliseconds) {
  kernel_.remove_tables();
  ProgramRun daemon({"--config", config()});
  ASSERT_TRUE(daemon.says("the rules of this node are in place")) << daemon.standard_error();
  std::mt19937 random(7);
  Times times;
  for (int i = 0; i < kPatches; ++i) {
    const std::uint32_t before = kernel_.generation();
    const std::string patch =
        one_endpoint("10.180." + std::to_string(i / 200) + "." + std::to_string(1 + i % 200));
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(cluster_->admin().patch(slice_path(static_cast<int>(random() % kServices)), patch));
    ASSERT_TRUE(eventually([&] { return kernel_.generation() != before; }));
    times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - start));
  }
  print(times);
  std::nth_element(times.begin(), times.begin() + kPatches / 2, times.end());
  EXPECT_LT(times[kPatches / 2], kGoal);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

}  // namespace
}  // namespace mkp
