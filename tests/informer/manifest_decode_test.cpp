#include "informer/manifest_decode.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "informer/manifest_object.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::Pair;

// The only object of a text that has no problem.
template <class Type>
Type only(std::string_view text) {
  DecodedManifests decoded = decode_manifests("a.yaml", text);
  EXPECT_EQ(decoded.manifests.size(), 1U);
  if (decoded.manifests.empty()) return {};
  for (const ManifestProblem& problem : decoded.manifests[0].problems) {
    ADD_FAILURE() << to_text(problem);
  }
  const auto* object = dynamic_cast<const Type*>(decoded.manifests[0].object.get());
  EXPECT_NE(object, nullptr);
  return object == nullptr ? Type{} : *object;
}

// One line a document: "Service shop/web", and what is wrong with it.
std::string summary(std::string_view text) {
  const DecodedManifests decoded = decode_manifests("a.yaml", text);
  std::string lines;
  for (const Manifest& manifest : decoded.manifests) {
    if (manifest.object) {
      lines += fmt::format("{} {}{}\n", to_text(manifest.kind), manifest.key,
                           manifest.left_out ? " left out" : "");
    }
    for (const ManifestProblem& problem : manifest.problems) lines += to_text(problem) + '\n';
  }
  for (const ManifestProblem& problem : decoded.problems) lines += to_text(problem) + '\n';
  return lines;
}

std::string web(std::string_view spec) {
  return fmt::format(
      "apiVersion: v1\nkind: Service\nmetadata: {{namespace: shop, name: web}}\nspec: {{{}}}\n",
      spec);
}

TEST(ManifestDecodeTest, FillsInWhatAnApiServerFillsInForAService) {
  Service expected;
  expected.metadata.name_space = "default";
  expected.metadata.name = "web";
  expected.cluster_ip = "172.30.0.10";
  expected.cluster_ips = {"172.30.0.10"};
  expected.ip_families = {AddressType::Ipv4};
  expected.ports = {{"", Protocol::Tcp, 80, 0}};
  EXPECT_EQ(only<Service>("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
                          "spec: {clusterIP: 172.30.0.10, ports: [{port: 80}]}\n"),
            expected);
}

TEST(ManifestDecodeTest, TellsTheFamilyOfEachClusterIp) {
  const Service service =
      only<Service>(web("clusterIP: 'fd00:30::a', clusterIPs: ['fd00:30::a', 172.30.0.10]"));
  EXPECT_THAT(service.ip_families, ElementsAre(AddressType::Ipv6, AddressType::Ipv4));
}

TEST(ManifestDecodeTest, TakesAMappedClusterIpForIpv4) {
  EXPECT_THAT(only<Service>(web("clusterIP: '::ffff:172.30.0.10'")).ip_families,
              ElementsAre(AddressType::Ipv4));
}

TEST(ManifestDecodeTest, KeepsAClusterIpWithLeadingZerosAsWritten) {
  const Service service = only<Service>(web("clusterIP: 172.030.000.010"));
  EXPECT_EQ(service.cluster_ip, "172.030.000.010");
  EXPECT_THAT(service.ip_families, ElementsAre(AddressType::Ipv4));
}

TEST(ManifestDecodeTest, TrustsTheFamiliesThatAreGiven) {
  const Service service = only<Service>(web("clusterIP: 172.30.0.10, ipFamilies: [IPv4, IPv6]"));
  EXPECT_THAT(service.ip_families, ElementsAre(AddressType::Ipv4, AddressType::Ipv6));
  EXPECT_THAT(service.cluster_ips, ElementsAre("172.30.0.10"));
}

TEST(ManifestDecodeTest, TakesTheClusterIpFromTheListWhenItStandsThereOnly) {
  EXPECT_EQ(only<Service>(web("clusterIPs: [172.30.0.10]")).cluster_ip, "172.30.0.10");
}

TEST(ManifestDecodeTest, GivesClientIpAffinityThreeHoursUnlessTold) {
  EXPECT_EQ(only<Service>(web("clusterIP: 172.30.0.10, sessionAffinity: ClientIP"))
                .client_ip_affinity_seconds,
            10800);
  EXPECT_EQ(only<Service>(web("clusterIP: 172.30.0.10, sessionAffinity: ClientIP, "
                              "sessionAffinityConfig: {clientIP: {timeoutSeconds: 600}}"))
                .client_ip_affinity_seconds,
            600);
  EXPECT_EQ(only<Service>(web("clusterIP: 172.30.0.10, sessionAffinity: None"))
                .client_ip_affinity_seconds,
            std::nullopt);
}

TEST(ManifestDecodeTest, ReadsAnExternalNameServiceWithoutAClusterIp) {
  const Service service = only<Service>(web("type: ExternalName, externalName: db.example.com"));
  EXPECT_EQ(service.type, Service::Type::ExternalName);
  EXPECT_EQ(service.cluster_ip, "");
}

TEST(ManifestDecodeTest, ReadsEveryFieldOfALoadBalancerService) {
  Service expected;
  expected.metadata.name_space = "shop";
  expected.metadata.name = "checkout";
  expected.metadata.uid = "c47a091b";
  expected.metadata.creation_timestamp = 1796064951;
  expected.type = Service::Type::LoadBalancer;
  expected.cluster_ip = "172.30.0.7";
  expected.cluster_ips = {"172.30.0.7", "fd00:30::7"};
  expected.ip_families = {AddressType::Ipv4, AddressType::Ipv6};
  expected.ports = {{"https", Protocol::Tcp, 443, 32150}, {"quic", Protocol::Udp, 443, 32151}};
  expected.external_ips = {"203.0.113.33"};
  expected.load_balancer_ingress = {{"203.0.113.4", false}, {"203.0.113.5", true}, {"", false}};
  expected.load_balancer_source_ranges = {"203.0.113.0/24"};
  expected.internal_traffic_policy = TrafficPolicy::Local;
  expected.external_traffic_policy = TrafficPolicy::Local;
  expected.client_ip_affinity_seconds = 600;
  expected.health_check_node_port = 32724;
  EXPECT_EQ(only<Service>(R"(
{"kind":"Service","apiVersion":"v1","metadata":{"name":"checkout","namespace":"shop","uid":"c47a091b",
 "resourceVersion":"87","creationTimestamp":"2026-11-30T18:55:51Z",
 "managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{}}}}}]},
 "spec":{"ports":[
   {"name":"https","protocol":"TCP","appProtocol":"https","port":443,"targetPort":8443,"nodePort":32150},
   {"name":"quic","protocol":"UDP","port":443,"targetPort":"quic","nodePort":32151}],
  "clusterIP":"172.30.0.7","clusterIPs":["172.30.0.7","fd00:30::7"],"type":"LoadBalancer",
  "externalIPs":["203.0.113.33"],"sessionAffinity":"ClientIP",
  "loadBalancerSourceRanges":["203.0.113.0/24"],"externalTrafficPolicy":"Local",
  "healthCheckNodePort":32724,"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":600}},
  "ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"PreferDualStack","internalTrafficPolicy":"Local"},
 "status":{"loadBalancer":{"ingress":[
   {"ip":"203.0.113.4","ipMode":"VIP"},{"ip":"203.0.113.5","ipMode":"Proxy"},{"hostname":"lb"}]}}}
)"),
            expected);
}

TEST(ManifestDecodeTest, ReadsEveryFieldOfAnEndpointSlice) {
  EndpointSlice expected;
  expected.metadata.name_space = "shop";
  expected.metadata.name = "web-1";
  expected.service_name = "web";
  expected.last_change_trigger_time = "2026-11-30T10:00:00Z";
  expected.address_type = AddressType::Ipv6;
  expected.ports = {{"http", std::uint16_t{8080}, Protocol::Tcp},
                    {"", std::uint16_t{53}, Protocol::Udp},
                    {"any", std::nullopt, Protocol::Sctp}};
  expected.endpoints = {
      {"fd00:180::5", "worker-1", false, true, true, {"zone-a", "zone-b"}, {"worker-1"}},
      {"fd00:180::6", "", true, true, false, {}, {}},
      {"", "", true, false, false, {}, {}}};
  EXPECT_EQ(only<EndpointSlice>(R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  namespace: shop
  name: web-1
  labels: {kubernetes.io/service-name: web}
  annotations: {endpoints.kubernetes.io/last-change-trigger-time: "2026-11-30T10:00:00Z"}
addressType: IPv6
ports:
- {name: http, port: 8080}
- {port: 53, protocol: UDP}
- {name: any, protocol: SCTP, port: null}
endpoints:
- addresses: ["fd00:180::5", "fd00:180::55"]
  nodeName: worker-1
  conditions: {ready: false, serving: true, terminating: true}
  hints: {forZones: [{name: zone-a}, {name: zone-b}], forNodes: [{name: worker-1}]}
- addresses: ["fd00:180::6"]
- {addresses: [], conditions: {ready: null, serving: false}}
)"),
            expected);
}

TEST(ManifestDecodeTest, ReadsANode) {
  Node expected;
  expected.metadata.name = "worker-1";
  expected.zone = "zone-a";
  expected.pod_cidrs = {"10.180.1.0/24"};
  expected.internal_ips = {"192.168.0.11", "fd00::11"};
  expected.external_ips = {"203.0.113.11"};
  expected.taint_keys = {"ToBeDeletedByClusterAutoscaler"};
  expected.deleting = true;
  EXPECT_EQ(only<Node>(R"(
apiVersion: v1
kind: Node
metadata:
  name: worker-1
  namespace: ignored
  labels: {topology.kubernetes.io/zone: zone-a}
  deletionTimestamp: "2026-11-30T10:00:00Z"
spec:
  podCIDR: 10.180.1.0/24
  taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]
status:
  addresses:
  - {type: InternalIP, address: 192.168.0.11}
  - {type: ExternalIP, address: 203.0.113.11}
  - {type: InternalIP, address: "fd00::11"}
  - {type: Hostname, address: worker-1}
)"),
            expected);
}

TEST(ManifestDecodeTest, ReadsAServiceCidr) {
  ServiceCidr expected;
  expected.metadata.name = "more";
  expected.cidrs = {"172.31.0.0/16", "fd00:31::/112"};
  EXPECT_EQ(only<ServiceCidr>("apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\n"
                              "metadata: {name: more}\n"
                              "spec: {cidrs: [172.31.0.0/16, 'fd00:31::/112']}\n"),
            expected);
}

TEST(ManifestDecodeTest, ReadsTheItemsOfAListWhoseKindComesLast) {
  EXPECT_EQ(summary(R"(
apiVersion: v1
items:
- apiVersion: v1
  kind: Service
  metadata: {name: a}
  spec: {clusterIP: 172.30.0.1}
- apiVersion: v1
  kind: Node
  metadata: {name: worker-1}
kind: List
metadata: {resourceVersion: ""}
)"),
            "Service default/a\n"
            "Node worker-1\n");
}

TEST(ManifestDecodeTest, TakesTheKindOfItemsFromATypedListWhereverItStands) {
  EXPECT_EQ(summary(R"(
{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"a"},"spec":{"clusterIP":"172.30.0.1"}}]}
---
items: [{metadata: {name: a-1}, addressType: IPv4}]
kind: EndpointSliceList
apiVersion: discovery.k8s.io/v1
)"),
            "Service default/a\n"
            "EndpointSlice default/a-1\n");
}

TEST(ManifestDecodeTest, ReportsAnItemOfAListThatIsBrokenAndReadsTheOthers) {
  EXPECT_EQ(summary(R"(
kind: List
apiVersion: v1
items:
- {apiVersion: v1, kind: Node, metadata: {name: one}}
- {apiVersion: v1, kind: Service, metadata: {name: two}, spec: {clusterIP: 172.30.0.2, type: Odd}}
- {apiVersion: v1, kind: Node, metadata: {name: three}}
)"),
            "Node one\n"
            "a.yaml:6: Service default/two: spec.type: \"Odd\" is not one of ClusterIP, NodePort, "
            "LoadBalancer, ExternalName\n"
            "Node three\n");
}

TEST(ManifestDecodeTest, DoesNotTakeItemsOfOtherThingsForObjects) {
  const DecodedManifests decoded = decode_manifests("a.yaml", R"(
apiVersion: example.com/v1
items: [{apiVersion: v1, kind: Node, metadata: {name: one}}]
kind: Basket
)");
  EXPECT_TRUE(decoded.manifests.empty());
  EXPECT_THAT(decoded.passed_over, ElementsAre(Pair("example.com/v1 Basket", 1)));
}

TEST(ManifestDecodeTest, CountsTheKindsThatItPassesOver) {
  const DecodedManifests decoded = decode_manifests("a.yaml", R"(
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: media}}
---
{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}}
---
{apiVersion: apps/v1, kind: AllowList, metadata: {name: web}}
)");
  EXPECT_TRUE(decoded.manifests.empty());
  EXPECT_TRUE(decoded.problems.empty());
  EXPECT_THAT(decoded.passed_over,
              ElementsAre(Pair("apps/v1 AllowList", 1), Pair("serving.knative.dev/v1 Service", 1),
                          Pair("v1 Namespace", 2)));
}

TEST(ManifestDecodeTest, PassesOverDocumentsWithNothingInThem) {
  EXPECT_EQ(summary(""), "");
  EXPECT_EQ(summary("---\n# nothing\n---\n---\nnull\n...\n"), "");
}

TEST(ManifestDecodeTest, LeavesOutWhatKubeProxysSelectorsLeaveOut) {
  EXPECT_EQ(summary(R"(
apiVersion: v1
kind: Service
metadata: {name: mesh, labels: {service.kubernetes.io/service-proxy-name: ""}}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: headless-1, labels: {service.kubernetes.io/headless: ""}}
addressType: IPv4
)"),
            "Service default/mesh left out\n"
            "Service default/headless left out\n"
            "EndpointSlice default/headless-1 left out\n");
}

TEST(ManifestDecodeTest, ReadsAServiceWithTheHeadlessLabelAndAClusterIp) {
  EXPECT_EQ(summary("apiVersion: v1\nkind: Service\nspec: {clusterIP: 172.30.0.1}\n"
                    "metadata: {name: a, labels: {service.kubernetes.io/headless: ''}}\n"),
            "Service default/a\n");
}

TEST(ManifestDecodeTest, ReadsAnchorsAliasesAndMergeKeys) {
  const Service service = only<Service>(R"(
apiVersion: v1
kind: Service
metadata: {name: web}
x-defaults: &defaults {protocol: UDP, nodePort: 30001}
spec:
  clusterIP: &ip 172.30.0.10
  externalIPs: [*ip]
  ports:
  - {<<: *defaults, name: dns, port: 53}
  - {<<: [{port: 54}, *defaults], name: other, protocol: TCP}
)");
  EXPECT_THAT(service.external_ips, ElementsAre("172.30.0.10"));
  EXPECT_THAT(service.ports, ElementsAre(Service::Port{"dns", Protocol::Udp, 53, 30001},
                                         Service::Port{"other", Protocol::Tcp, 54, 30001}));
}

TEST(ManifestDecodeTest, ReadsAliasesOfItemsOfAList) {
  EXPECT_EQ(summary(R"(
kind: List
apiVersion: v1
items:
- {apiVersion: v1, kind: Service, metadata: {name: a}, spec: &spec {clusterIP: 172.30.0.1}}
- {apiVersion: v1, kind: Service, metadata: {name: b}, spec: *spec}
)"),
            "Service default/a\n"
            "Service default/b\n");
}

TEST(ManifestDecodeTest, ReadsJsonWithTabsAndEscapes) {
  EXPECT_EQ(summary("{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Node\",\n\t\"metadata\": {\n"
                    "\t\t\"name\": \"w\\u006frker\",\n\t\t\"annotations\": "
                    "{\"note\": \"a\\/b \\\"c\\\" \\\\\"}\n\t}\n}\n"),
            "Node worker\n");
}

TEST(ManifestDecodeTest, ReadsSurrogatePairsInJsonFiles) {
  const DecodedManifests decoded = decode_manifests(
      "node.json",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"\\ud83d\ude00 \uD83D\uDE00"}})");
  ASSERT_EQ(decoded.manifests.size(), 0U) << "a lone half is no character";
  const DecodedManifests whole = decode_manifests(
      "node.json",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"\\ud83d \uD83D\uDE00!"}})");
  ASSERT_EQ(whole.manifests.size(), 1U);
  EXPECT_EQ(whole.manifests[0].object->meta()->uid, "\\ud83d \xF0\x9F\x98\x80!");
}

TEST(ManifestDecodeTest, ReadsWindowsLineEndsAndAByteOrderMark) {
  EXPECT_EQ(summary("\xEF\xBB\xBF"
                    "apiVersion: v1\r\nkind: Node\r\nmetadata:\r\n  name: worker\r\n"),
            "Node worker\n");
}

}  // namespace
}  // namespace mkp
