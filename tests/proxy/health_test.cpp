// What load balancers, kubelets and people are told of this node's health.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "proxy/health_pages.h"
#include "proxy/health_targets.h"
#include "proxy/node_eligibility.h"
#include "proxy/proxy_health.h"
#include "proxy/service_health.h"
#include "tests/fakes/fake_clock.h"
#include "tests/proxy/data_cluster.h"
#include "tests/proxy/fake_ports.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr WallTime kNoon = std::chrono::sys_days(std::chrono::year(2026) / 8 / 26) + 10h + 7s;
const ServiceName kWeb{"shop", "web"};
const ServiceName kPay{"bank", "pay"};

class ProxyHealthTest : public testing::Test {
 protected:
  Moment now() const { return {clock_.now(), kNoon + clock_.now().time_since_epoch()}; }
  void update_both() {
    health_.updated(IpFamily::Ipv4);
    health_.updated(IpFamily::Ipv6);
  }

  FakeClock clock_;
  ProxyHealth health_{clock_, 60s};
};

TEST_F(ProxyHealthTest, ThePageIsKubeProxysByteForByte) {
  update_both();
  clock_.advance(1'500ms);
  health_.updated(IpFamily::Ipv6);
  clock_.advance(123'456'789ns);
  const HttpServer::Answer healthz = healthz_page(health_, true, now());
  EXPECT_EQ(healthz.status, 200U);
  EXPECT_EQ(healthz.content_type, "application/json");
  EXPECT_EQ(healthz.body,
            R"({"lastUpdated":"2026-08-26T10:00:08.623456789Z",)"
            R"("currentTime":"2026-08-26T10:00:08.623456789Z","nodeEligible":true,"healthy":true,)"
            R"("status":{"IPv4":{"lastUpdated":"2026-08-26T10:00:07Z","healthy":true},)"
            R"("IPv6":{"lastUpdated":"2026-08-26T10:00:08.5Z","healthy":true}}})");
  EXPECT_EQ(livez_page(health_, now()).body,
            R"({"lastUpdated":"2026-08-26T10:00:08.623456789Z",)"
            R"("currentTime":"2026-08-26T10:00:08.623456789Z","healthy":true,)"
            R"("status":{"IPv4":{"lastUpdated":"2026-08-26T10:00:07Z","healthy":true},)"
            R"("IPv6":{"lastUpdated":"2026-08-26T10:00:08.5Z","healthy":true}}})");
}

TEST_F(ProxyHealthTest, WithoutNewsOfAnyFamilyAnIneligibleNodeWasNeverUpdated) {
  const HttpServer::Answer healthz = healthz_page(health_, false, now());
  EXPECT_EQ(healthz.status, 503U);
  EXPECT_EQ(healthz.body,
            R"({"lastUpdated":"0001-01-01T00:00:00Z","currentTime":"2026-08-26T10:00:07Z",)"
            R"("nodeEligible":false,"healthy":true})");
}

TEST_F(ProxyHealthTest, AFamilyThatFailsFromTheStartTurnsRedInTime) {
  update_both();
  health_.queued(IpFamily::Ipv4);
  clock_.advance(59'999ms);
  EXPECT_TRUE(health_.is_healthy());
  clock_.advance(1ms);
  EXPECT_FALSE(health_.is_healthy());
  EXPECT_TRUE(health_.is_healthy(IpFamily::Ipv6));
  health_.updated(IpFamily::Ipv4);
  EXPECT_TRUE(health_.is_healthy());
}

TEST(NodeEligibilityTest, OnlyANodeThatIsToGoIsNotEligible) {
  NodeEligibility eligibility;
  EXPECT_TRUE(eligibility.is_eligible(UnseenNode::Eligible));
  EXPECT_FALSE(eligibility.is_eligible(UnseenNode::NotEligible));
  Node node;
  eligibility.note(node);
  EXPECT_TRUE(eligibility.is_eligible(UnseenNode::NotEligible));
  node.taint_keys = {"example.org/other", "ToBeDeletedByClusterAutoscaler"};
  eligibility.note(node);
  EXPECT_FALSE(eligibility.is_eligible(UnseenNode::Eligible));
  node.taint_keys.pop_back();
  eligibility.note(node);
  EXPECT_TRUE(eligibility.is_eligible(UnseenNode::NotEligible));
  node.deleting = true;
  eligibility.note(node);
  EXPECT_FALSE(eligibility.is_eligible(UnseenNode::Eligible));
}

class ServiceHealthTest : public testing::Test {
 protected:
  std::string body(const std::string& place) const {
    const auto answer = ports_.ask(place, "/whatever");
    return answer ? std::to_string(answer->status) + " " + answer->body : "closed";
  }

  FakeClock clock_;
  ProxyHealth proxy_{clock_, 60s};
  FakePorts ports_;
  ServiceHealth health_{proxy_, ports_.opener()};
};

TEST_F(ServiceHealthTest, ThePageIsKubeProxysByteForByte) {
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 1}}});
  const HttpServer::Answer answer = *ports_.ask("0.0.0.0:31376");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_THAT(answer.headers, ElementsAre(std::pair<std::string, std::string>(
                                  "X-Load-Balancing-Endpoint-Weight", "1")));
  EXPECT_EQ(answer.body,
            "{\n\t\"service\": {\n\t\t\"namespace\": \"shop\",\n\t\t\"name\": \"web\"\n\t},\n"
            "\t\"localEndpoints\": 1,\n\t\"serviceProxyHealthy\": true\n}");
}

TEST_F(ServiceHealthTest, EachFamilyHasItsOwnPortAndCount) {
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 2}}});
  health_.apply(IpFamily::Ipv6, {{kWeb, HealthTarget{31376, 0}}});
  EXPECT_THAT(ports_.listening(), ElementsAre("0.0.0.0:31376", "[::]:31376"));
  EXPECT_EQ(ports_.ask("0.0.0.0:31376")->status, 200U);
  EXPECT_EQ(ports_.ask("[::]:31376")->status, 503U);
  health_.apply(IpFamily::Ipv4, {{kWeb, std::nullopt}});
  EXPECT_THAT(ports_.listening(), ElementsAre("[::]:31376"));
}

TEST_F(ServiceHealthTest, APortThatGoesFromOneServiceToAnotherStaysOpen) {
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 2}}});
  health_.apply(IpFamily::Ipv4, {{kPay, HealthTarget{31376, 1}}, {kWeb, std::nullopt}});
  EXPECT_THAT(body("0.0.0.0:31376"), testing::HasSubstr("\"pay\""));
  EXPECT_EQ(health_.refused(), 0U);
}

TEST_F(ServiceHealthTest, WhatCannotBeOpenedIsSaidOnceAndOpenedLater) {
  std::vector<std::string> said;
  health_.on_refused([&](const ServiceName& service, const std::string& why) {
    said.push_back(to_text(service) + ": " + why);
  });
  ports_.take("0.0.0.0:31376");
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 2}}, {kPay, HealthTarget{31909, 1}}});
  EXPECT_THAT(ports_.listening(), ElementsAre("0.0.0.0:31909"));
  EXPECT_EQ(health_.refused(), 1U);
  health_.retry();
  EXPECT_THAT(said, ElementsAre("shop/web: healthCheckNodePort 31376 cannot be opened: listen on "
                                "0.0.0.0:31376: Address already in use"));
  ports_.give_back("0.0.0.0:31376");
  health_.retry();
  EXPECT_EQ(health_.refused(), 0U);
  EXPECT_EQ(ports_.ask("0.0.0.0:31376")->status, 200U);  // with the count that it has by now
}

TEST_F(ServiceHealthTest, WhatCouldNotBeOpenedIsForgottenWithItsService) {
  ports_.take("0.0.0.0:31376");
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 2}}});
  health_.apply(IpFamily::Ipv4, {{kWeb, std::nullopt}});
  EXPECT_EQ(health_.refused(), 0U);
  ports_.give_back("0.0.0.0:31376");
  health_.retry();
  EXPECT_THAT(ports_.listening(), IsEmpty());
}

TEST_F(ServiceHealthTest, ItListensWhereTheNodeHasAddressesForIt) {
  health_.listen_on(IpFamily::Ipv4, std::vector{ip("10.20.0.11"), ip("127.0.0.1")});
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 2}}});
  EXPECT_THAT(ports_.listening(), ElementsAre("10.20.0.11:31376", "127.0.0.1:31376"));
  health_.listen_on(IpFamily::Ipv4, std::vector{ip("10.20.0.11"), ip("10.20.1.11")});
  EXPECT_THAT(ports_.listening(), ElementsAre("10.20.0.11:31376", "10.20.1.11:31376"));
  EXPECT_EQ(ports_.ask("10.20.1.11:31376")->status, 200U);
  // At one it cannot: the other answers all the same.
  ports_.take("10.20.9.11:31376");
  health_.listen_on(IpFamily::Ipv4, std::vector{ip("10.20.0.11"), ip("10.20.9.11")});
  EXPECT_THAT(ports_.listening(), ElementsAre("10.20.0.11:31376"));
  EXPECT_EQ(health_.refused(), 1U);
  health_.listen_on(IpFamily::Ipv4, std::vector<IpAddress>{});
  EXPECT_THAT(ports_.listening(), IsEmpty());
  EXPECT_EQ(health_.refused(), 0U);
  health_.listen_on(IpFamily::Ipv4, std::nullopt);
  EXPECT_THAT(ports_.listening(), ElementsAre("0.0.0.0:31376"));
}

TEST_F(ServiceHealthTest, AServiceWithoutAPortOpensNone) {
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{31376, 2}}});
  testing::internal::CaptureStdout();  // where the log is unless it is set up
  health_.apply(IpFamily::Ipv4, {{kWeb, HealthTarget{0, 2}}});
  health_.apply(IpFamily::Ipv6, {{kWeb, HealthTarget{0, 1}}});
  EXPECT_THAT(ports_.listening(), IsEmpty());
  const std::string log = testing::internal::GetCapturedStdout();
  const std::string warning = "Service shop/web: spec.healthCheckNodePort is not set";
  EXPECT_NE(log.find(warning), std::string::npos) << log;
  EXPECT_EQ(log.find(warning), log.rfind(warning)) << log;
}

TEST(HealthPortAddressesTest, AreThoseThatNodePortAddressesNames) {
  NodeFacts facts;
  facts.node.ips = {ip("10.20.0.11"), ip("fd20::11")};
  facts.addresses = {ip("10.20.0.11"), ip("10.20.9.11"), ip("127.0.0.1"),
                     ip("::1"),        ip("fd20::11"),   ip("fe80::1")};
  const auto texts = [&](NodePortAddresses asked, IpFamily family) {
    Config config;
    config.node_port_addresses = std::move(asked);
    std::set<std::string> all;
    const auto addresses = health_port_addresses(config, facts, family);
    if (!addresses) return std::set<std::string>{"all"};
    for (const IpAddress& one : *addresses) all.insert(to_text(one));
    return all;
  };
  EXPECT_THAT(texts({.primary = true, .prefixes = {}}, IpFamily::Ipv4), ElementsAre("10.20.0.11"));
  EXPECT_THAT(texts({.primary = true, .prefixes = {}}, IpFamily::Ipv6), ElementsAre("fd20::11"));
  EXPECT_THAT(texts({}, IpFamily::Ipv4), ElementsAre("all"));
  const NodePortAddresses ranges{
      .primary = false,
      .prefixes = {*parse_ip_prefix("127.0.0.0/8"), *parse_ip_prefix("10.20.9.0/24"),
                   *parse_ip_prefix("fe80::/10")}};
  EXPECT_THAT(texts(ranges, IpFamily::Ipv4), ElementsAre("10.20.9.11", "127.0.0.1"));
  EXPECT_THAT(texts(ranges, IpFamily::Ipv6), IsEmpty());  // link-local needs its interface
  const NodePortAddresses everything{.primary = false, .prefixes = {*parse_ip_prefix("::/0")}};
  EXPECT_THAT(texts(everything, IpFamily::Ipv6), ElementsAre("all"));
  facts.node.ips = {ip("10.99.0.1")};
  EXPECT_THAT(texts({.primary = true, .prefixes = {}}, IpFamily::Ipv4), IsEmpty());
  facts.node.ips = {};
  EXPECT_THAT(texts({.primary = true, .prefixes = {}}, IpFamily::Ipv4), ElementsAre("all"));
}

TEST(HealthTargetsTest, WhatAFailedSyncTouchedIsTakenUpByTheNext) {
  DataCluster cluster;
  cluster.node("worker-1", "", {});
  cluster.apply(R"(
apiVersion: v1
kind: Service
metadata: {namespace: shop, name: web}
spec:
  type: LoadBalancer
  clusterIP: 10.96.14.1
  externalTrafficPolicy: Local
  healthCheckNodePort: 31500
  ports: [{port: 80}]
)");
  cluster.sync();
  HealthTargets targets(IpFamily::Ipv4);
  HealthTargets other_family(IpFamily::Ipv6);
  targets.note({kWeb});
  other_family.note({kWeb});
  targets.note({});
  EXPECT_THAT(targets.update(cluster.state()),
              ElementsAre(HealthTargetChange{kWeb, HealthTarget{31500, 0}}));
  EXPECT_THAT(other_family.update(cluster.state()), IsEmpty());
  targets.note({kWeb});
  EXPECT_THAT(targets.update(cluster.state()), IsEmpty());  // as it was
}

}  // namespace
}  // namespace mkp
