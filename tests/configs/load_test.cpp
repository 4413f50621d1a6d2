#include "configs/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace mkp {
namespace {

using namespace std::chrono_literals;

// The fields after a right apiVersion and kind, so that `fields` begins on line 3.
Result<LoadedConfig> load(const std::string& fields) {
  return load_config(
      "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n" + fields,
      "kube-proxy.yaml");
}

// The one that must be right.
Config loaded(const std::string& fields) {
  const Result<LoadedConfig> result = load(fields);
  EXPECT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->warnings, std::vector<std::string>());
  return result->config;
}

std::string errors(const std::string& fields) {
  const Result<LoadedConfig> result = load(fields);
  return result ? "none" : result.error().what;
}

std::string warnings(const std::string& fields) {
  const Result<LoadedConfig> result = load(fields);
  EXPECT_TRUE(result) << result.error().what;
  return fmt::format("{}", fmt::join(result->warnings, "\n"));
}

TEST(LoadConfigTest, AnEmptyConfigurationIsTheDefault) { EXPECT_EQ(loaded(""), Config{}); }

TEST(LoadConfigTest, EveryBlockIsRead) {
  const Config config = loaded(
      "mode: nftables\n"
      "hostnameOverride: Node-A\n"
      "clusterCIDR: 10.180.0.0/16,fd00:10:180::/56\n"
      "nftables: {masqueradeBit: 15, masqueradeAll: true, syncPeriod: 1m, minSyncPeriod: 500ms}\n"
      "conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpBeLiberal: true}\n"
      "logging:\n"
      "  format: json\n"
      "  verbosity: 4\n"
      "  vmodule: [{filePattern: proxier, verbosity: 5}]\n"
      "  options: {json: {infoBufferSize: 64Ki}}\n"
      "nodePortAddresses: [192.168.0.0/24, 'fd00::/64']\n"
      "metricsBindAddress: '[::1]:9'\n"
      "clientConnection: {qps: 0.5, burst: 3}\n"
      "ipvs: {excludeCIDRs: [10.0.0.0/8], strictARP: on}\n"
      "detectLocal: {bridgeInterface: cni0}\n"
      "winkernel: {enableDSR: true}\n"
      "featureGates: {AllAlpha: false, Some: true}\n");
  Config expected;
  expected.hostname_override = "Node-A";
  expected.cluster_cidr = {*parse_ip_prefix("10.180.0.0/16"), *parse_ip_prefix("fd00:10:180::/56")};
  expected.nftables = {15, true, 1min, 500ms};
  expected.conntrack.max_per_core = 0;
  expected.conntrack.tcp_established_timeout = 0s;
  expected.conntrack.tcp_be_liberal = true;
  expected.logging.format = LogFormat::Json;
  expected.logging.verbosity = 4;
  expected.logging.vmodule = {{"proxier", 5}};
  expected.logging.json.info_buffer_size = "64Ki";
  expected.node_port_addresses = {
      false, {*parse_ip_prefix("192.168.0.0/24"), *parse_ip_prefix("fd00::/64")}};
  expected.metrics_bind_address = {*parse_ip_address("::1"), 9};
  expected.client_connection.qps = 0.5;
  expected.client_connection.burst = 3;
  expected.ipvs.exclude_cidrs = {*parse_ip_prefix("10.0.0.0/8")};
  expected.ipvs.strict_arp = true;
  expected.detect_local.bridge_interface = "cni0";
  expected.winkernel.enable_dsr = true;
  expected.feature_gates = {{"AllAlpha", false}, {"Some", true}};
  EXPECT_EQ(config, expected);
}

TEST(LoadConfigTest, JsonIsReadToo) {
  const Result<LoadedConfig> result = load_config(
      "{\n\t\"apiVersion\": \"kubeproxy.config.k8s.io/v1alpha1\",\n"
      "\t\"kind\": \"KubeProxyConfiguration\",\n"
      "\t\"nftables\": {\"masqueradeBit\": 15, \"syncPeriod\": \"1m\"}\n}\n",
      "kube-proxy.json");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->config.nftables.masquerade_bit, 15);
  EXPECT_EQ(result->config.nftables.sync_period, 1min);
}

TEST(LoadConfigTest, NullIsAbsent) {
  EXPECT_EQ(loaded("mode: null\nnftables: {minSyncPeriod: null, masqueradeBit: ~}\nconntrack:\n"
                   "nodePortAddresses: null\n"),
            Config{});
}

// As kubeadm writes them.
TEST(LoadConfigTest, ZeroIsAbsentWhereKubernetesSeesNoDifference) {
  EXPECT_EQ(loaded("bindAddress: ''\n"
                   "mode: ''\n"
                   "detectLocalMode: ''\n"
                   "healthzBindAddress: ''\n"
                   "metricsBindAddress: ''\n"
                   "configSyncPeriod: 0s\n"
                   "iptables: {minSyncPeriod: 0s, syncPeriod: 0s}\n"
                   "nftables: {syncPeriod: 0s}\n"
                   "ipvs: {syncPeriod: 0s}\n"
                   "clientConnection: {contentType: '', qps: 0, burst: 0}\n"
                   "logging: {flushFrequency: 0, format: '', options: {json: {infoBufferSize: "
                   "'0'}}}\n"
                   "nodePortAddresses: []\n"),
            Config{});
}

TEST(LoadConfigTest, AnExplicitZeroOfTheMinimumSyncPeriodIsZero) {
  EXPECT_EQ(loaded("nftables: {minSyncPeriod: 0s}").nftables.min_sync_period, 0s);
}

TEST(LoadConfigTest, DefaultsOfServersFollowTheFamilyOfTheBindAddress) {
  const Config config = loaded("bindAddress: '::'\nhealthzBindAddress: 192.168.0.1\n");
  EXPECT_EQ(config.healthz_bind_address, (ListenAddress{*parse_ip_address("192.168.0.1"), 10256}));
  EXPECT_EQ(config.metrics_bind_address, (ListenAddress{*parse_ip_address("::1"), 10249}));
}

TEST(LoadConfigTest, InOtherModesNodePortsAreOnAllAddressesByDefault) {
  EXPECT_EQ(loaded("mode: iptables").node_port_addresses, NodePortAddresses{});
}

TEST(LoadConfigTest, AWrongValueIsReportedWithFileLineAndPath) {
  EXPECT_EQ(errors("nftables:\n  syncPeriod: 1m\n\n\n  minSyncPeriod: 5 s\n"),
            "kube-proxy.yaml:7: nftables.minSyncPeriod: \"5 s\" is not a duration such as 10ms or "
            "1m30s");
}

TEST(LoadConfigTest, AllErrorsAreReportedAtOnceByLine) {
  EXPECT_EQ(
      errors("nodePortAddresses:\n"
             "- 192.168.0.0/24\n"
             "- 192.168.0.0/33\n"
             "clusterCIDR: 10.180.0.0\n"
             "mode: ebpf\n"
             "nftables:\n"
             "  masqueradeBit: '14'\n"
             "  masqueradeAll: 1\n"
             "  minSyncPeriod: 10\n"
             "logging: verbose\n"
             "hostnameOverride: 12\n"
             "portRange: [1]\n"
             "featureGates: {A: maybe}\n"
             "ipvs: {excludeCIDRs: 10.0.0.0/8}\n"),
      R"(kube-proxy.yaml:5: nodePortAddresses[1]: "192.168.0.0/33" is not primary, localhost, all or a prefix such as 192.168.0.0/24
kube-proxy.yaml:6: clusterCIDR: "10.180.0.0" is not a prefix such as 10.180.0.0/16 or fd00:10:180::/56
kube-proxy.yaml:7: mode: "ebpf" is not one of nftables, iptables, ipvs
kube-proxy.yaml:9: nftables.masqueradeBit: "14" is not a number
kube-proxy.yaml:10: nftables.masqueradeAll: "1" is not true or false
kube-proxy.yaml:11: nftables.minSyncPeriod: 10 is a number where text belongs: put it in quotes, or give it a unit
kube-proxy.yaml:12: logging: expected a block of fields
kube-proxy.yaml:13: hostnameOverride: 12 is a number where text belongs: put it in quotes, or give it a unit
kube-proxy.yaml:14: portRange: expected text, not a list
kube-proxy.yaml:15: featureGates: A: "maybe" is not true or false
kube-proxy.yaml:16: ipvs.excludeCIDRs: expected a list, not a single value)");
}

TEST(LoadConfigTest, AnUnknownFieldIsAWarningWithTheNearestName) {
  EXPECT_EQ(warnings("nftables:\n  minSyncPeriode: 1s\nhologram: true\n"),
            "kube-proxy.yaml:4: nftables.minSyncPeriode: unknown field, ignored; did you mean "
            "nftables.minSyncPeriod?\n"
            "kube-proxy.yaml:5: hologram: unknown field, ignored");
}

TEST(LoadConfigTest, OfAFieldGivenTwiceTheLastCounts) {
  const std::string fields = "nftables:\n  masqueradeBit: 1\n  masqueradeBit: 2\n";
  EXPECT_EQ(warnings(fields),
            "kube-proxy.yaml:5: nftables.masqueradeBit: given twice; the last one counts");
  EXPECT_EQ(load(fields)->config.nftables.masquerade_bit, 2);
}

TEST(LoadConfigTest, AnotherKindOrVersionIsAnError) {
  const Result<LoadedConfig> result =
      load_config("kind: KubeletConfiguration\napiVersion: v1\n", "a.yaml");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what,
            "a.yaml:1: kind: must be KubeProxyConfiguration\n"
            "a.yaml:2: apiVersion: must be kubeproxy.config.k8s.io/v1alpha1");
}

TEST(LoadConfigTest, AMissingKindIsAnError) {
  EXPECT_EQ(load_config("apiVersion: kubeproxy.config.k8s.io/v1alpha1", "a.yaml").error().what,
            "a.yaml:1: kind: missing; must be KubeProxyConfiguration");
}

TEST(LoadConfigTest, WhatIsNoYamlIsAnErrorWithItsLine) {
  EXPECT_EQ(errors("nftables: {\n").substr(0, 18), "kube-proxy.yaml:4:");
}

TEST(LoadConfigTest, WhatIsNoBlockOfFieldsIsAnError) {
  EXPECT_EQ(load_config("", "a.yaml").error().what, "a.yaml:1: expected a KubeProxyConfiguration");
  EXPECT_EQ(load_config("- a", "a.yaml").error().what,
            "a.yaml:1: expected a KubeProxyConfiguration");
}

TEST(LoadConfigTest, OnlyTheFirstDocumentIsRead) {
  EXPECT_EQ(warnings("mode: nftables\n---\nmode: ebpf\n"),
            "kube-proxy.yaml: only the first of its 2 documents is read");
}

TEST(LoadConfigFileTest, AMissingFileIsNotFound) {
  const Result<LoadedConfig> result = load_config_file("/nonexistent/kube-proxy.yaml");
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error(),
      (Error{Errc::NotFound, "read /nonexistent/kube-proxy.yaml: No such file or directory"}));
}

TEST(LoadConfigFileTest, ADirectoryIsNoFile) {
  const Result<LoadedConfig> result = load_config_file("/");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "read /: Is a directory");
}

// What kube-proxy 1.37 writes as its defaults, zero values included.
TEST(LoadConfigFileTest, KubeProxysOwnDefaultsAreOursButForModeAndTheMinimumSyncPeriod) {
  const Result<LoadedConfig> result =
      load_config_file(MKP_SOURCE_DIR "/tests/configs/kube_proxy_defaults.yaml");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->warnings, std::vector<std::string>());
  Config expected;
  expected.mode = ProxyMode::Iptables;
  expected.node_port_addresses = {};
  expected.nftables.min_sync_period = 0s;
  EXPECT_EQ(result->config, expected);
}

TEST(LoadConfigFileTest, TheCommentedDefaultFileIsTheDefault) {
  const Result<LoadedConfig> result = load_config_file(MKP_SOURCE_DIR "/configs/default.yaml");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->warnings, std::vector<std::string>());
  EXPECT_EQ(result->config, Config{});
}

TEST(LoadConfigFileTest, TheExampleIsRight) {
  const Result<LoadedConfig> result = load_config_file(MKP_SOURCE_DIR "/configs/example/node.yaml");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->warnings, std::vector<std::string>());
  Config expected;
  expected.hostname_override = "node-a";
  expected.cluster_cidr = {*parse_ip_prefix("10.180.0.0/16")};
  expected.nftables.min_sync_period = 0s;
  EXPECT_EQ(result->config, expected);
}

}  // namespace
}  // namespace mkp
