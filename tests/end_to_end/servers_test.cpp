// What the built program answers to those who look at a node: the kubelet, load balancers,
// Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <list>

#include "runner/wall_time.h"
#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/manifest_files.h"
#include "tests/end_to_end/program_run.h"
#include "tests/packets/program.h"
#include "tests/runner/exposition.h"
#include "tests/runner/http_client.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kReady = "the rules of this node are in place";
constexpr std::uint16_t kHealth = 10256;
constexpr std::uint16_t kMetrics = 10249;
constexpr std::uint16_t kWebHealth = 31500;
constexpr milliseconds kGoal{200};

// Another program's listening socket.
class Decoy {
 public:
  explicit Decoy(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;  // connections that have ended are no listeners
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
  }
  ~Decoy() { ::close(socket_); }
  Decoy(const Decoy&) = delete;
  Decoy& operator=(const Decoy&) = delete;

 private:
  int socket_;
};

// The answer to one GET; "refused" where nobody listens.
std::string ask(std::uint16_t port, const std::string& path,
                const std::string& address = "127.0.0.1") {
  HttpClient client(port, address);
  if (!client.connected()) return "refused";
  client.send("GET " + path + " HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n");
  eventually([&] { return !client.receive(); });
  return client.received();
}

std::string status(std::uint16_t port, const std::string& path = "/") {
  const std::string answer = ask(port, path);
  return answer.starts_with("HTTP/1.1 ") ? answer.substr(9, 3) : answer;
}

std::string body(const std::string& answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string::npos ? "" : answer.substr(head + 4);
}

bool becomes(std::uint16_t port, const std::string& path, const std::string& wanted) {
  return eventually([&] { return status(port, path) == wanted; });
}

std::string web(const std::string& policy) {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
         "spec:\n  type: LoadBalancer\n  clusterIP: 172.30.0.10\n  externalTrafficPolicy: " +
         policy + "\n" + (policy == "Local" ? "  healthCheckNodePort: 31500\n" : "") +
         "  ports:\n  - {name: http, port: 80, nodePort: 30080}\n"
         "status: {loadBalancer: {ingress: [{ip: 198.51.100.1}]}}\n";
}

std::string slice(const std::string& node, const std::string& conditions = "ready: true",
                  const std::string& annotations = "") {
  return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
         "metadata:\n  name: web-1\n  labels: {kubernetes.io/service-name: web}\n"
         "  annotations: {" +
         annotations + "}\naddressType: IPv4\nports: [{name: http, port: 8080}]\n" +
         "endpoints: [{addresses: [10.180.0.2], nodeName: " + node + ", conditions: {" +
         conditions + "}}]\n";
}

milliseconds median(std::vector<milliseconds> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Action>
milliseconds time_of(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
}

class ServersTest : public testing::Test {
 protected:
  ServersTest() {
    EXPECT_TRUE(packets::run_program({"ip", "link", "set", "lo", "up"}));
    kernel_.remove_tables();
    files_.write("web.yaml", web("Local"));
    files_.write("web-1.yaml", slice("node-a"));
  }
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"--config", files_.config(), "--manifests", files_.path()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string config(const std::string& more) const {
    const std::string path = files_.path() + "/../servers.yaml";
    std::ofstream(path) << std::ifstream(files_.config()).rdbuf() << more << "\n";
    return path;
  }

  KernelView kernel_;
  ManifestFiles files_;
};

TEST_F(ServersTest, HealthAndMetricsAreToBeHad) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  for (const char* address : {"127.0.0.1", "::1"}) {
    const std::string healthz = ask(kHealth, "/healthz", address);
    EXPECT_THAT(healthz, StartsWith("HTTP/1.1 200 OK\r\n"));
    const YAML::Node page = YAML::Load(body(healthz));
    EXPECT_TRUE(page["healthy"].as<bool>());
    EXPECT_TRUE(page["nodeEligible"].as<bool>());
    EXPECT_TRUE(page["status"]["IPv4"]["healthy"].as<bool>());
    EXPECT_TRUE(page["status"]["IPv6"]["healthy"].as<bool>());
  }
  EXPECT_EQ(status(kHealth, "/livez"), "200");
  EXPECT_EQ(status(kHealth, "/"), "404");

  EXPECT_EQ(body(ask(kMetrics, "/proxyMode")), "nftables");
  EXPECT_EQ(body(ask(kMetrics, "/healthz")), "ok");
  EXPECT_EQ(body(ask(kMetrics, "/healthz?verbose")), "[+]ping ok\nhealthz check passed\n");
  const YAML::Node configz = YAML::Load(body(ask(kMetrics, "/configz")));
  EXPECT_EQ(configz["kubeproxy.config.k8s.io"]["hostnameOverride"].as<std::string>(), "node-a");
  EXPECT_EQ(configz["kubeproxy.config.k8s.io"]["kind"].as<std::string>(), "KubeProxyConfiguration");
  EXPECT_EQ(ask(kMetrics, "/metrics", "::1"), "refused");  // 127.0.0.1 is all it was given

  const std::string scrape = ask(kMetrics, "/metrics");
  EXPECT_THAT(scrape, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  const Exposition metrics = ExpositionParser::parse(body(scrape));
  EXPECT_EQ(metrics.value("kubeproxy_proxy_healthz_total", {{"code", "200"}}), 2);
  for (const char* family : {"IPv4", "IPv6"}) {
    const Exposition::Labels labels{{"ip_family", family}};
    EXPECT_GE(metrics.value("kubeproxy_sync_full_proxy_rules_duration_seconds_count", labels), 1);
    EXPECT_GT(metrics.value("kubeproxy_sync_proxy_rules_last_timestamp_seconds", labels), 1.7e9);
    EXPECT_GT(metrics.value("kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds", labels),
              1.7e9);
  }
  EXPECT_EQ(metrics.value("kubeproxy_sync_proxy_rules_service_changes_total"), 1);
  EXPECT_EQ(metrics.value("kubeproxy_sync_proxy_rules_endpoint_changes_pending"), 0);
}

TEST_F(ServersTest, ChangesShowInTheMetrics) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  const Exposition::Labels ipv4{{"ip_family", "IPv4"}};
  const auto value = [&](const std::string& name, const Exposition::Labels& labels) {
    return ExpositionParser::parse(body(ask(kMetrics, "/metrics"))).value(name, labels);
  };
  files_.write("web-1.yaml", slice("node-b", "ready: true",
                                   "endpoints.kubernetes.io/last-change-trigger-time: \"" +
                                       to_text(wall_now()) + "\""));
  EXPECT_TRUE(eventually([&] {
    return value("kubeproxy_sync_proxy_rules_no_local_endpoints_total",
                 {{"ip_family", "IPv4"}, {"traffic_policy", "external"}}) == 1;
  }));
  EXPECT_EQ(value("kubeproxy_network_programming_duration_seconds_count", ipv4), 1);
  EXPECT_LT(value("kubeproxy_network_programming_duration_seconds_sum", ipv4), 5);
  EXPECT_GE(value("kubeproxy_sync_partial_proxy_rules_duration_seconds_count", ipv4), 1);
  EXPECT_TRUE(std::isnan(
      value("kubeproxy_network_programming_duration_seconds_count", {{"ip_family", "IPv6"}})));
}

TEST_F(ServersTest, TheHealthPortOfAServiceFollowsItsEndpointsAndItsPolicy) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  const std::string healthy = ask(kWebHealth, "/");
  EXPECT_THAT(healthy, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(healthy, HasSubstr("\r\nX-Load-Balancing-Endpoint-Weight: 1\r\n"));
  EXPECT_THAT(
      healthy,
      EndsWith("{\n\t\"service\": {\n\t\t\"namespace\": \"default\",\n\t\t\"name\": "
               "\"web\"\n\t},\n\t\"localEndpoints\": 1,\n\t\"serviceProxyHealthy\": true\n}"));
  // Still serving, and traffic goes there; but a load balancer is to look elsewhere (KEP-1669).
  files_.write("web-1.yaml", slice("node-a", "ready: false, serving: true, terminating: true"));
  EXPECT_TRUE(becomes(kWebHealth, "/", "503"));
  files_.write("web-1.yaml", slice("node-a"));
  EXPECT_TRUE(becomes(kWebHealth, "/", "200"));
  files_.write("web-1.yaml", slice("node-b"));
  EXPECT_TRUE(becomes(kWebHealth, "/", "503"));
  files_.write("web.yaml", web("Cluster"));
  EXPECT_TRUE(becomes(kWebHealth, "/", "refused"));
  files_.write("web.yaml", web("Local"));
  EXPECT_TRUE(becomes(kWebHealth, "/", "503"));
  files_.remove("web.yaml");
  EXPECT_TRUE(becomes(kWebHealth, "/", "refused"));
}

TEST_F(ServersTest, AHealthPortThatIsTakenIsOpenedOnceItIsFree) {
  auto decoy = std::make_unique<Decoy>(kWebHealth);
  ProgramRun daemon(arguments());
  ASSERT_TRUE(
      daemon.says("Service default/web: healthCheckNodePort 31500 cannot be opened: listen "
                  "on 0.0.0.0:31500: Address already in use"));
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  EXPECT_THAT(body(ask(kMetrics, "/metrics")),
              HasSubstr("mini_kube_proxy_refused_health_ports 1\n"));
  decoy.reset();
  EXPECT_TRUE(daemon.says("Service default/web: healthCheckNodePort 31500 is open now"));
  EXPECT_EQ(status(kWebHealth), "200");
}

TEST_F(ServersTest, ANodeThatIsToGoIsTakenOutOfUseAndItsProxyIsNotKilled) {
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n";
  files_.write(
      "node.yaml",
      node + "spec: {taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]}\n");
  EXPECT_TRUE(becomes(kHealth, "/healthz", "503"));
  EXPECT_EQ(status(kHealth, "/livez"), "200");
  EXPECT_EQ(status(kWebHealth), "200");
  EXPECT_THAT(ask(kHealth, "/healthz"), HasSubstr(R"("nodeEligible":false,"healthy":true)"));
  files_.write("node.yaml", node);
  EXPECT_TRUE(becomes(kHealth, "/healthz", "200"));
}

TEST_F(ServersTest, ATakenAddressIsWaitedForUnlessItIsToBeFatal) {
  auto decoy = std::make_unique<Decoy>(kHealth);
  {
    ProgramRun daemon(arguments());
    EXPECT_TRUE(daemon.says("healthzBindAddress: listen on 0.0.0.0:10256: Address already in use"));
    ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
    EXPECT_EQ(body(ask(kMetrics, "/healthz")), "ok");
    decoy.reset();
    EXPECT_TRUE(becomes(kHealth, "/healthz", "200"));
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0);
  }
  for (const std::uint16_t port : {kHealth, kMetrics}) {
    decoy = std::make_unique<Decoy>(port);
    ProgramRun daemon(
        {"--config", config("bindAddressHardFail: true"), "--manifests", files_.path()});
    EXPECT_EQ(daemon.wait(), 1);
    EXPECT_THAT(daemon.standard_error(), HasSubstr("bindAddressHardFail is set"));
    EXPECT_THAT(daemon.standard_error(),
                HasSubstr(std::to_string(port) + ": Address already in use"));
  }
}

TEST_F(ServersTest, WhoSyncsOnceOpensNoPort) {
  const Decoy health(kHealth);
  const Decoy metrics(kMetrics);
  ProgramRun once(
      {"--config", config("bindAddressHardFail: true"), "--manifests", files_.path(), "--once"});
  EXPECT_EQ(once.wait(), 0) << once.standard_error();
}

TEST_F(ServersTest, IdleAndHalfOpenConnectionsDelayNeitherASyncNorAnAnswer) {
  rlimit room{};
  ::getrlimit(RLIMIT_NOFILE, &room);
  room.rlim_cur = room.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &room), 0);
  ProgramRun daemon(arguments());
  ASSERT_TRUE(daemon.says(kReady)) << daemon.standard_error();
  std::list<HttpClient> crowd;
  for (const std::uint16_t port : {kHealth, kMetrics, kWebHealth}) {
    for (int i = 0; i < 500; ++i) {
      crowd.emplace_back(port);
      crowd.emplace_back(port);
      crowd.back().send("GET /healthz HTTP/1.1\r\nHo");
    }
  }
  std::vector<milliseconds> syncs;
  std::vector<milliseconds> answers;
  for (int i = 0; i < 9; ++i) {
    const std::string wanted = i % 2 == 0 ? "503" : "200";
    files_.write("web-1.yaml", slice(i % 2 == 0 ? "node-b" : "node-a"));
    syncs.push_back(time_of([&] { EXPECT_TRUE(becomes(kWebHealth, "/", wanted)); }));
    answers.push_back(time_of([&] { EXPECT_EQ(status(kHealth, "/healthz"), "200"); }));
    answers.push_back(time_of([&] { EXPECT_EQ(status(kMetrics, "/metrics"), "200"); }));
  }
  std::cout << "beside 3,000 connections: a change is synced and told within "
            << median(syncs).count() << " ms, a page within " << median(answers).count()
            << " ms (medians)\n";
  EXPECT_LT(median(syncs), kGoal);
  EXPECT_LT(median(answers), kGoal);
  const Exposition metrics = ExpositionParser::parse(body(ask(kMetrics, "/metrics")));
  EXPECT_LT(metrics.value("process_open_fds"), 250);
}

}  // namespace
}  // namespace mkp
