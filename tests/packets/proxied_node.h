#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/packets/program_under_test.h"
#include "tests/packets/proxy_under_test.h"
#include "tests/packets/simulated_node.h"

namespace mkp::packets {

// A node whose rules the program under test writes, for tests that are not cases of
// tests/conformance: IPv4 alone, pods in 10.64.0.0/12. Everything is in namespace shop.
class ProxiedNode : public testing::Test {
 protected:
  explicit ProxiedNode(Following following)
      : proxy_(program_under_test(), following, *cluster_, {}) {}

  void SetUp() override {
    const NodeUnderTest node{.name = "worker-1", .ips = {ip("10.20.0.11")}};
    expect_done(
        cluster_->write_config({.cluster_cidr = "10.64.0.0/12"}, Mode::Nftables, node.name));
    expect_done(cluster_->write_node(node));
  }

  static IpAddress ip(std::string_view text) {
    return parse_ip_address(text).value_or(IpAddress{});
  }
  static void expect_done(const Result<>& done) { EXPECT_TRUE(done) << done.error().what; }
  // `spec` is what stands in a Service's spec besides its cluster IP and its ports.
  void write_service(const std::string& name, const std::string& cluster_ip,
                     const std::string& ports, const std::string& spec = "") {
    expect_done(cluster_->apply(
        "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: " + name +
        "}\nspec:\n  clusterIP: " + cluster_ip + "\n  ports: " + ports + "\n" + spec));
  }
  // A slice of ready endpoints on other nodes.
  void write_slice(const std::string& service, const std::string& ports,
                   const std::vector<std::string>& addresses) {
    std::string text =
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: shop, name: " +
        service + "-1, labels: {kubernetes.io/service-name: " + service +
        "}}\naddressType: IPv4\nports: " + ports + "\nendpoints:\n";
    for (const std::string& address : addresses) {
      text += "- {addresses: [" + address + "], nodeName: worker-2}\n";
    }
    expect_done(cluster_->apply(text));
  }
  // What becomes of one new connection. A source port of its own, unless one is given.
  std::string connect(const std::string& from, const std::string& to, std::uint16_t port,
                      Transport transport = Transport::Tcp,
                      std::optional<std::uint16_t> source_port = {}) {
    const std::uint16_t from_port = source_port ? *source_port : next_port_++;
    const Result<Outcome> outcome = node_->probe({.transport = transport,
                                                  .source = {ip(from), from_port},
                                                  .destination = {ip(to), port},
                                                  .tag = next_tag_++});
    return outcome ? to_text(*outcome) : outcome.error().what;
  }
  void sync() { expect_done(proxy_.sync()); }

  std::unique_ptr<ClusterDirectory> cluster_ = ClusterDirectory::create().value();
  std::unique_ptr<SimulatedNode> node_ = SimulatedNode::create({ip("10.20.0.11")}).value();
  ProxyUnderTest proxy_;

 private:
  std::uint16_t next_port_ = 20'000;
  std::uint32_t next_tag_ = 1;
};

}  // namespace mkp::packets
