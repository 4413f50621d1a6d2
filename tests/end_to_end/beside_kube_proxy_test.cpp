// The built program and the real kube-proxy, each in a network of its own, beside one real API
// server: what either makes of the same objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "configs/load.h"
#include "tests/cluster/control_plane.h"
#include "tests/end_to_end/forwarding.h"
#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/program_run.h"
#include "tests/end_to_end/random_api_objects.h"

namespace mkp {
namespace {

using cluster::ControlPlane;
using cluster::IsolatedNetwork;

constexpr int kChanges = 500;
constexpr int kBurst = 10;

std::string config_text(const std::string& kubeconfig) {
  return "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
         "kind: KubeProxyConfiguration\n"
         "mode: nftables\n"
         "clusterCIDR: 10.180.0.0/16,fd80::/48\n"
         "hostnameOverride: worker-1\n"
         "nftables: {minSyncPeriod: 10ms}\n"
         "conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}\n"
         "clientConnection: {kubeconfig: " +
         kubeconfig + "}\n";
}

class BesideKubeProxyTest : public testing::Test {
 protected:
  BesideKubeProxyTest() {
    Result<std::unique_ptr<ControlPlane>> started = ControlPlane::start();
    EXPECT_TRUE(started) << started.error().what;
    cluster_ = std::move(*started);
    EXPECT_TRUE(cluster_->attach());
    const Result<> seeded = cluster_->seed(1, 1);  // for its Node
    EXPECT_TRUE(seeded) << seeded.error().what;
    config_ = cluster_->file("config.yaml");
    std::ofstream(config_) << config_text(cluster_->proxy_kubeconfig());

    const IsolatedNetwork::Visit inside(theirs_);
    EXPECT_TRUE(cluster_->attach());
    auto kube_proxy =
        packets::RunningProgram::start({cluster_->program("kube-proxy"), "--config", config_});
    EXPECT_TRUE(kube_proxy) << kube_proxy.error().what;
    kube_proxy_.emplace(std::move(*kube_proxy));
  }

  std::string ours(IpFamily family) {
    const Config config = load_config_file(config_).value().config;
    return to_text(
        forwarding_of_ours(kernel_.nftables().dump(family, kTable).value(), config, family));
  }
  std::string kube_proxys(IpFamily family) const {
    const IsolatedNetwork::Visit inside(theirs_);
    const auto listing = packets::run_program(
        {"nft", "list", "table", family == IpFamily::Ipv4 ? "ip" : "ip6", "kube-proxy"}, "",
        {0, 1});
    return to_text(forwarding_of_kube_proxy(listing.value_or("")));
  }
  bool alike() {
    return std::ranges::all_of(
        kFamilies, [this](IpFamily family) { return ours(family) == kube_proxys(family); });
  }

  // A Service and an endpoint that never were before: once both proxies have them, they have heard
  // of everything before.
  void mark() {
    const std::string number = std::to_string(++marks_);
    EXPECT_TRUE(cluster_->admin().apply(
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"marker","namespace":"default"},)"
        R"("spec":{"clusterIP":"10.97.9.9","ports":[{"port":)" +
        number + "}]}}"));
    EXPECT_TRUE(cluster_->admin().apply(
        R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4",)"
        R"("metadata":{"name":"marker-x","namespace":"default",)"
        R"("labels":{"kubernetes.io/service-name":"marker"}},"ports":[{"name":"","port":)" +
        number + R"(}],"endpoints":[{"addresses":["10.180.255.1"]}]})"));
    const std::string line = "10.97.9.9 tcp " + number + ": pods {10.180.255.1:" + number + "}";
    EXPECT_TRUE(eventually([&] {
      return ours(IpFamily::Ipv4).find(line) != std::string::npos &&
             kube_proxys(IpFamily::Ipv4).find(line) != std::string::npos;
    })) << line;
  }

  void show_difference() {
    for (const IpFamily family : kFamilies) {
      std::ofstream(cluster_->file("ours")) << ours(family);
      std::ofstream(cluster_->file("kube-proxy's")) << kube_proxys(family);
      std::cout << packets::run_program({"diff", "--unified=0", cluster_->file("ours"),
                                         cluster_->file("kube-proxy's")},
                                        "", {0, 1})
                       .value_or("");
    }
  }

  static constexpr std::array kFamilies = {IpFamily::Ipv4, IpFamily::Ipv6};

  std::unique_ptr<ControlPlane> cluster_;
  IsolatedNetwork theirs_ = IsolatedNetwork::make().value();
  std::string config_;
  std::optional<packets::RunningProgram> kube_proxy_;
  KernelView kernel_;
  int marks_ = 0;
};

TEST_F(BesideKubeProxyTest, EveryFrontendLeadsToTheSameEndpointsAfterTheSameChanges) {
  ProgramRun daemon({"--config", config_});
  ASSERT_TRUE(daemon.says("the rules of this node are in place")) << daemon.standard_error();
  RandomApiObjects objects(cluster_->admin(), 7);
  std::size_t most_lines = 0;
  for (int done = 0; done < kChanges && !HasFailure();) {
    std::string burst;
    for (int i = 0; i < kBurst;) {
      const std::string what = objects.change();
      ASSERT_LT(objects.refused(), kChanges / 10) << objects.last_refusal();
      if (what.empty()) continue;
      burst += what + "\n";
      ++i;
    }
    done += kBurst;
    mark();
    EXPECT_TRUE(eventually([this] { return alike(); }))
        << "after change " << done << "; the last were\n"
        << burst;
    const std::string lines = ours(IpFamily::Ipv4) + ours(IpFamily::Ipv6);
    most_lines = std::max<std::size_t>(most_lines, std::ranges::count(lines, '\n'));
  }
  std::cout << most_lines << " frontends at most; " << objects.refused()
            << " changes not taken by the server, the last because " << objects.last_refusal()
            << "\n";
  EXPECT_GT(most_lines, 100U);
  if (HasFailure()) {
    show_difference();
    std::cout << daemon.standard_error() << kube_proxy_->said();
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

}  // namespace
}  // namespace mkp
