// conformance/healthcheck.yaml, played with the daemon's own parts: only clock and sockets are
// fakes.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <ostream>

#include "proxy/health_pages.h"
#include "proxy/health_targets.h"
#include "proxy/node_eligibility.h"
#include "proxy/service_health.h"
#include "tests/fakes/fake_clock.h"
#include "tests/proxy/data_cluster.h"
#include "tests/proxy/fake_ports.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

struct HealthCase {
  std::string name;
  YAML::Node yaml;
};
void PrintTo(const HealthCase& one, std::ostream* out) { *out << one.name; }

std::vector<HealthCase> cases_of(const std::string& kind) {
  std::vector<HealthCase> cases;
  for (const YAML::Node& yaml : YAML::LoadFile(MKP_CONFORMANCE_DIR "/healthcheck.yaml")) {
    if (yaml["kind"].as<std::string>() == kind) {
      cases.push_back({yaml["name"].as<std::string>(), yaml});
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<HealthCase>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

IpFamily family_of(const YAML::Node& text) {
  return text.as<std::string>() == "IPv6" ? IpFamily::Ipv6 : IpFamily::Ipv4;
}

std::set<std::string> texts_of(const YAML::Node& list) {
  std::set<std::string> all;
  for (const YAML::Node& one : list) all.insert(one.as<std::string>());
  return all;
}

ServiceName service_of(const YAML::Node& text) {
  const auto name = text.as<std::string>();
  const std::size_t slash = name.find('/');
  return {name.substr(0, slash), name.substr(slash + 1)};
}

// --- the proxy's own health ---

class ProxyHealthCases : public testing::TestWithParam<HealthCase> {
 protected:
  void happen(const YAML::Node& event) {
    if (event["queued"]) health_.queued(family_of(event["queued"]));
    if (event["updated"]) health_.updated(family_of(event["updated"]));
    if (event["advanceSeconds"]) clock_.advance(1s * event["advanceSeconds"].as<int>());
    if (!event["node"]) return;
    Node node;
    for (const YAML::Node& key : event["node"]["taints"]) {
      node.taint_keys.push_back(key.as<std::string>());
    }
    node.deleting = event["node"]["deleted"].as<bool>();
    eligibility_.note(node);
  }
  void check(const YAML::Node& expect) {
    const Moment now{clock_.now(), kStart + clock_.now().time_since_epoch()};
    const bool eligible = eligibility_.is_eligible(UnseenNode::Eligible);
    const HttpServer::Answer healthz = healthz_page(health_, eligible, now);
    const HttpServer::Answer livez = livez_page(health_, now);
    EXPECT_EQ(healthz.status, expect["healthz"].as<unsigned>());
    EXPECT_EQ(livez.status, expect["livez"].as<unsigned>());
    const YAML::Node body = YAML::Load(healthz.body);
    EXPECT_EQ(body["nodeEligible"].as<bool>(), expect["nodeEligible"].as<bool>());
    EXPECT_FALSE(YAML::Load(livez.body)["nodeEligible"]);
    for (const YAML::Node& page : {body, YAML::Load(livez.body)}) {
      EXPECT_EQ(page["healthy"].as<bool>(), expect["healthy"].as<bool>());
      EXPECT_EQ(page["status"].IsDefined(), expect["proxiers"].IsDefined());
      if (!expect["proxiers"]) continue;
      EXPECT_EQ(page["status"].size(), expect["proxiers"].size());
      for (const auto& entry : expect["proxiers"]) {
        EXPECT_EQ(page["status"][entry.first.as<std::string>()]["healthy"].as<bool>(),
                  entry.second.as<bool>());
      }
    }
    if (!expect["lastUpdated"]) return;
    EXPECT_EQ(parse_wall_time(body["lastUpdated"].as<std::string>()),
              kStart + 1s * expect["lastUpdated"].as<int>());
  }

  static constexpr WallTime kStart = std::chrono::sys_days(std::chrono::year(2026) / 8 / 26);
  FakeClock clock_;
  ProxyHealth health_{clock_, 1s * GetParam().yaml["healthTimeoutSeconds"].as<int>()};
  NodeEligibility eligibility_;
};

TEST_P(ProxyHealthCases, AnswersSo) {
  for (const YAML::Node& step : GetParam().yaml["steps"]) {
    SCOPED_TRACE(step["about"].as<std::string>());
    for (const YAML::Node& event : step["do"]) happen(event);
    check(step["expect"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, ProxyHealthCases, testing::ValuesIn(cases_of("proxyHealth")),
                         case_name);

// --- the ports of Services ---

class ServiceHealthCases : public testing::TestWithParam<HealthCase> {
 protected:
  ServiceHealthCases() {
    proxy_.updated(IpFamily::Ipv4);
    Config config;
    config.node_port_addresses = {};
    for (const YAML::Node& prefix : yaml()["config"]["nodePortAddresses"]) {
      config.node_port_addresses.prefixes.push_back(
          parse_ip_prefix(prefix.as<std::string>()).value());
    }
    NodeFacts facts;
    facts.addresses = {ip("127.0.0.1")};
    if (yaml()["node"]) {
      for (const YAML::Node& one : yaml()["node"]["ips"]) {
        facts.addresses.push_back(ip(one.as<std::string>()));
      }
      cluster_.node(yaml()["node"]["name"].as<std::string>(), "", facts.addresses);
    }
    health_.listen_on(IpFamily::Ipv4, health_port_addresses(config, facts, IpFamily::Ipv4));
  }
  const YAML::Node& yaml() const { return GetParam().yaml; }

  void play(const YAML::Node& step) {
    if (step["objects"] || step["apply"]) apply_objects(step);
    if (step["services"]) set_services(step["services"]);
    if (step["localEndpoints"]) set_counts(step["localEndpoints"]);
    if (step["proxyHealthy"]) set_healthy(step["proxyHealthy"].as<bool>());
    if (step["expect"]) check(step["expect"]);
  }

 private:
  void apply_objects(const YAML::Node& step) {
    for (const char* key : {"objects", "apply"}) {
      if (step[key]) cluster_.apply(step[key].as<std::string>());
    }
    cluster_.sync();
    targets_.note(cluster_.state().names());
    health_.apply(IpFamily::Ipv4, targets_.update(cluster_.state()));
  }
  void set_services(const YAML::Node& services) {
    std::map<ServiceName, std::uint16_t> wanted;
    for (const auto& entry : services) {
      wanted[service_of(entry.first)] = entry.second.as<std::uint16_t>();
    }
    for (const auto& [service, port] : services_) {
      if (!wanted.contains(service)) health_.close(IpFamily::Ipv4, service);
    }
    for (const auto& [service, port] : wanted) health_.open(IpFamily::Ipv4, service, port);
    services_ = wanted;
  }
  void set_counts(const YAML::Node& counts) {
    for (const auto& [service, port] : services_) {
      if (!counts[to_text(service)]) health_.set_local_endpoints(IpFamily::Ipv4, service, 0);
    }
    for (const auto& entry : counts) {
      health_.set_local_endpoints(IpFamily::Ipv4, service_of(entry.first),
                                  entry.second.as<std::size_t>());
    }
  }
  void set_healthy(bool healthy) {
    if (healthy) {
      proxy_.updated(IpFamily::Ipv4);
    } else {
      proxy_.queued(IpFamily::Ipv4);
      clock_.advance(60s);
    }
  }
  void check(const YAML::Node& expect) {
    if (expect["listening"]) {
      EXPECT_EQ(ports_.listening(), texts_of(expect["listening"]));
    }
    std::set<std::string> answered;
    for (const std::string& place : ports_.listening()) {
      const HttpServer::Answer answer = *ports_.ask(place);
      const YAML::Node body = YAML::Load(answer.body);
      const std::string service = body["service"]["namespace"].as<std::string>() + "/" +
                                  body["service"]["name"].as<std::string>();
      SCOPED_TRACE(service);
      answered.insert(service);
      const YAML::Node response = expect["responses"][service];
      ASSERT_TRUE(response);
      EXPECT_EQ(answer.status, response["status"].as<unsigned>());
      EXPECT_EQ(body["localEndpoints"].as<int>(), response["localEndpoints"].as<int>());
      EXPECT_EQ(body["serviceProxyHealthy"].as<bool>(), response["serviceProxyHealthy"].as<bool>());
      ASSERT_EQ(answer.headers.size(), 1U);
      EXPECT_EQ(answer.headers[0].first, "X-Load-Balancing-Endpoint-Weight");
      EXPECT_EQ(answer.headers[0].second, response["weight"].as<std::string>());
    }
    EXPECT_EQ(answered.size(), expect["responses"].size());
  }

  FakeClock clock_;
  ProxyHealth proxy_{clock_, 60s};
  FakePorts ports_;
  ServiceHealth health_{proxy_, ports_.opener()};
  DataCluster cluster_;
  HealthTargets targets_{IpFamily::Ipv4};
  std::map<ServiceName, std::uint16_t> services_;
};

TEST_P(ServiceHealthCases, AnswerSo) {
  play(yaml());
  for (const YAML::Node& step : yaml()["steps"]) {
    SCOPED_TRACE(step["about"].as<std::string>());
    play(step);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, ServiceHealthCases, testing::ValuesIn(cases_of("serviceHealth")),
                         case_name);

}  // namespace
}  // namespace mkp
