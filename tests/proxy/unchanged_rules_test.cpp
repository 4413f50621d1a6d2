// Changes of objects that leave what a node forwards as it was: they make no diff, so nothing is
// sent to the kernel.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/proxy/data_cluster.h"

namespace mkp {
namespace {

constexpr std::string_view kObjects = R"(
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  labels: {app: web}
  annotations: {owner: front}
spec:
  type: LoadBalancer
  clusterIP: 172.30.0.9
  selector: {app: web}
  externalTrafficPolicy: Local
  healthCheckNodePort: 32000
  loadBalancerSourceRanges: [203.0.113.0/24]
  externalIPs: [192.0.2.1]
  ports:
  - {name: http, port: 80, nodePort: 30080, targetPort: 8080}
  - {name: dns, port: 53, nodePort: 30053, protocol: UDP}
status: {loadBalancer: {ingress: [{ip: 198.51.100.2}, {ip: 198.51.100.3, ipMode: Proxy}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: web-1
  namespace: shop
  labels: {kubernetes.io/service-name: web}
  annotations: {endpoints.kubernetes.io/last-change-trigger-time: "2026-01-01T00:00:00Z"}
addressType: IPv4
ports:
- {name: http, port: 8080}
- {name: dns, port: 5353, protocol: UDP}
endpoints:
- {addresses: [10.180.0.1], nodeName: n1, zone: za, conditions: {ready: true}, hints: {forZones: [{name: za}]}}
- {addresses: [10.180.0.2], nodeName: n2, conditions: {ready: true}, hints: {forZones: [{name: zb}]}}
- {addresses: [10.180.0.3], nodeName: n2, conditions: {ready: false, serving: false}}
)";

// `text` with one passage replaced, which must be there.
std::string edited(std::string_view text, std::string_view passage, std::string_view by) {
  std::string result(text);
  const std::size_t at = result.find(passage);
  EXPECT_NE(at, std::string::npos) << passage;
  if (at != std::string::npos) result.replace(at, passage.size(), by);
  return result;
}

// What the change of one passage of the objects changes in the rules.
std::string change_of_rules(std::string_view passage, std::string_view by) {
  DataCluster cluster;
  cluster.node("n1", "za", {ip("192.168.0.10")});
  cluster.apply(std::string(kObjects));
  cluster.sync();
  const RuleModel before = cluster.model(IpFamily::Ipv4);
  EXPECT_EQ(before.size(), 2U);
  cluster.apply(edited(kObjects, passage, by));
  cluster.sync();
  return to_text(diff(before, cluster.model(IpFamily::Ipv4)));
}

struct Edit {
  std::string name;
  std::string passage;
  std::string by;
};
void PrintTo(const Edit& edit, std::ostream* out) { *out << edit.name; }

class UnchangedRulesTest : public testing::TestWithParam<Edit> {};

TEST_P(UnchangedRulesTest, AreEqual) {
  EXPECT_EQ(change_of_rules(GetParam().passage, GetParam().by), "");
}

const std::vector<Edit> kEdits = {
    {"ServiceLabel", "labels: {app: web}", "labels: {app: web, tier: front}"},
    {"ServiceAnnotation", "{owner: front}", "{owner: back}"},
    {"ServiceSelector", "selector: {app: web}", "selector: {app: other}"},
    {"TargetPort", "targetPort: 8080", "targetPort: 9090"},
    {"HealthCheckNodePort", "healthCheckNodePort: 32000", "healthCheckNodePort: 32001"},
    {"SpellingOfARange", "203.0.113.0/24", "' 203.0.113.99/24'"},
    {"SpellingOfAnExternalIp", "192.0.2.1", "192.000.002.001"},
    {"ExternalIpOfAnotherFamily", "[192.0.2.1]", "[192.0.2.1, '2001:db8::1']"},
    {"UnreadableExternalIp", "[192.0.2.1]", "[192.0.2.1, '192.0.2.300']"},
    {"IngressOfIpModeProxy", "198.51.100.3", "198.51.100.4"},
    {"IngressWithANameOnly", "ingress: [", "ingress: [{hostname: lb.example.org}, "},
    {"SliceLabel", "{kubernetes.io/service-name: web}",
     "{kubernetes.io/service-name: web, app: web}"},
    {"TriggerTime", "2026-01-01", "2026-01-02"},
    {"ZoneOfAnEndpoint", "zone: za", "zone: zb"},
    {"SpellingOfAnEndpoint", "[10.180.0.2]", "['::ffff:10.180.0.2']"},
    {"ReadyIsTheDefault", "nodeName: n2, conditions: {ready: true}", "nodeName: n2"},
    {"AReadyOneTerminates", "nodeName: n1, zone: za, conditions: {ready: true}",
     "nodeName: n1, zone: za, conditions: {ready: true, terminating: true}"},
    {"AReadyOneServesNoMore", "nodeName: n2, conditions: {ready: true}",
     "nodeName: n2, conditions: {ready: true, serving: false}"},
    {"AnUnreadyOneTerminates", "{ready: false, serving: false}",
     "{ready: false, serving: false, terminating: true}"},
    {"AnUnreadyOneMoves", "[10.180.0.3], nodeName: n2", "[10.180.0.4], nodeName: n1"},
    {"HintsForTheSameZones", "forZones: [{name: za}]", "forZones: [{name: za}, {name: zc}]"},
    {"HintsForOtherZones", "forZones: [{name: zb}]", "forZones: [{name: zc}]"},
    {"OrderOfPorts", "ports:\n- {name: http, port: 8080}\n- {name: dns, port: 5353, protocol: UDP}",
     "ports:\n- {name: dns, port: 5353, protocol: UDP}\n- {name: http, port: 8080}"},
    {"APortThatTheServiceLacks", "ports:\n- {name: http, port: 8080}",
     "ports:\n- {name: metrics, port: 9}\n- {name: http, port: 8080}"},
};

INSTANTIATE_TEST_SUITE_P(Edits, UnchangedRulesTest, testing::ValuesIn(kEdits),
                         [](const auto& one) { return one.param.name; });

TEST(ChangedRules, DifferWhereWhatIsForwardedDoes) {
  EXPECT_NE(change_of_rules("forZones: [{name: zb}]", "forZones: [{name: za}]"), "");
  EXPECT_NE(change_of_rules("zone: za, conditions: {ready: true}",
                            "zone: za, conditions: {ready: false}"),
            "");
  EXPECT_NE(change_of_rules("192.0.2.1", "192.0.2.2"), "");
  EXPECT_NE(change_of_rules("{name: http, port: 8080}", "{name: http, port: 9090}"), "");
}

TEST(UnchangedRules, AreEqualWhenEndpointsMoveToAnotherSlice) {
  DataCluster cluster;
  cluster.node("n1", "za", {ip("192.168.0.10")});
  cluster.apply(std::string(kObjects));
  cluster.sync();
  const RuleModel before = cluster.model(IpFamily::Ipv4);
  cluster.apply(edited(kObjects, "name: web-1", "name: web-2"));
  cluster.remove(std::string(kObjects.substr(kObjects.find("---"))));
  cluster.sync();
  EXPECT_EQ(to_text(diff(before, cluster.model(IpFamily::Ipv4))), "");
}

TEST(UnchangedRules, AreEqualWhenTheNodeGetsAnAddressThatNoRangeContains) {
  DataCluster cluster;
  cluster.node("n1", "za", {ip("192.168.0.10")});
  cluster.apply(std::string(kObjects));
  cluster.sync();
  const RuleModel before = cluster.model(IpFamily::Ipv4);
  cluster.node("n1", "za", {ip("192.168.0.11"), ip("fd00:192::11")});
  cluster.sync();
  EXPECT_EQ(to_text(diff(before, cluster.model(IpFamily::Ipv4))), "");
}

}  // namespace
}  // namespace mkp
