#include "configs/write.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "configs/load.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

Config reloaded(const Config& config) {
  const Result<LoadedConfig> result = load_config(to_yaml(config), "written.yaml");
  EXPECT_TRUE(result) << result.error().what << "\n" << to_yaml(config);
  EXPECT_EQ(result->warnings, std::vector<std::string>());
  return result->config;
}

TEST(WriteConfigTest, TheDefaultLoadsBackEqual) { EXPECT_EQ(reloaded(Config{}), Config{}); }

TEST(WriteConfigTest, WhatIsSetLoadsBackEqual) {
  Config config;
  config.hostname_override = "true";
  config.cluster_cidr = {*parse_ip_prefix("10.180.0.0/16"), *parse_ip_prefix("fd00::/56")};
  config.nftables = {31, true, 1h + 30ms, 0s};
  config.node_port_addresses = {
      false, {*parse_ip_prefix("192.168.0.0/24"), *parse_ip_prefix("fd00::/64")}};
  config.bind_address = *parse_ip_address("::");
  config.healthz_bind_address = {*parse_ip_address("::"), 80};
  config.metrics_bind_address = {*parse_ip_address("127.0.0.1"), 0};
  config.logging.vmodule = {{"proxier", 5}, {"gc*", 2}};
  config.logging.json.info_buffer_size = "64Ki";
  config.client_connection.kubeconfig = "/etc/\"quoted\": #path";
  config.client_connection.qps = 0.1F;
  config.ipvs.exclude_cidrs = {*parse_ip_prefix("10.0.0.0/8")};
  config.feature_gates = {{"AllAlpha", false}, {"Some", true}};
  config.port_range = "12";
  EXPECT_EQ(reloaded(config), config);
}

TEST(WriteConfigTest, AnotherModeLoadsBackEqual) {
  Config config;
  config.mode = ProxyMode::Iptables;
  config.node_port_addresses = {};
  EXPECT_EQ(reloaded(config), config);
}

TEST(WriteConfigTest, AFileIsReplaced) {
  const std::string path = fmt::format("{}/mkp_write_test_{}.yaml", testing::TempDir(), getpid());
  Config config;
  config.hostname_override = "a-name-that-is-longer-than-the-next";
  ASSERT_TRUE(write_config_file(config, path));
  ASSERT_TRUE(write_config_file(Config{}, path));
  const Result<LoadedConfig> result = load_config_file(path);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->config, Config{});
  std::remove(path.c_str());
}

TEST(WriteConfigTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(write_config_file(Config{}, "/nonexistent/a.yaml").error().what,
            "write /nonexistent/a.yaml: No such file or directory");
  EXPECT_EQ(write_config_file(Config{}, "/dev/full").error().what,
            "write /dev/full: No space left on device");
}

}  // namespace
}  // namespace mkp
