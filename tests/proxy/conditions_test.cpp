// What becomes of connections for every combination of an endpoint's conditions, from the manifest
// to the rules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/proxy/data_cluster.h"

namespace mkp {
namespace {

// Reaches the same endpoints by a cluster IP and by a node port, both with policy Local.
constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  type: NodePort
  clusterIP: 172.30.0.9
  internalTrafficPolicy: Local
  externalTrafficPolicy: Local
  ports: [{name: http, port: 80, nodePort: 30080}]
)";

// The slice of one endpoint, 10.180.0.<last>, with whatever `conditions` says.
std::string slice(int last, std::string_view node, std::string_view conditions) {
  return fmt::format(R"(
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: web-{0}, namespace: shop, labels: {{kubernetes.io/service-name: web}}}}
addressType: IPv4
ports: [{{name: http, port: 8080}}]
endpoints: [{{addresses: [10.180.0.{0}], nodeName: {1}, conditions: {{{2}}}}}]
)",
                     last, node, conditions);
}

// 't' and 'f' are what the condition says, '-' that it is not there.
std::string condition(std::string_view name, char value) {
  if (value == '-') return "";
  return fmt::format("{}: {}, ", name, value == 't');
}
std::string conditions(std::string_view ready_serving_terminating) {
  return condition("ready", ready_serving_terminating[0]) +
         condition("serving", ready_serving_terminating[1]) +
         condition("terminating", ready_serving_terminating[2]);
}

std::string_view verdict(Refusal refusal) {
  switch (refusal) {
    case Refusal::None:
      return "forwarded";
    case Refusal::Reject:
      return "rejected";
    case Refusal::Drop:
      return "dropped";
  }
  return "";
}

std::string last_bytes(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& one : endpoints) text += std::to_string(one.ip.bytes[3]);
  return text.empty() ? "-" : text;
}

// For endpoint 1 on this node, and the slices of `others`.
std::string outcome(std::string_view ready_serving_terminating, const std::string& others) {
  DataCluster cluster;
  cluster.node("n1", "", {ip("192.168.0.10")});
  cluster.apply(std::string(kService) + slice(1, "n1", conditions(ready_serving_terminating)) +
                others);
  cluster.sync();
  const ServicePort port =
      cluster.model(IpFamily::Ipv4).at({{"shop", "web"}, "http", Protocol::Tcp});
  return fmt::format("cluster IP {}, node port {}; local {}, cluster {}",
                     verdict(port.internal_refusal()), verdict(port.external_refusal()),
                     last_bytes(port.local_endpoints()), last_bytes(port.cluster_endpoints()));
}

// A line for each outcome: the combinations of ready, serving and terminating that have it.
std::string truth_table(const std::string& others) {
  std::map<std::string, std::string> combinations;
  for (const char ready : {'-', 't', 'f'}) {
    for (const char serving : {'-', 't', 'f'}) {
      for (const char terminating : {'-', 't', 'f'}) {
        const std::string text{ready, serving, terminating};
        combinations[outcome(text, others)].append(" ").append(text);
      }
    }
  }
  std::string lines;
  for (const auto& [what, which] : combinations) lines += fmt::format("{}:{}\n", what, which);
  return lines;
}

TEST(ConditionsTest, OfTheOnlyEndpointSayWhetherConnectionsAreForwardedOrRejected) {
  EXPECT_EQ(truth_table(""),
            "cluster IP forwarded, node port forwarded; local 1, cluster 1:"
            " --- --t --f -t- -tt -tf -f- -ft -ff"
            " t-- t-t t-f tt- ttt ttf tf- tft tff"
            " f-t ftt\n"
            "cluster IP rejected, node port rejected; local -, cluster -:"
            " f-- f-f ft- ftf ff- fft fff\n");
}

TEST(ConditionsTest, WithAReadyEndpointElsewhereConnectionsAreDroppedWhereTheyWouldBeRejected) {
  EXPECT_EQ(truth_table(slice(2, "n2", "")),
            "cluster IP dropped, node port dropped; local -, cluster 2:"
            " f-- f-f ft- ftf ff- fft fff\n"
            "cluster IP forwarded, node port forwarded; local 1, cluster 12:"
            " --- --t --f -t- -tt -tf -f- -ft -ff"
            " t-- t-t t-f tt- ttt ttf tf- tft tff\n"
            "cluster IP forwarded, node port forwarded; local 1, cluster 2:"
            " f-t ftt\n");
}

TEST(ConditionsTest, WithATerminatingEndpointElsewhereThatOneIsTheLastResort) {
  EXPECT_EQ(truth_table(slice(2, "n2", "ready: false, terminating: true")),
            "cluster IP dropped, node port dropped; local -, cluster 2:"
            " f-- f-f ft- ftf ff- fft fff\n"
            "cluster IP forwarded, node port forwarded; local 1, cluster 1:"
            " --- --t --f -t- -tt -tf -f- -ft -ff"
            " t-- t-t t-f tt- ttt ttf tf- tft tff\n"
            "cluster IP forwarded, node port forwarded; local 1, cluster 12:"
            " f-t ftt\n");
}

}  // namespace
}  // namespace mkp
