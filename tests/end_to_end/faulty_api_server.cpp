#include "tests/end_to_end/faulty_api_server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "configs/load.h"
#include "proxy/node_rules.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/packets/program.h"
#include "tests/proxy/live_text.h"

namespace mkp {
namespace {

constexpr int kNames = 40;
constexpr const char* kNodeIp = "192.168.0.1";

std::filesystem::path fresh_directory() {
  std::string pattern = "/dev/shm/mkp-api-XXXXXX";
  return ::mkdtemp(pattern.data());
}

void run_nft(const std::string& commands) {
  const auto done = packets::run_program({"nft", "-f", "-"}, commands);
  EXPECT_TRUE(done) << done.error().what;
}

IpAddress ip(const char* text) { return parse_ip_address(text).value_or(IpAddress{}); }

NodeFacts facts() {
  NodeFacts facts;
  facts.node.name = "node-a";
  facts.node.ips = {ip(kNodeIp)};
  facts.addresses = {ip("127.0.0.1"), ip("::1")};
  return facts;
}

std::string cluster_ip(int number) { return "172.30.0." + std::to_string(10 + number); }

}  // namespace

FaultyApiServer::FaultyApiServer(unsigned seed) : directory_(fresh_directory()), random_(seed) {
  const auto lo = packets::run_program({"ip", "link", "set", "lo", "up"});
  EXPECT_TRUE(lo) << lo.error().what;
  write("ca.crt", authority_.certificate());
  rotate_token();
  rotate_certificate();
  server_.start();
  // No client may happen to have the server's port while the server is away.
  const std::string port =
      std::to_string(server_.with([](api::TestApiServer& server) { return server.port(); }));
  const auto reserved =
      packets::run_program({"sysctl", "-qw", "net.ipv4.ip_local_reserved_ports=" + port});
  EXPECT_TRUE(reserved) << reserved.error().what;
  const std::string url = server_.with([](api::TestApiServer& server) { return server.url(); });
  write("kubeconfig",
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
        "clusters: [{name: test, cluster: {certificate-authority: ca.crt, server: \"" +
            url +
            "\"}}]\n"
            "users: [{name: node, user: {tokenFile: token}}]\n"
            "contexts: [{name: test, context: {cluster: test, user: node}}]\n");
  write("config.yaml",
        "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"
        "clusterCIDR: 10.180.0.0/16\nhostnameOverride: node-a\nnftables: {minSyncPeriod: 0s}\n"
        "clientConnection: {kubeconfig: " +
            (directory_ / "kubeconfig").string() + "}\n");
  Node node;
  node.metadata.name = "node-a";
  node.internal_ips = {kNodeIp};
  server_.with([&](api::TestApiServer& server) { server.store().put(api::draft(node)); });
  put_service("marker", 80);
  mark();
  for (int i = 0; i < kNames * 4; ++i) change_something();
}

FaultyApiServer::~FaultyApiServer() { std::filesystem::remove_all(directory_); }

void FaultyApiServer::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path path = directory_ / name;
  std::ofstream(path.string() + ".new") << text;
  std::filesystem::permissions(path.string() + ".new", std::filesystem::perms::owner_read);
  std::filesystem::rename(path.string() + ".new", path);
}

void FaultyApiServer::put_service(const std::string& name, int port) {
  Service service;
  service.metadata.name_space = "default";
  service.metadata.name = name;
  service.cluster_ip = cluster_ip(name == "marker" ? 200 : std::stoi(name.substr(1)));
  service.cluster_ips = {service.cluster_ip};
  service.ip_families = {AddressType::Ipv4};
  service.ports = {{.name = "http",
                    .protocol = Protocol::Tcp,
                    .port = static_cast<std::uint16_t>(port),
                    .node_port = 0}};
  services_[name] = service;
  server_.with([&](api::TestApiServer& server) { server.store().put(api::draft(service)); });
}

void FaultyApiServer::put_endpoints(const std::string& name,
                                    const std::vector<std::string>& addresses) {
  EndpointSlice slice;
  slice.metadata.name_space = "default";
  slice.metadata.name = name + "-x";
  slice.service_name = name;
  slice.ports = {{.name = "http", .port = 8080, .protocol = Protocol::Tcp}};
  for (const std::string& address : addresses) {
    EndpointSlice::Endpoint endpoint;
    endpoint.address = address;
    endpoint.node_name = "node-b";
    slice.endpoints.push_back(endpoint);
  }
  slices_[name] = slice;
  server_.with([&](api::TestApiServer& server) { server.store().put(api::draft(slice)); });
}

void FaultyApiServer::change_something() {
  const std::string name = "s" + std::to_string(number(kNames));
  const int what = number(8);
  if (what == 0 && services_.erase(name) != 0) {
    server_.with([&](api::TestApiServer& server) {
      server.store().remove(ObjectKind::Service, "default/" + name);
    });
  } else if (what == 1 && slices_.erase(name) != 0) {
    server_.with([&](api::TestApiServer& server) {
      server.store().remove(ObjectKind::EndpointSlice, "default/" + name + "-x");
    });
  } else if (what <= 3) {
    put_service(name, 80 + number(3));
  } else {
    std::vector<std::string> addresses;
    for (int i = number(6); i > 0; --i)
      addresses.push_back("10.180.0." + std::to_string(1 + number(99)));
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    put_endpoints(name, addresses);
  }
}

std::string FaultyApiServer::mark() {
  ++marks_;
  std::string address =
      "10.180." + std::to_string(10 + marks_ / 200) + "." + std::to_string(1 + marks_ % 200);
  put_endpoints("marker", {address});
  return address;
}

std::string FaultyApiServer::wanted() const {
  nft::FakeNftables kernel;
  FakeClock clock;
  const Config config = load_config_file(this->config()).value().config;
  NodeRules rules(kernel, config, {IpFamily::Ipv4}, clock);
  ClusterChanges changes;
  changes.node = std::make_shared<const NodeFacts>(facts());
  for (const auto& [name, service] : services_) {
    changes.services.push_back(
        {{"default", name}, nullptr, std::make_shared<const Service>(service)});
  }
  for (const auto& [name, slice] : slices_) {
    changes.slices.push_back({nullptr, std::make_shared<const EndpointSlice>(slice)});
  }
  const auto synced = rules.proxier().sync(std::move(changes));
  EXPECT_TRUE(synced) << synced.error().what;
  return live(kernel);
}

std::string FaultyApiServer::live(nft::Nftables& kernel) const {
  const Config config = load_config_file(this->config()).value().config;
  return live_text(kernel.dump(IpFamily::Ipv4, kTable).value(),
                   live_settings(config, facts(), IpFamily::Ipv4));
}

void FaultyApiServer::rotate_token() {
  const std::string token = "token-" + std::to_string(++tokens_);
  write("token", token + "\n");
  server_.with([&](api::TestApiServer& server) { server.settings().token = token; });
}

void FaultyApiServer::rotate_certificate() {
  const api::TlsSettings tls{
      authority_.issue({.common_name = "apiserver", .alternative_names = {"IP:127.0.0.1"}})};
  server_.with([&](api::TestApiServer& server) { server.settings().tls = tls; });
}

void FaultyApiServer::cut_network() {
  const std::string port =
      std::to_string(server_.with([](api::TestApiServer& server) { return server.port(); }));
  run_nft(
      "add table inet cut\nadd chain inet cut in { type filter hook input priority 0; }\n"
      "add rule inet cut in tcp dport " +
      port + " drop\nadd rule inet cut in tcp sport " + port + " drop\n");
}

void FaultyApiServer::mend_network() { run_nft("delete table inet cut\n"); }

}  // namespace mkp
