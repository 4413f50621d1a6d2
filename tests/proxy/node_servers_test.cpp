#include "proxy/node_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <filesystem>

#include "informer/manifest_source.h"
#include "tests/fakes/fake_clock.h"
#include "tests/runner/exposition.h"
#include "tests/runner/http_client.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr IpAddress kLoopback{IpFamily::Ipv4, {127, 0, 0, 1}};

// The servers on real sockets and fake time; syncs are what the test says.
class NodeServersTest : public testing::Test {
 protected:
  NodeServersTest() {
    config_.healthz_bind_address = {kLoopback, free_port()};
    config_.metrics_bind_address = {kLoopback, free_port()};
    servers_ = std::make_unique<NodeServers>(
        NodeServers::Setup{config_, "0.1.0", {IpFamily::Ipv6, IpFamily::Ipv4}, feed_, clock_},
        loop_.get_executor());
    asio::co_spawn(loop_, servers_->run(), asio::detached);
    (void)feed_.take();  // what the first sync takes
  }
  std::uint16_t free_port() {
    return HttpServer::open(loop_.get_executor(), clock_, {kLoopback, 0}, HttpRoutes())
        .value()
        ->port();
  }
  std::string ask(std::uint16_t port, const std::string& path) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    settle();
    HttpClient client(port);
    client.send("GET " + path + " HTTP/1.0\r\n\r\n");
    while (client.receive() && std::chrono::steady_clock::now() < deadline) settle();
    return client.received();
  }
  std::string healthz() { return ask(config_.healthz_bind_address.port, "/healthz").substr(9, 3); }
  double metric(const std::string& name, const Exposition::Labels& labels = {}) {
    const std::string answer = ask(config_.metrics_bind_address.port, "/metrics");
    return ExpositionParser::parse(answer.substr(answer.find("\r\n\r\n") + 4)).value(name, labels);
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }
  void synced(IpFamily family, bool succeeded) {
    FamilyOutcome outcome;
    outcome.family = family;
    outcome.succeeded = succeeded;
    servers_->note_outcomes({outcome});
  }

  FakeClock clock_;
  Config config_;
  ManifestSource source_{std::filesystem::temp_directory_path().string()};
  ClusterFeed feed_{[this](ObjectKind kind) -> ObjectSource& { return source_.source(kind); },
                    clock_, "node-a", std::nullopt};
  asio::io_context loop_;
  std::unique_ptr<NodeServers> servers_;  // its ports close before their loop goes
};

const Exposition::Labels kIpv4{{"ip_family", "IPv4"}};

TEST_F(NodeServersTest, RulesThatNeverComeTurnHealthRedAfterTwoSyncPeriods) {
  EXPECT_EQ(healthz(), "200");
  clock_.advance(59s);
  synced(IpFamily::Ipv4, true);
  synced(IpFamily::Ipv6, false);
  EXPECT_EQ(healthz(), "200");
  clock_.advance(1s);
  EXPECT_EQ(healthz(), "503");
  synced(IpFamily::Ipv6, true);
  clock_.advance(24h);
  EXPECT_EQ(healthz(), "200");
  servers_->note_queued();
  clock_.advance(60s);
  EXPECT_EQ(healthz(), "503");
  EXPECT_EQ(metric("kubeproxy_proxy_healthz_total", {{"code", "503"}}), 2);
  EXPECT_EQ(
      metric("kubeproxy_sync_proxy_rules_nftables_sync_failures_total", {{"ip_family", "IPv6"}}),
      1);
}

TEST_F(NodeServersTest, ACleanupThatFailsIsCountedAndNoSync) {
  FamilyOutcome outcome;
  outcome.kind = FamilyOutcome::Kind::Cleanup;
  servers_->note_outcomes({outcome});
  EXPECT_EQ(metric("kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total", kIpv4), 1);
  EXPECT_TRUE(std::isnan(metric("kubeproxy_sync_proxy_rules_duration_seconds_count", kIpv4)));
}

TEST_F(NodeServersTest, TheTimeFromAChangeToItsRulesIsTakenOncePerChangeThatSaysWhen) {
  const auto slice = [](const std::string& changed, AddressType type = AddressType::Ipv4) {
    auto made = std::make_shared<EndpointSlice>();
    made->address_type = type;
    made->last_change_trigger_time = changed;
    return made;
  };
  const std::string now = to_text(wall_now());
  ClusterChanges changes;
  changes.slices = {{nullptr, slice(now)},
                    {slice(""), slice(now)},
                    {slice(now), slice(now)},                  // says nothing new
                    {slice(now), nullptr},                     // goes
                    {nullptr, slice("2020-01-01T00:00:00Z")},  // from before this process
                    {nullptr, slice("yesterday")},
                    {nullptr, slice("")},
                    {nullptr, slice(now, AddressType::Ipv6)}};
  const std::string count = "kubeproxy_network_programming_duration_seconds_count";
  servers_->note_taken(changes);
  synced(IpFamily::Ipv4, true);
  EXPECT_EQ(metric(count, kIpv4), 2);
  synced(IpFamily::Ipv4, true);
  EXPECT_EQ(metric(count, kIpv4), 2);
  // Of a sync that fails they are lost.
  servers_->note_taken(changes);
  synced(IpFamily::Ipv4, false);
  synced(IpFamily::Ipv4, true);
  EXPECT_EQ(metric(count, kIpv4), 2);
}

TEST_F(NodeServersTest, AHealthPortOpensWithTheSyncThatBringsIt) {
  FamilyOutcome outcome;
  outcome.succeeded = true;
  const std::uint16_t port = free_port();
  outcome.health_targets = {{{"shop", "web"}, HealthTarget{port, 3}}};
  servers_->note_outcomes({outcome});
  EXPECT_THAT(ask(port, "/"), HasSubstr("X-Load-Balancing-Endpoint-Weight: 3\r\n"));
  outcome.health_targets = {{{"shop", "web"}, std::nullopt}};
  servers_->note_outcomes({outcome});
  EXPECT_FALSE(HttpClient(port).connected());
}

}  // namespace
}  // namespace mkp
