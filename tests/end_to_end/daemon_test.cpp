#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/manifest_files.h"
#include "tests/end_to_end/program_run.h"
#include "tests/packets/program.h"

namespace mkp {
namespace {

using testing::HasSubstr;

constexpr const char* kReady = "the rules of this node are in place";

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    kernel_.remove_tables();
    files_.write("web.yaml", service_manifest("web", "172.30.0.10"));
    files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.2"}));
  }
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"--config", files_.config(), "--manifests", files_.path()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  bool becomes(const std::string& live) {
    return eventually([&] { return kernel_.live(files_.config()) == live; });
  }

  KernelView kernel_;
  ManifestFiles files_;
};

constexpr const char* kOneEndpoint =
    "172.30.0.10:80/TCP (default/web:http) -> 10.180.0.2:8080\ncluster IP 172.30.0.10\n";
constexpr const char* kTwoEndpoints =
    "172.30.0.10:80/TCP (default/web:http) -> 10.180.0.2:8080 10.180.0.3:8080\ncluster IP "
    "172.30.0.10\n";

TEST_F(DaemonTest, FollowsTheManifestsAndLeavesTheRulesWhenItIsTold) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  EXPECT_EQ(kernel_.live(files_.config()), kOneEndpoint);
  files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.2", "10.180.0.3"}));
  EXPECT_TRUE(becomes(kTwoEndpoints));

  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_EQ(kernel_.live(files_.config()), kTwoEndpoints);
}

TEST_F(DaemonTest, WhatChangesNothingForThisNodeSendsNothing) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  const std::uint32_t before = kernel_.generation();
  files_.write("web.yaml",
               "apiVersion: v1\nkind: Service\n"
               "metadata: {name: web, labels: {team: shop}, annotations: {note: new}}\n"
               "spec: {clusterIP: 172.30.0.10, ports: [{name: http, port: 80, targetPort: 9}]}\n");
  const auto slice = [](const std::string& endpoints) {
    return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
           "metadata: {name: web-1, labels: {kubernetes.io/service-name: web, x: y}}\n"
           "addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [" +
           endpoints + "]\n";
  };
  // Not ready, and hints that not all have: the choice stays the same.
  for (const char* endpoints :
       {"{addresses: [10.180.0.2], nodeName: node-b, conditions: {ready: true, serving: false}}",
        "{addresses: [10.180.0.2], nodeName: node-b}, "
        "{addresses: [10.180.0.9], nodeName: node-b, conditions: {ready: false}}",
        "{addresses: [10.180.0.2], nodeName: node-b, hints: {forZones: [{name: x}]}}"}) {
    files_.write("web-1.yaml", slice(endpoints));
  }
  files_.write("node.yaml",
               "apiVersion: v1\nkind: Node\nmetadata: {name: node-a, labels: {a: b}}\n");
  // Behind all of that, something that counts: one transaction.
  files_.write("web-1.yaml", slice("{addresses: [10.180.0.2], nodeName: node-b}, "
                                   "{addresses: [10.180.0.3], nodeName: node-b}"));
  EXPECT_TRUE(becomes(kTwoEndpoints)) << kernel_.live(files_.config());
  EXPECT_EQ(kernel_.generation(), before + 1);
}

TEST_F(DaemonTest, ByNodeCidrItWaitsForThePodCidrsOfItsNode) {
  const std::string config = files_.path() + "/../node-cidr.yaml";
  std::ofstream(config) << "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                           "kind: KubeProxyConfiguration\n"
                           "hostnameOverride: node-a\n"
                           "detectLocalMode: NodeCIDR\n";
  ProgramRun daemon({"--config", config, "--manifests", files_.path()});
  ASSERT_TRUE(daemon.says("waiting for the podCIDRs of this node's Node object"));
  EXPECT_FALSE(kernel_.has_table(IpFamily::Ipv4));
  files_.write("node.yaml",
               "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n"
               "spec: {podCIDRs: [10.180.7.0/24]}\n");
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  const auto listed = [] { return packets::run_program({"nft", "list", "ruleset"}).value(); };
  EXPECT_THAT(listed(), HasSubstr("ip saddr != 10.180.7.0/24 jump mark-for-masquerade"));
  files_.write("node.yaml",
               "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n"
               "spec: {podCIDRs: [10.180.8.0/24]}\n");
  EXPECT_TRUE(eventually([&] {
    return listed().find("ip saddr != 10.180.8.0/24 jump mark-for-masquerade") != std::string::npos;
  }));
}

TEST_F(DaemonTest, ToldToStopAmidAChangeItLeavesTheRulesBeforeOrAfterAndNothingBetween) {
  std::string many;
  for (int i = 1; i <= 200; ++i) {
    const std::string name = "s" + std::to_string(i);
    many += service_manifest(name, "172.30.1." + std::to_string(i)) + "---\n" +
            slice_manifest(name, {"10.180.0.2"}) + "---\n";
  }
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  files_.write("many.yaml", many);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
  const std::string live = kernel_.live(files_.config());
  const auto lines = std::count(live.begin(), live.end(), '\n');
  EXPECT_TRUE(live == kOneEndpoint || lines == 2 + 2 * 200) << live;
}

TEST_F(DaemonTest, AnInterruptIsTakenAsWell) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(DaemonTest, ASecondProcessInTheSameNetworkNamespaceSaysSoAndExits1) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  ProgramRun second(arguments({"--once"}));
  EXPECT_EQ(second.wait(), 1);
  EXPECT_THAT(second.standard_error(), HasSubstr("pid " + std::to_string(daemon.pid())));
}

TEST_F(DaemonTest, AfterAKillTheRulesAreWholeAndTheNextProcessSendsOnlyTheDifference) {
  {
    ProgramRun daemon(arguments());
    ASSERT_TRUE(daemon.says(kReady));
    daemon.signal(SIGKILL);
    EXPECT_EQ(daemon.wait(), -1);
  }
  EXPECT_EQ(kernel_.live(files_.config()), kOneEndpoint);
  ProgramRun next(arguments());
  ASSERT_TRUE(next.says(kReady)) << next.standard_error();
  EXPECT_EQ(kernel_.live(files_.config()), kOneEndpoint);
}

TEST_F(DaemonTest, ABrokenManifestKeepsItsObjectAsItWasAndTheDaemonGoesOn) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  files_.write("web-1.yaml",
               "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1\n");
  ASSERT_TRUE(daemon.says("web-1.yaml:")) << daemon.standard_error();
  EXPECT_EQ(kernel_.live(files_.config()), kOneEndpoint);

  files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.2", "10.180.0.3"}));
  EXPECT_TRUE(becomes(kTwoEndpoints));
}

TEST_F(DaemonTest, ADirectoryThatVanishesIsAnOutageAndNoDeletion) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  std::filesystem::rename(files_.path(), files_.path() + ".away");
  ASSERT_TRUE(eventually([&] {
    return daemon.standard_error().find("level=warning") != std::string::npos;
  })) << daemon.standard_error();
  EXPECT_EQ(kernel_.live(files_.config()), kOneEndpoint);

  std::filesystem::rename(files_.path() + ".away", files_.path());
  files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.2", "10.180.0.3"}));
  EXPECT_TRUE(becomes(kTwoEndpoints));
}

TEST_F(DaemonTest, AServiceAndItsSlicesInOneFileAreOneTransaction) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  const std::uint32_t before = kernel_.generation();
  files_.write("api.yaml", service_manifest("api", "172.30.0.11") + "---\n" +
                               slice_manifest("api", {"10.180.0.9"}));
  ASSERT_TRUE(
      becomes("172.30.0.10:80/TCP (default/web:http) -> 10.180.0.2:8080\n"
              "172.30.0.11:80/TCP (default/api:http) -> 10.180.0.9:8080\n"
              "cluster IP 172.30.0.10\ncluster IP 172.30.0.11\n"));
  EXPECT_EQ(kernel_.generation() - before, 1U);
}

TEST_F(DaemonTest, ChainsThatNobodyUsesAnyMoreAreRemovedALittleLater) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady));
  files_.remove("web.yaml");
  EXPECT_TRUE(eventually([] {
    return packets::run_program({"nft", "list", "table", "ip", "mini-kube-proxy"})
               .value()
               .find("cluster-1") == std::string::npos;
  }));
}

TEST_F(DaemonTest, ADryRunThatGoesOnPrintsADiffForEachSyncAndWritesNothing) {
  ASSERT_EQ(ProgramRun(arguments({"--once"})).wait(), 0);
  const std::uint32_t before = kernel_.generation();
  ProgramRun dry_run(arguments({"--dry-run"}));
  ASSERT_TRUE(eventually([&] { return dry_run.standard_output() == "no change\n"; }))
      << dry_run.standard_error();
  files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.7"}));
  EXPECT_TRUE(eventually([&] {
    return dry_run.standard_output() ==
           "no change\n"
           "Service default/web:http\n"
           "# ClusterIP 172.30.0.10:80/TCP: endpoints + 10.180.0.7:8080 - 10.180.0.2:8080\n"
           "- element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 0 : "
           "10.180.0.2 . 8080 }\n"
           "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 0 : "
           "10.180.0.7 . 8080 }\n"
           "1 to add, 1 to remove; 1 Service ports change\n";
  })) << dry_run.standard_output();
  EXPECT_EQ(kernel_.generation(), before);
}

}  // namespace
}  // namespace mkp
