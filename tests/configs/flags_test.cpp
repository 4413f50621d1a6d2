#include "configs/flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <vector>

#include "configs/flag_table.h"
#include "configs/unused_fields.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

IpAddress ip(std::string_view text) { return parse_ip_address(text).value_or(IpAddress{}); }
IpPrefix prefix(std::string_view text) { return parse_ip_prefix(text).value_or(IpPrefix{}); }

Result<CommandLine> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "mini-kube-proxy");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

// Of words that are right.
Options options(std::vector<const char*> words) {
  const Result<CommandLine> result = parse(std::move(words));
  EXPECT_TRUE(result) << result.error().what;
  return std::get<Options>(*result);
}

Options with_manifests(std::vector<const char*> words) {
  words.insert(words.begin(), "--manifests=/manifests");
  return options(std::move(words));
}

std::string errors(std::vector<const char*> words) {
  words.insert(words.begin(), "--manifests=/manifests");
  const Result<CommandLine> result = parse(std::move(words));
  return result ? "none" : result.error().what;
}

// A file for --config that lives as long as its test.
class ConfigFlagTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                            "kind: KubeProxyConfiguration\n"
                            "hostnameOverride: from-file\n"
                            "clusterCIDR: 10.180.0.0/16\n"
                            "hologram: true\n"
                            "logging: {verbosity: 1, vmodule: [{filePattern: a, verbosity: 1}]}\n";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  const std::string path_ = fmt::format("{}/mkp_flags_test_{}.yaml", testing::TempDir(), getpid());
};

TEST(FlagsTest, WithoutFlagsTheConfigurationIsTheDefault) {
  const Options given = with_manifests({});
  EXPECT_EQ(given.config, Config{});
  EXPECT_EQ(given.manifests, "/manifests");
  EXPECT_FALSE(given.once || given.dry_run || given.cleanup);
  EXPECT_EQ(given.warnings, std::vector<std::string>());
}

TEST(FlagsTest, OursSayWhatToDo) {
  const Options given = options({"--manifests", "/m", "--once", "--dry-run", "--against", "empty"});
  EXPECT_EQ(given.manifests, "/m");
  EXPECT_TRUE(given.once);
  EXPECT_TRUE(given.dry_run);
  EXPECT_EQ(given.against, Against::Empty);
}

TEST(FlagsTest, ADryRunComparesWithTheKernelUnlessToldOtherwise) {
  EXPECT_EQ(with_manifests({"--dry-run"}).against, Against::Kernel);
  EXPECT_EQ(with_manifests({"--dry-run", "--against=kernel"}).against, Against::Kernel);
  EXPECT_EQ(errors({"--against=empty"}), "--against needs --dry-run");
  EXPECT_EQ(errors({"--dry-run", "--against=none"}), "--against: \"none\" is not kernel or empty");
}

TEST(FlagsTest, WithoutManifestsTheObjectsComeFromAnApiServer) {
  EXPECT_EQ(options({}).manifests, "");
  EXPECT_EQ(options({"--kubeconfig=/k"}).config.client_connection.kubeconfig, "/k");
  const Options both = options({"--kubeconfig=/k", "--master=https://192.168.0.1:6443"});
  EXPECT_EQ(both.config.client_connection.kubeconfig, "/k");
  EXPECT_EQ(both.master, "https://192.168.0.1:6443");
}

TEST(FlagsTest, ThereIsOneSourceOfObjects) {
  EXPECT_EQ(errors({"--kubeconfig=/k", "--master=https://192.168.0.1:6443"}),
            "--manifests beside --master: objects come from a directory or from an API server; "
            "give one of them\n"
            "--manifests beside --kubeconfig: objects come from a directory or from an API server; "
            "give one of them");
  EXPECT_EQ(parse({"--manifests="}).error().what, "--manifests: is empty");
  EXPECT_EQ(parse({"--master="}).error().what, "--master: is empty");
  EXPECT_TRUE(options({"--cleanup", "--manifests=/m", "--kubeconfig=/k"}).cleanup);
}

TEST(FlagsTest, CleanupAndWriteConfigToNeedNoObjects) {
  EXPECT_TRUE(options({"--cleanup"}).cleanup);
  EXPECT_EQ(options({"--write-config-to", "/tmp/a.yaml"}).write_config_to, "/tmp/a.yaml");
}

TEST(FlagsTest, CleanupAsksNothingOfTheConfiguration) {
  EXPECT_TRUE(options({"--cleanup", "--proxy-mode=iptables"}).cleanup);
}

TEST(FlagsTest, KubeProxysFlagsSetTheirFields) {
  const Options given = with_manifests(
      {"--hostname-override=node-a", "--cluster-cidr=10.180.0.0/16,fd00::/56", "--proxy-mode",
       "nftables", "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established", "1h",
       "--oom-score-adj", "-500", "--feature-gates=A=true", "--feature-gates=B=false",
       "--nodeport-addresses=192.168.0.0/24", "--nodeport-addresses=fd00::/64",
       "--kube-api-qps=0.5", "--logging-format=json", "--log-json-info-buffer-size=64Ki",
       "--boot-id-file=/x", "--machine-id-file=/y"});
  Config expected;
  expected.hostname_override = "node-a";
  expected.cluster_cidr = {prefix("10.180.0.0/16"), prefix("fd00::/56")};
  expected.conntrack.max_per_core = 0;
  expected.conntrack.tcp_established_timeout = 1h;
  expected.oom_score_adj = -500;
  expected.feature_gates = {{"A", true}, {"B", false}};
  expected.node_port_addresses = {false, {prefix("192.168.0.0/24"), prefix("fd00::/64")}};
  expected.client_connection.qps = 0.5;
  expected.logging.format = LogFormat::Json;
  expected.logging.json.info_buffer_size = "64Ki";
  EXPECT_EQ(given.config, expected);
}

TEST(FlagsTest, TheIptablesPeriodsAndMasqueradeAllHoldForNftablesToo) {
  const NftablesConfig nftables =
      with_manifests({"--iptables-sync-period=1m", "--iptables-min-sync-period=0",
                      "--masquerade-all", "--iptables-masquerade-bit=3"})
          .config.nftables;
  EXPECT_EQ(nftables, (NftablesConfig{14, true, 1min, 0s}));
}

TEST(FlagsTest, ASwitchMayBeSetEitherWay) {
  EXPECT_TRUE(with_manifests({"--profiling"}).config.enable_profiling);
  EXPECT_TRUE(with_manifests({"--profiling=true"}).config.enable_profiling);
  EXPECT_FALSE(with_manifests({"--profiling=false"}).config.enable_profiling);
  EXPECT_FALSE(
      with_manifests({"--iptables-localhost-nodeports=0"}).config.iptables.localhost_node_ports);
  EXPECT_FALSE(with_manifests({"--cleanup=false"}).cleanup);
  EXPECT_EQ(errors({"--profiling=perhaps"}), "--profiling: \"perhaps\" is not true or false");
}

TEST(FlagsTest, VerbosityIsWrittenInAllItsWays) {
  EXPECT_EQ(with_manifests({"-v", "4"}).config.logging.verbosity, 4);
  EXPECT_EQ(with_manifests({"-v4"}).config.logging.verbosity, 4);
  EXPECT_EQ(with_manifests({"-v=4"}).config.logging.verbosity, 4);
  EXPECT_EQ(with_manifests({"--v=4"}).config.logging.verbosity, 4);
}

TEST(FlagsTest, UnderscoresInNamesAreDashes) {
  EXPECT_EQ(with_manifests({"--hostname_override=node_a"}).config.hostname_override, "node_a");
  EXPECT_EQ(with_manifests({"--hostname_override", "node_a"}).config.hostname_override, "node_a");
}

TEST(FlagsTest, OfAFlagGivenTwiceTheLastCounts) {
  EXPECT_EQ(with_manifests({"--v=1", "--v=2"}).config.logging.verbosity, 2);
}

TEST(FlagsTest, AnEmptyAddressOrPortZeroSwitchesAServerOff) {
  EXPECT_EQ(with_manifests({"--healthz-bind-address="}).config.healthz_bind_address.port, 0);
  EXPECT_EQ(with_manifests({"--metrics-bind-address", ""}).config.metrics_bind_address.port, 0);
  EXPECT_EQ(with_manifests({"--healthz-port=0"}).config.healthz_bind_address.port, 0);
}

TEST(FlagsTest, ADeprecatedPortIsForAnAddressWithoutOne) {
  EXPECT_EQ(with_manifests({"--healthz-port=80"}).config.healthz_bind_address.port, 10256);
  EXPECT_EQ(with_manifests({"--healthz-bind-address=192.168.0.1", "--healthz-port=80"})
                .config.healthz_bind_address,
            (ListenAddress{ip("192.168.0.1"), 80}));
  EXPECT_EQ(errors({"--metrics-port=65536"}), "--metrics-port: \"65536\" is not a port");
}

TEST(FlagsTest, DefaultsOfServersFollowTheFamilyOfTheBindAddress) {
  const Config config =
      with_manifests({"--bind-address=::", "--healthz-bind-address=192.168.0.1"}).config;
  EXPECT_EQ(config.healthz_bind_address, (ListenAddress{ip("192.168.0.1"), 10256}));
  EXPECT_EQ(config.metrics_bind_address, (ListenAddress{ip("::1"), 10249}));
}

TEST(FlagsTest, EverythingWrongIsReportedAtOnce) {
  EXPECT_EQ(errors({"--hostname-overide=a", "--iptables-sync-period=5", "stray", "--init-only",
                    "--cluster-cidr=10.0.0.0"}),
            "unknown flag: --hostname-overide, did you mean --hostname-override?\n"
            "unexpected argument: stray\n"
            "--cluster-cidr: \"10.0.0.0\" is not a prefix such as 10.180.0.0/16 or "
            "fd00:10:180::/56\n"
            "--iptables-sync-period: \"5\" is not a duration such as 10ms or 1m30s\n"
            "--init-only is not built yet");
}

TEST(FlagsTest, AFlagWithoutItsValueIsAnError) {
  EXPECT_EQ(errors({"--config"}), "--config: 1 required VALUE missing");
}

TEST(FlagsTest, TheOutcomeIsValidated) {
  EXPECT_EQ(errors({"--proxy-mode=iptables"}),
            "mode: iptables is not built yet; leave the mode empty or set nftables");
  EXPECT_EQ(errors({"--iptables-min-sync-period=1m"}),
            "nftables.minSyncPeriod: 1m0s is longer than nftables.syncPeriod, which is 30s");
}

TEST(FlagsTest, HelpHasAMeaningForTheFlagsThatAreUsedAndForNoOthers) {
  for (const ConfigFlag& flag : config_flags()) {
    const bool used = std::any_of(flag.paths.begin(), flag.paths.end(), is_used_field);
    EXPECT_EQ(!flag.meaning.empty(), used) << flag.name;
  }
}

TEST(FlagsTest, AFlagThatHoldsForBothModesIsNotCalledUnused) {
  const Options given = with_manifests({"--masquerade-all", "--iptables-sync-period=40s"});
  EXPECT_EQ(unused_fields(given.config), std::vector<std::string>());
}

TEST(FlagsTest, HelpAndVersionAreAnswersThatNeedNothingElse) {
  EXPECT_EQ(std::get<Information>(parse({"--version"}).value()).text, "mini-kube-proxy 0.1.0\n");
  EXPECT_EQ(std::get<Information>(parse({"--version=raw"}).value()).text,
            "mini-kube-proxy 0.1.0\n");
  const std::string help = std::get<Information>(parse({"--help"}).value()).text;
  EXPECT_NE(help.find("--manifests DIR"), std::string::npos) << help;
  EXPECT_NE(help.find("-v,--v"), std::string::npos) << help;
  EXPECT_EQ(std::get<Information>(parse({"-h"}).value()).text, help);
}

TEST_F(ConfigFlagTest, TheFileReplacesOtherFlagsAndTheWarningSaysSo) {
  const Options given =
      with_manifests({"--config", path_.c_str(), "--cluster-cidr=10.0.0.0/8", "--masquerade-all"});
  EXPECT_EQ(given.config_file, path_);
  EXPECT_EQ(given.config.cluster_cidr, (std::vector<IpPrefix>{prefix("10.180.0.0/16")}));
  EXPECT_FALSE(given.config.nftables.masquerade_all);
  EXPECT_EQ(given.warnings,
            (std::vector<std::string>{
                path_ + ":5: hologram: unknown field, ignored",
                "--cluster-cidr has no effect beside --config; set clusterCIDR in " + path_,
                "--masquerade-all has no effect beside --config; set nftables.masqueradeAll and "
                "iptables.masqueradeAll in " +
                    path_}));
}

TEST_F(ConfigFlagTest, HostNameAndLoggingFlagsWinOverTheFile) {
  const Config config = with_manifests({"--config", path_.c_str(), "--hostname-override=node-b",
                                        "-v", "4", "--vmodule=b=2,c=3"})
                            .config;
  EXPECT_EQ(config.hostname_override, "node-b");
  EXPECT_EQ(config.logging.verbosity, 4);
  EXPECT_EQ(config.logging.vmodule,
            (std::vector<LoggingConfig::Module>{{"b", 2}, {"c", 3}, {"a", 1}}));
}

TEST_F(ConfigFlagTest, WithoutSuchFlagsTheFileCounts) {
  const Config config = with_manifests({"--config", path_.c_str()}).config;
  EXPECT_EQ(config.hostname_override, "from-file");
  EXPECT_EQ(config.logging.verbosity, 1);
}

TEST_F(ConfigFlagTest, AKubeconfigOfTheFileIsASourceToo) {
  std::ofstream(path_, std::ios::app) << "clientConnection: {kubeconfig: /k}\n";
  EXPECT_EQ(options({"--config", path_.c_str()}).config.client_connection.kubeconfig, "/k");
  EXPECT_EQ(errors({"--config", path_.c_str()}),
            "--manifests beside clientConnection.kubeconfig of " + path_ +
                ": objects come from a directory or from an API server; give one of them");
}

TEST_F(ConfigFlagTest, TheMasterIsNoPartOfTheFile) {
  const Options given = options({"--config", path_.c_str(), "--master=https://192.168.0.1:6443"});
  EXPECT_EQ(given.master, "https://192.168.0.1:6443");
}

TEST_F(ConfigFlagTest, AMissingFileIsAnError) {
  EXPECT_EQ(errors({"--config=/nonexistent.yaml"}),
            "read /nonexistent.yaml: No such file or directory");
}

}  // namespace
}  // namespace mkp
