#include "configs/validate.h"

#include <gtest/gtest.h>

#include "configs/unused_fields.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

IpPrefix prefix(std::string_view text) { return parse_ip_prefix(text).value_or(IpPrefix{}); }

Config named(const std::string& hostname_override) {
  Config config;
  config.hostname_override = hostname_override;
  return config;
}

std::string findings(const Config& config) {
  const Result<> result = validate(config);
  return result ? "none" : result.error().what;
}

TEST(ValidateTest, TheDefaultIsValid) { EXPECT_EQ(findings(Config{}), "none"); }

TEST(ValidateTest, WhatIsNotBuiltYetIsRefused) {
  Config config;
  config.mode = ProxyMode::Iptables;
  EXPECT_EQ(findings(config),
            "mode: iptables is not built yet; leave the mode empty or set nftables");
  config = Config{};
  config.mode = ProxyMode::Ipvs;
  EXPECT_EQ(findings(config),
            "mode: ipvs is not supported and will not be; leave the mode empty or set nftables");
}

TEST(ValidateTest, AnInterfaceThatDetectLocalModeGoesByMustHaveAName) {
  Config config;
  config.detect_local_mode = DetectLocalMode::BridgeInterface;
  EXPECT_EQ(findings(config),
            "detectLocal.bridgeInterface: is empty, but detectLocalMode goes by it");
  config.detect_local.bridge_interface = "an-interface-too-long";
  EXPECT_EQ(
      findings(config),
      "detectLocal.bridgeInterface: \"an-interface-too-long\" is longer than the 15 characters "
      "of an interface's name");
  config.detect_local.bridge_interface = "cni0";
  EXPECT_EQ(findings(config), "none");
  config.detect_local_mode = DetectLocalMode::InterfaceNamePrefix;
  config.detect_local.interface_name_prefix = "veth*";
  EXPECT_EQ(findings(config),
            "detectLocal.interfaceNamePrefix: \"veth*\" cannot be an interface's name");
}

TEST(ValidateTest, EverythingWrongIsReportedAtOnce) {
  Config config;
  config.hostname_override = " \t";
  config.cluster_cidr = {prefix("10.0.0.0/8"), prefix("10.180.0.0/16")};
  config.nftables = {32, false, 0s, -1s};
  config.iptables.masquerade_bit = -1;
  config.ipvs.udp_timeout = -1ns;
  config.conntrack.min = -1;
  config.conntrack.tcp_established_timeout = -1s;
  config.logging.verbosity = -1;
  config.client_connection.burst = -1;
  config.oom_score_adj = 1001;
  config.config_sync_period = 0s;
  EXPECT_EQ(findings(config), R"(hostnameOverride: is blank
clusterCIDR: 10.0.0.0/8,10.180.0.0/16 is not one prefix, or one of IPv4 and one of IPv6
nftables.masqueradeBit: 32 is not between 0 and 31
nftables.syncPeriod: 0s is not greater than 0
nftables.minSyncPeriod: -1s is negative
iptables.masqueradeBit: -1 is not between 0 and 31
ipvs.udpTimeout: -1ns is negative
conntrack.min: -1 is negative
conntrack.tcpEstablishedTimeout: -1s is negative
logging.verbosity: -1 is negative
clientConnection.burst: -1 is negative
oomScoreAdj: 1001 is not between -1000 and 1000
configSyncPeriod: 0s is not greater than 0)");
}

TEST(ValidateTest, TheShortestPeriodMustNotBeLongerThanTheLongest) {
  Config config;
  config.nftables.min_sync_period = 31s;
  EXPECT_EQ(findings(config),
            "nftables.minSyncPeriod: 31s is longer than nftables.syncPeriod, which is 30s");
  config.nftables.min_sync_period = 30s;
  EXPECT_EQ(findings(config), "none");
  config.nftables = {14, false, 2h, 2h};
  EXPECT_EQ(findings(config),
            "nftables.minSyncPeriod: 2h0m0s is longer than 1h0m0s, after which all is synced "
            "anyway");
}

TEST(ValidateTest, BitsFromZeroTo31AreAllowed) {
  Config config;
  config.nftables.masquerade_bit = 0;
  config.iptables.masquerade_bit = 31;
  EXPECT_EQ(findings(config), "none");
}

TEST(ValidateTest, TheClusterCidrIsOnePrefixOrOneOfEachFamily) {
  const IpPrefix v4 = prefix("10.180.0.0/16");
  const IpPrefix v6 = prefix("fd00::/56");
  Config config;
  config.cluster_cidr = {v6};
  EXPECT_EQ(findings(config), "none");
  config.cluster_cidr = {v6, v4};
  EXPECT_EQ(findings(config), "none");
  config.cluster_cidr = {v4, v6, v4};
  EXPECT_NE(findings(config), "none");
}

TEST(ValidateTest, OnlyContentTypesThatWeReadAreAskedFor) {
  Config config;
  config.client_connection.content_type = "application/json";
  config.client_connection.accept_content_types =
      "application/vnd.kubernetes.protobuf, application/json";
  EXPECT_EQ(findings(config), "none");
  config.client_connection.content_type = "application/yaml";
  config.client_connection.accept_content_types = "application/json,application/cbor";
  EXPECT_EQ(findings(config),
            "clientConnection.contentType: \"application/yaml\" is not "
            "application/vnd.kubernetes.protobuf or application/json\n"
            "clientConnection.acceptContentTypes: \"application/cbor\" is not "
            "application/vnd.kubernetes.protobuf or application/json");
}

TEST(ValidateTest, ANegativeRateIsNoLimit) {
  Config config;
  config.client_connection.qps = -1;
  EXPECT_EQ(findings(config), "none");
}

TEST(NodeNameTest, TheOverrideBeatsTheHostNameAndBothAreTrimmedAndLowered) {
  EXPECT_EQ(node_name(Config{}, " Host.Example\n").value(), "host.example");
  EXPECT_EQ(node_name(named(" Node-A "), "host").value(), "node-a");
}

TEST(NodeNameTest, NoNameIsAnError) {
  EXPECT_EQ(node_name(Config{}, "").error().what,
            "this host has no name; give the node's with --hostname-override");
  EXPECT_EQ(node_name(named(" "), "host").error().what, "hostnameOverride: is blank");
}

TEST(UnusedFieldsTest, NothingIsNamedThatHasItsDefault) {
  EXPECT_EQ(unused_fields(Config{}), std::vector<std::string>());
}

TEST(UnusedFieldsTest, WhatIsUsedIsNotNamed) {
  Config config;
  config.mode = ProxyMode::Iptables;
  config.hostname_override = "node-a";
  config.cluster_cidr = {prefix("10.180.0.0/16")};
  config.nftables = {15, true, 1min, 0s};
  config.logging.verbosity = 4;
  config.logging.format = LogFormat::Json;
  config.client_connection = {"/k", "application/json", "application/json", 50, 100};
  EXPECT_EQ(unused_fields(config), std::vector<std::string>());
}

TEST(UnusedFieldsTest, FieldsThatAreSetInVainAreNamedByTheirPaths) {
  Config config;
  config.conntrack.min = 0;
  config.logging.json.split_stream = true;
  config.oom_score_adj = 0;
  config.enable_profiling = true;
  config.feature_gates = {{"Some", true}};
  EXPECT_EQ(unused_fields(config),
            (std::vector<std::string>{"conntrack.min", "enableProfiling", "featureGates",
                                      "logging.options.json.splitStream", "oomScoreAdj"}));
}

}  // namespace
}  // namespace mkp
