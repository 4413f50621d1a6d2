#include "informer/manifest_problem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "informer/manifest_decode.h"

namespace mkp {
namespace {

// Everything that is wrong with a text, one line each.
std::string problems(std::string_view text) {
  const DecodedManifests decoded = decode_manifests("svc.yaml", text);
  std::string lines;
  for (const Manifest& manifest : decoded.manifests) {
    for (const ManifestProblem& problem : manifest.problems) lines += to_text(problem) + '\n';
  }
  for (const ManifestProblem& problem : decoded.problems) lines += to_text(problem) + '\n';
  return lines;
}

// Those of a Service whose spec begins in line 4.
std::string spec_problems(std::string_view spec) {
  return problems(
      fmt::format("apiVersion: v1\nkind: Service\nmetadata: {{namespace: shop, name: web}}\n"
                  "spec: {{clusterIP: 172.30.0.10, {}}}\n",
                  spec));
}

std::string slice_problems(std::string_view rest) {
  return problems(
      fmt::format("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
                  "metadata: {{namespace: shop, name: web-1}}\n{}\n",
                  rest));
}

TEST(ManifestProblemTest, LeavesOutThePartsThatAreNotKnown) {
  EXPECT_EQ(to_text(ManifestProblem{"a.yaml", 0, "", "", "is gone"}), "a.yaml: is gone");
  EXPECT_EQ(to_text(ManifestProblem{"a.yaml", 3, "Service", "", "odd"}), "a.yaml:3: Service: odd");
}

TEST(ManifestProblemTest, NamesThePortThatIsOutOfRange) {
  EXPECT_EQ(spec_problems("ports: [{port: 70000}]"),
            "svc.yaml:4: Service shop/web: spec.ports[0].port: 70000 is not a port (1-65535)\n");
  EXPECT_EQ(spec_problems("ports: [{port: 80}, {port: -1}]"),
            "svc.yaml:4: Service shop/web: spec.ports[1].port: -1 is not a port (1-65535)\n");
  EXPECT_EQ(spec_problems("ports: [{port: 99999999999999999999}]"),
            "svc.yaml:4: Service shop/web: spec.ports[0].port: 99999999999999999999 is not a port "
            "(1-65535)\n");
}

TEST(ManifestProblemTest, NamesTheLineOfTheFieldNotOfTheDocument) {
  EXPECT_EQ(problems("---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n"
                     "  clusterIP: 172.30.0.1\n  ports:\n  - name: http\n    port: 0\n"),
            "svc.yaml:10: Service default/web: spec.ports[0].port: 0 is not a port (1-65535)\n");
}

TEST(ManifestProblemTest, NamesEverythingThatIsWrongWithADocument) {
  EXPECT_EQ(
      spec_problems("type: Odd, ports: [{protocol: ICMP}]"),
      "svc.yaml:4: Service shop/web: spec.type: \"Odd\" is not one of ClusterIP, NodePort, "
      "LoadBalancer, ExternalName\n"
      "svc.yaml:4: Service shop/web: spec.ports[0].protocol: \"ICMP\" is not one of TCP, UDP, "
      "SCTP\n"
      "svc.yaml:4: Service shop/web: spec.ports[0].port: is missing\n");
}

TEST(ManifestProblemTest, ReportsAWrongType) {
  EXPECT_EQ(spec_problems("ports: [{port: '80'}]"),
            "svc.yaml:4: Service shop/web: spec.ports[0].port: \"80\" where a whole number is "
            "expected\n");
  EXPECT_EQ(spec_problems("ports: [{port: 80.5}]"),
            "svc.yaml:4: Service shop/web: spec.ports[0].port: 80.5 where a whole number is "
            "expected\n");
  EXPECT_EQ(spec_problems("ports: [{port: 80, name: 80}]"),
            "svc.yaml:4: Service shop/web: spec.ports[0].name: 80 where a text is expected\n");
  EXPECT_EQ(spec_problems("ports: {port: 80}"),
            "svc.yaml:4: Service shop/web: spec.ports: a mapping where a list is expected\n");
  EXPECT_EQ(
      spec_problems("externalIPs: [{}, null]"),
      "svc.yaml:4: Service shop/web: spec.externalIPs[0]: a mapping where a text is expected\n"
      "svc.yaml:4: Service shop/web: spec.externalIPs[1]: null where a text is expected\n");
  EXPECT_EQ(slice_problems("addressType: IPv4\nendpoints: [{conditions: {ready: 'true'}}]"),
            "svc.yaml:5: EndpointSlice shop/web-1: endpoints[0].conditions.ready: \"true\" where "
            "true or false is expected\n");
}

TEST(ManifestProblemTest, ReportsASpecThatIsNoMappingOnce) {
  EXPECT_EQ(
      problems("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: [1, 2]\n"),
      "svc.yaml:4: Service default/web: spec: a list where fields are expected\n"
      "svc.yaml:4: Service default/web: spec.clusterIP: is missing, and without an API server "
      "nothing else gives it one\n");
}

TEST(ManifestProblemTest, ReportsAServiceWithoutAClusterIp) {
  EXPECT_EQ(
      problems("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
               "spec: {ports: [{port: 80}]}\n"),
      "svc.yaml:4: Service default/web: spec.clusterIP: is missing, and without an API server "
      "nothing else gives it one\n");
}

TEST(ManifestProblemTest, ReportsUnknownWordsOfEveryEnumeration) {
  EXPECT_EQ(spec_problems("internalTrafficPolicy: Near"),
            "svc.yaml:4: Service shop/web: spec.internalTrafficPolicy: \"Near\" is not one of "
            "Cluster, Local\n");
  EXPECT_EQ(spec_problems("externalTrafficPolicy: Near"),
            "svc.yaml:4: Service shop/web: spec.externalTrafficPolicy: \"Near\" is not one of "
            "Cluster, Local\n");
  EXPECT_EQ(spec_problems("sessionAffinity: Cookie"),
            "svc.yaml:4: Service shop/web: spec.sessionAffinity: \"Cookie\" is not one of None, "
            "ClientIP\n");
  EXPECT_EQ(
      spec_problems("ipFamilies: [IPv5]"),
      "svc.yaml:4: Service shop/web: spec.ipFamilies[0]: \"IPv5\" is not one of IPv4, IPv6\n");
  EXPECT_EQ(slice_problems("addressType: MAC"),
            "svc.yaml:4: EndpointSlice shop/web-1: addressType: \"MAC\" is not one of IPv4, IPv6, "
            "FQDN\n");
}

TEST(ManifestProblemTest, ReportsAnAffinityTimeOutOfRange) {
  EXPECT_EQ(spec_problems("sessionAffinity: ClientIP, "
                          "sessionAffinityConfig: {clientIP: {timeoutSeconds: 86401}}"),
            "svc.yaml:4: Service shop/web: spec.sessionAffinityConfig.clientIP.timeoutSeconds: "
            "86401 is not an affinity time in seconds (1-86400)\n");
}

TEST(ManifestProblemTest, ReportsASliceWithoutAnAddressType) {
  EXPECT_EQ(slice_problems("endpoints: []"),
            "svc.yaml:1: EndpointSlice shop/web-1: addressType: is missing\n");
}

TEST(ManifestProblemTest, ReportsAFieldThatIsGivenTwice) {
  EXPECT_EQ(spec_problems("type: NodePort, type: ClusterIP"),
            "svc.yaml:4: Service shop/web: spec.type: is given twice\n");
}

TEST(ManifestProblemTest, ReportsADocumentThatDoesNotSayWhatItIs) {
  EXPECT_EQ(problems("metadata: {name: web}\n"), "svc.yaml:1: kind: is missing\n");
  EXPECT_EQ(problems("apiVersion: v1\nkind: [Service]\n"),
            "svc.yaml:2: kind: a list where a text is expected\n");
  EXPECT_EQ(problems("just words\n"), "svc.yaml:1: is not an object\n");
  EXPECT_EQ(problems("apiVersion: v1\nkind: Node\n"),
            "svc.yaml:1: Node: metadata.name: is missing\n");
  EXPECT_EQ(problems("kind: Node\nmetadata: {name: a}\n"),
            "svc.yaml:1: Node a: apiVersion: is missing\n");
}

TEST(ManifestProblemTest, ReportsANameThatNoObjectMayHave) {
  EXPECT_EQ(problems("apiVersion: v1\nkind: Node\nmetadata: {name: Worker/1}\n"),
            "svc.yaml:3: Node: metadata.name: \"Worker/1\" is not a name (lower-case letters, "
            "digits, '-' and '.')\n");
  EXPECT_EQ(problems("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: A}\n"
                     "spec: {clusterIP: 172.30.0.1}\n"),
            "svc.yaml:3: Service: metadata.namespace: \"A\" is not a name (lower-case letters, "
            "digits, '-' and '.')\n");
}

TEST(ManifestProblemTest, ReportsAVersionThatIsNotRead) {
  EXPECT_EQ(
      problems("apiVersion: discovery.k8s.io/v1beta1\nkind: EndpointSlice\n"
               "metadata: {name: web-1}\naddressType: IPv4\n"),
      "svc.yaml:1: EndpointSlice default/web-1: apiVersion: discovery.k8s.io/v1beta1 is not a "
      "version that is read\n");
}

TEST(ManifestProblemTest, ReportsATimeThatIsNone) {
  EXPECT_EQ(
      problems("apiVersion: v1\nkind: Node\n"
               "metadata: {name: a, creationTimestamp: 2026-13-30T00:00:00Z}\n"),
      "svc.yaml:3: Node a: metadata.creationTimestamp: \"2026-13-30T00:00:00Z\" is not a time "
      "(2006-01-02T15:04:05Z)\n");
}

TEST(ManifestProblemTest, EndsTheTextAtASyntaxError) {
  const DecodedManifests decoded = decode_manifests("svc.yaml",
                                                    "apiVersion: v1\n"
                                                    "kind: Node\n"
                                                    "metadata: {name: a}\n"
                                                    "---\n"
                                                    "apiVersion: v1\n"
                                                    "kind: Node\n"
                                                    "metadata: {name: b, labels: }}\n"
                                                    "---\n"
                                                    "apiVersion: v1\n"
                                                    "kind: Node\n"
                                                    "metadata: {name: c}\n");
  ASSERT_EQ(decoded.manifests.size(), 1U);
  EXPECT_EQ(decoded.manifests[0].key, "a");
  ASSERT_EQ(decoded.problems.size(), 1U);
  EXPECT_EQ(decoded.problems[0].line, 7);
  EXPECT_EQ(decoded.problems[0].object, "Node b");
  EXPECT_EQ(decoded.incomplete, (std::array{true, true, true, true}));
}

TEST(ManifestProblemTest, ReadsTheItemsBeforeASyntaxErrorInAList) {
  const DecodedManifests decoded =
      decode_manifests("svc.yaml",
                       "kind: List\napiVersion: v1\nitems:\n"
                       "- {apiVersion: v1, kind: Node, metadata: {name: a}}\n"
                       "- {apiVersion: v1, kind: Node, metadata: {name: b}\n");
  ASSERT_EQ(decoded.manifests.size(), 1U);
  EXPECT_EQ(decoded.manifests[0].key, "a");
  EXPECT_EQ(decoded.problems.size(), 1U);
}

TEST(ManifestProblemTest, SaysOfWhichKindAnObjectWithoutANameMayBe) {
  const DecodedManifests decoded =
      decode_manifests("svc.yaml", "apiVersion: v1\nkind: Node\nmetadata: {}\n");
  EXPECT_EQ(decoded.incomplete, (std::array{false, false, true, false}));
}

TEST(ManifestProblemTest, RefusesAliasesThatMultiply) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
                        i - 1);
  }
  EXPECT_EQ(problems(text + "kind: List\nitems: *a11\n"),
            "svc.yaml:7: syntax error: aliases stand for more than 1000000 values\n");
}

TEST(ManifestProblemTest, RefusesAnAliasOfWhatContainsIt) {
  EXPECT_EQ(problems("spec: &a [*a]\n"),
            "svc.yaml:1: syntax error: an alias stands for something that contains it\n");
}

TEST(ManifestProblemTest, RefusesWhatNoDocumentCanBeginWith) {
  EXPECT_EQ(problems(","), "svc.yaml:1: syntax error: no document can begin like this\n");
  EXPECT_EQ(problems("---\n{apiVersion: v1, kind: Node, metadata: {name: a}},\n"),
            "svc.yaml:2: syntax error: no document can begin like this\n");
}

TEST(ManifestProblemTest, RefusesDeepNesting) {
  EXPECT_EQ(problems(std::string(100000, '[')),
            "svc.yaml:1: syntax error: nested deeper than 128 levels\n");
  std::string mappings;
  for (int i = 0; i < 1000; ++i) mappings += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_EQ(problems(mappings), "svc.yaml:129: syntax error: nested deeper than 128 levels\n");
}

}  // namespace
}  // namespace mkp
