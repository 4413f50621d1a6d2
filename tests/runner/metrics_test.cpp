#include "runner/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/runner/exposition.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr WallTime kNoon = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 12h + 500ms;
const Exposition::Labels kIpv4{{"ip_family", "IPv4"}};
const Exposition::Labels kIpv6{{"ip_family", "IPv6"}};

Exposition exposition(const Metrics& metrics) { return ExpositionParser::parse(metrics.text()); }

// What real kube-proxy 1.37.2 answered.
Exposition recorded() {
  std::ostringstream text;
  text << std::ifstream(MKP_METRICS_FIXTURE).rdbuf();
  return ExpositionParser::parse(text.str());
}

// Uses every metric, so that each has samples.
void use_all(Metrics& metrics) {
  for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
    for (const bool full : {true, false}) {
      for (const bool succeeded : {true, false}) {
        metrics.synced(family,
                       {.full = full,
                        .succeeded = succeeded,
                        .took = 45ms,
                        .work = 5ms,
                        .kernel = 40ms,
                        .transactions = 1},
                       kNoon);
      }
    }
    metrics.queued(family, kNoon);
    metrics.cleanup_failed(family);
    metrics.programmed(family, 3s);
    metrics.no_local_endpoints(family, 1, 2);
    metrics.flows_visited(family, 2ms, 7);
  }
  metrics.changes({.services_total = 5, .services_pending = 1, .endpoints_total = 6});
  metrics.healthz_answered(200);
  metrics.livez_answered(503);
  metrics.relisted("services");
  metrics.rest_request("200", "GET", "10.20.0.1:6443");
  metrics.rest_request_took("GET", "10.20.0.1:6443", 30ms);
  metrics.rest_request_held_back("GET", "10.20.0.1:6443", 1ms);
  metrics.rest_request_body("POST", "10.20.0.1:6443", 207);
  metrics.rest_response_body("POST", "10.20.0.1:6443", 451);
}

TEST(MetricsTest, EveryMetricOfKubeProxyThatWeHaveIsAsItsOwn) {
  Metrics metrics({.version = "0.1.0"});
  use_all(metrics);
  const Exposition ours = exposition(metrics);
  const Exposition theirs = recorded();
  std::set<std::string> missing;
  for (const auto& [name, family] : theirs.families) {
    SCOPED_TRACE(name);
    if (!ours.families.contains(name)) {
      missing.insert(name);
      continue;
    }
    EXPECT_EQ(ours.families.at(name).type, family.type);
    EXPECT_EQ(ours.label_names(name), theirs.label_names(name));
    EXPECT_EQ(ours.bounds(name), theirs.bounds(name));
  }
  EXPECT_THAT(
      missing,
      ElementsAre("kubernetes_feature_enabled", "rest_client_exec_plugin_certificate_rotation_age",
                  "rest_client_exec_plugin_ttl_seconds", "rest_client_transport_cache_entries",
                  "rest_client_transport_cert_rotation_gc_calls_total",
                  "rest_client_transport_create_calls_total"));
}

TEST(MetricsTest, WhatTheRecordingLacksIsAsTheSpecificationHasIt) {
  Metrics metrics({.version = "0.1.0"});
  use_all(metrics);
  const Exposition ours = exposition(metrics);
  const auto is = [&](const std::string& name, const std::string& type,
                      const std::set<std::string>& labels) {
    ASSERT_TRUE(ours.families.contains(name)) << name;
    EXPECT_EQ(ours.families.at(name).type, type) << name;
    EXPECT_EQ(ours.label_names(name), (std::set<std::set<std::string>>{labels})) << name;
    EXPECT_NE(ours.families.at(name).help, "") << name;
  };
  is("kubeproxy_sync_partial_proxy_rules_duration_seconds", "histogram", {"ip_family"});
  is("kubeproxy_network_programming_duration_seconds", "histogram", {"ip_family"});
  is("kubeproxy_sync_proxy_rules_nftables_sync_failures_total", "counter", {"ip_family"});
  is("kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total", "counter", {"ip_family"});
  is("kubeproxy_proxy_healthz_total", "counter", {"code"});
  is("kubeproxy_proxy_livez_total", "counter", {"code"});
  is("kubeproxy_conntrack_reconciler_sync_duration_seconds", "histogram", {"ip_family"});
  is("kubeproxy_conntrack_reconciler_deleted_entries_total", "counter", {"ip_family"});
  // 0.25, 0.5; 1 to 59 by 1; 60 to 115 by 5; 120 to 300 by 30; +Inf.
  const std::set<double> bounds = ours.bounds("kubeproxy_network_programming_duration_seconds");
  EXPECT_EQ(bounds.size(), 2U + 59U + 12U + 7U + 1U);
  for (const double bound : {0.25, 0.5, 1.0, 59.0, 60.0, 65.0, 115.0, 120.0, 150.0, 300.0}) {
    EXPECT_TRUE(bounds.contains(bound)) << bound;
  }
  EXPECT_EQ(ours.bounds("kubeproxy_conntrack_reconciler_sync_duration_seconds"),
            ours.bounds("kubeproxy_sync_proxy_rules_duration_seconds"));
}

TEST(MetricsTest, OurOwnAreUnderOurName) {
  Metrics metrics({.version = "0.1.0"});
  use_all(metrics);
  for (const auto& [name, family] : exposition(metrics).families) {
    const bool known = name.starts_with("kubeproxy_") || name.starts_with("process_") ||
                       name.starts_with("rest_client_") || name.starts_with("mini_kube_proxy_") ||
                       name == "kubernetes_build_info";
    EXPECT_TRUE(known) << name;
    EXPECT_NE(family.help, "") << name;
  }
}

TEST(MetricsTest, WhatHasLabelsAppearsOnceItIsUsed) {
  const Metrics metrics({.version = "0.1.0"});
  const Exposition ours = exposition(metrics);
  std::set<std::string> names;
  for (const auto& [name, family] : ours.families) {
    if (!name.starts_with("process_")) names.insert(name);
  }
  EXPECT_THAT(names, ElementsAre("kubeproxy_sync_proxy_rules_endpoint_changes_pending",
                                 "kubeproxy_sync_proxy_rules_endpoint_changes_total",
                                 "kubeproxy_sync_proxy_rules_service_changes_pending",
                                 "kubeproxy_sync_proxy_rules_service_changes_total",
                                 "kubernetes_build_info", "mini_kube_proxy_refused_health_ports"));
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_service_changes_total"), 0);
}

TEST(MetricsTest, ASyncShowsByItsFamilyKindAndOutcome) {
  Metrics metrics({.version = "0.1.0"});
  metrics.synced(IpFamily::Ipv4,
                 {.full = true,
                  .succeeded = true,
                  .took = 40ms,
                  .work = 10ms,
                  .kernel = 30ms,
                  .transactions = 2},
                 kNoon);
  metrics.synced(IpFamily::Ipv4, {.succeeded = false, .took = 3ms}, kNoon + 1h);
  const Exposition ours = exposition(metrics);
  const std::string all = "kubeproxy_sync_proxy_rules_duration_seconds";
  EXPECT_EQ(ours.value(all + "_count", kIpv4), 2);
  EXPECT_DOUBLE_EQ(ours.value(all + "_sum", kIpv4), 0.043);
  EXPECT_EQ(ours.value(all + "_bucket", {{"ip_family", "IPv4"}, {"le", "0.032"}}), 1);
  EXPECT_EQ(ours.value(all + "_bucket", {{"ip_family", "IPv4"}, {"le", "0.064"}}), 2);
  EXPECT_EQ(ours.value("kubeproxy_sync_full_proxy_rules_duration_seconds_count", kIpv4), 1);
  EXPECT_EQ(ours.value("kubeproxy_sync_partial_proxy_rules_duration_seconds_count", kIpv4), 1);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_nftables_sync_failures_total", kIpv4), 1);
  EXPECT_DOUBLE_EQ(ours.value("kubeproxy_sync_proxy_rules_last_timestamp_seconds", kIpv4),
                   unix_seconds(kNoon));  // of the success
  EXPECT_EQ(ours.value("mini_kube_proxy_resyncs_total", kIpv4), 1);
  EXPECT_EQ(ours.value("mini_kube_proxy_transactions_total", kIpv4), 2);
  EXPECT_DOUBLE_EQ(ours.value("mini_kube_proxy_sync_kernel_duration_seconds_sum", kIpv4), 0.03);
  EXPECT_TRUE(std::isnan(ours.value(all + "_count", kIpv6)));
}

TEST(MetricsTest, ChangesCountUpAndPendingOnesComeAndGo) {
  Metrics metrics({.version = "0.1.0"});
  metrics.changes(
      {.services_total = 5, .services_pending = 2, .endpoints_total = 9, .endpoints_pending = 9});
  metrics.changes(
      {.services_total = 7, .services_pending = 0, .endpoints_total = 9, .endpoints_pending = 1});
  const Exposition ours = exposition(metrics);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_service_changes_total"), 7);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_service_changes_pending"), 0);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_endpoint_changes_total"), 9);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_endpoint_changes_pending"), 1);
}

TEST(MetricsTest, TheRestIsCountedWhereItBelongs) {
  Metrics metrics({.version = "0.1.0"});
  use_all(metrics);
  metrics.healthz_answered(200);
  metrics.healthz_answered(503);
  metrics.refused_health_ports(3);
  const Exposition ours = exposition(metrics);
  EXPECT_EQ(ours.value("kubeproxy_proxy_healthz_total", {{"code", "200"}}), 2);
  EXPECT_EQ(ours.value("kubeproxy_proxy_healthz_total", {{"code", "503"}}), 1);
  EXPECT_EQ(ours.value("kubeproxy_proxy_livez_total", {{"code", "503"}}), 1);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_no_local_endpoints_total",
                       {{"ip_family", "IPv6"}, {"traffic_policy", "internal"}}),
            1);
  EXPECT_EQ(ours.value("kubeproxy_sync_proxy_rules_no_local_endpoints_total",
                       {{"ip_family", "IPv6"}, {"traffic_policy", "external"}}),
            2);
  EXPECT_EQ(ours.value("kubeproxy_network_programming_duration_seconds_sum", kIpv6), 3);
  EXPECT_EQ(ours.value("kubeproxy_conntrack_reconciler_deleted_entries_total", kIpv4), 7);
  EXPECT_EQ(ours.value("mini_kube_proxy_refused_health_ports"), 3);
  EXPECT_EQ(ours.value("rest_client_requests_total",
                       {{"code", "200"}, {"host", "10.20.0.1:6443"}, {"method", "GET"}}),
            1);
  const auto& [build, one] = *ours.families.at("kubernetes_build_info").samples.begin();
  EXPECT_EQ(one, 1);
  EXPECT_EQ(build.second.at("git_version"), "v0.1.0");
  EXPECT_EQ(build.second.at("major") + "." + build.second.at("minor"), "0.1");
}

TEST(MetricsTest, TheProcessIsSeenAsTheKernelSeesIt) {
  const Metrics metrics({.version = "0.1.0"});
  const Exposition ours = exposition(metrics);
  const double now = unix_seconds(wall_now());
  EXPECT_GT(ours.value("process_start_time_seconds"), now - 3600);
  EXPECT_LT(ours.value("process_start_time_seconds"), now + 2);
  EXPECT_GT(ours.value("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(ours.value("process_virtual_memory_bytes"),
            ours.value("process_resident_memory_bytes"));
  const double open = ours.value("process_open_fds");
  EXPECT_GE(open, 3);
  const std::ifstream one_more("/proc/self/status");
  EXPECT_EQ(exposition(metrics).value("process_open_fds"), open + 1);
  EXPECT_GE(ours.value("process_max_fds"), open);
  EXPECT_GE(ours.value("process_cpu_seconds_total"), 0);
}

TEST(MetricsTest, TheSameFiguresAreTheSameText) {
  Metrics one({.version = "0.1.0"});
  Metrics other({.version = "0.1.0"});
  use_all(one);
  use_all(other);
  const auto without_process = [](const Metrics& metrics) {
    const std::string text = metrics.text();
    return text.substr(0, text.find("# HELP process_"));
  };
  EXPECT_EQ(without_process(one), without_process(other));
}

TEST(ExpositionParserTest, RefusesWhatPrometheusRefuses) {
  for (const char* text :
       {"a 1", "# TYPE a number\na 1\n", "a 1\n# TYPE a gauge\n", "a 1\na 2\n",
        "a 1\nb 1\na{x=\"1\"} 1\n", "a{x=1} 1\n", "a{x=\"\\t\"} 1\n", "a{x=\"1} 1\n", "a one\n",
        "9a 1\n", "a{x=\"1\",x=\"2\"} 1\n", "# TYPE a counter\na -1\n",
        "# TYPE a gauge\n# TYPE a gauge\na 1\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n"}) {
    EXPECT_THROW(ExpositionParser::parse(text), std::runtime_error) << text;
  }
  EXPECT_NO_THROW(ExpositionParser::parse("# anything\n\na{x=\"\\\\\\\"\\n\",} 1e3\n"));
}

}  // namespace
}  // namespace mkp
