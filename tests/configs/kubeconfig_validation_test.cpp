#include "configs/kubeconfig_validation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mkp {
namespace {

constexpr const char* kPrefix = "invalid configuration: /etc/kube/config: ";
constexpr const char* kServer = "server: https://192.168.0.1:6443";
constexpr const char* kExec = "command: x, apiVersion: client.authentication.k8s.io/v1";

// What is wrong, without what each line begins with.
std::string findings(std::string_view text, std::string_view master = "") {
  const Result<Kubeconfig> kubeconfig = parse_kubeconfig(text, "/etc/kube/config");
  if (!kubeconfig) return kubeconfig.error().what;
  const Result<ChosenEntries> chosen = choose_entries(*kubeconfig, master);
  if (chosen) return "none";
  std::string lines = chosen.error().what;
  for (std::size_t at = 0; (at = lines.find(kPrefix)) != std::string::npos;) {
    lines.erase(at, std::string_view(kPrefix).size());
  }
  return lines;
}

std::string config(std::string_view cluster, std::string_view user,
                   std::string_view more_of_context = "") {
  return fmt::format(
      "clusters: [{{name: c, cluster: {{{}}}}}]\nusers: [{{name: u, user: {{{}}}}}]\n"
      "contexts: [{{name: here, context: {{cluster: c, user: u{}}}}}]\ncurrent-context: here\n",
      cluster, user, more_of_context);
}

std::string of_cluster(std::string_view fields) { return findings(config(fields, "token: t")); }
std::string of_user(std::string_view fields) { return findings(config(kServer, fields)); }
std::string of_exec(std::string_view fields) {
  return of_user(fmt::format("exec: {{{}}}", fields));
}

TEST(KubeconfigValidationTest, NothingConfiguredAtAll) {
  EXPECT_EQ(findings(""),
            "no configuration has been provided: no cluster, user and context in the kubeconfig, "
            "and no --master");
}

TEST(KubeconfigValidationTest, AClusterNeedsAServer) {
  EXPECT_EQ(of_cluster(""), "line 1: cluster \"c\": server: cluster has no server defined");
  EXPECT_EQ(of_cluster("tls-server-name: a"),
            "line 1: cluster \"c\": server: no server found for cluster \"c\"");
  EXPECT_EQ(findings("clusters: [{name: '', cluster: {tls-server-name: a}}]\nusers: [{name: u}]\n"
                     "contexts: [{name: h, context: {user: u}}]\ncurrent-context: h"),
            "line 3: context \"h\": cluster: cluster was not specified for context \"h\"\n"
            "line 1: cluster \"\": server: default cluster has no server defined");
}

TEST(KubeconfigValidationTest, AProxyUrlMustBeOneThatWorks) {
  const auto of_proxy = [](std::string_view url) {
    return of_cluster(fmt::format("{}, proxy-url: \"{}\"", kServer, url));
  };
  EXPECT_EQ(of_proxy("ftp://proxy"),
            "line 1: cluster \"c\": proxy-url: invalid 'proxy-url' \"ftp://proxy\" for cluster "
            "\"c\": unsupported scheme \"ftp\", must be http, https, or socks5");
  EXPECT_EQ(of_proxy("proxy"),
            "line 1: cluster \"c\": proxy-url: invalid 'proxy-url' \"proxy\" for cluster \"c\": "
            "could not parse: proxy");
  EXPECT_EQ(of_proxy("https://proxy"),
            "line 1: cluster \"c\": proxy-url: invalid 'proxy-url' \"https://proxy\" for cluster "
            "\"c\": scheme \"https\", TLS on the way to a proxy, is not built; use http or socks5");
  EXPECT_EQ(of_proxy("ftp://me:hunter2@proxy"),
            "line 1: cluster \"c\": proxy-url: invalid 'proxy-url' \"ftp://***@proxy\" for cluster "
            "\"c\": unsupported scheme \"ftp\", must be http, https, or socks5");
  EXPECT_EQ(of_proxy("socks5://me:hunter2@proxy"), "none");
}

TEST(KubeconfigValidationTest, FileAndDataExcludeEachOther) {
  EXPECT_EQ(of_cluster(fmt::format("{}, certificate-authority: f, certificate-authority-data: Q0E=",
                                   kServer)),
            "line 1: cluster \"c\": certificate-authority: certificate-authority-data and "
            "certificate-authority are both specified for c. certificate-authority-data will "
            "override.");
  EXPECT_EQ(of_user("client-certificate: f, client-certificate-data: Q0E=, client-key: k, "
                    "client-key-data: Q0E="),
            "line 2: user \"u\": client-certificate: client-cert-data and client-cert are both "
            "specified for u. client-cert-data will override.\n"
            "line 2: user \"u\": client-key: client-key-data and client-key are both specified for "
            "u. client-key-data will override.");
}

TEST(KubeconfigValidationTest, ACertificateAndItsKeyComeTogether) {
  EXPECT_EQ(of_user("client-certificate: f"),
            "line 2: user \"u\": client-key: client-key-data or client-key must be specified for u "
            "to use the clientCert authentication method.");
  EXPECT_EQ(of_user("client-key-data: Q0E="),
            "line 2: user \"u\": client-certificate: a client key without client-certificate-data "
            "or client-certificate is of no use to u");
}

TEST(KubeconfigValidationTest, TrustAndTheInsecureFlagExcludeEachOther) {
  EXPECT_EQ(of_cluster(fmt::format("{}, certificate-authority: f, insecure-skip-tls-verify: true",
                                   kServer)),
            "line 1: cluster \"c\": insecure-skip-tls-verify: specifying a root certificates file "
            "with the insecure flag is not allowed");
}

TEST(KubeconfigValidationTest, APluginNeedsCommandVersionModeAndNamesOfVariables) {
  EXPECT_EQ(of_exec("env: [{value: a}]"),
            "line 2: user \"u\": exec.command: command must be specified for u to use exec "
            "authentication plugin\n"
            "line 2: user \"u\": exec.apiVersion: apiVersion must be specified for u to use exec "
            "authentication plugin\n"
            "line 2: user \"u\": exec.env: env variable name must be specified for u to use exec "
            "authentication plugin\n"
            "line 2: user \"u\": exec.interactiveMode: interactiveMode must be specified for u to "
            "use exec authentication plugin");
}

TEST(KubeconfigValidationTest, OnlyTheOldVersionHasADefaultMode) {
  EXPECT_EQ(of_exec(kExec),
            "line 2: user \"u\": exec.interactiveMode: interactiveMode must be specified for u to "
            "use exec authentication plugin");
  EXPECT_EQ(of_exec("command: x, apiVersion: client.authentication.k8s.io/v1beta1"), "none");
  EXPECT_EQ(of_exec(fmt::format("{}, interactiveMode: IfAvailable", kExec)), "none");
  EXPECT_EQ(of_exec(fmt::format("{}, interactiveMode: Never", kExec)), "none");
}

TEST(KubeconfigValidationTest, AModeThatIsNoneOrNeedsATerminalIsRefused) {
  EXPECT_EQ(of_exec(fmt::format("{}, interactiveMode: Sometimes", kExec)),
            "line 2: user \"u\": exec.interactiveMode: invalid interactiveMode for u: "
            "\"Sometimes\"");
  EXPECT_EQ(of_exec(fmt::format("{}, interactiveMode: Always", kExec)),
            "line 2: user \"u\": exec.interactiveMode: exec plugin cannot support interactive "
            "mode: standard input is unavailable: this program runs without a terminal");
}

TEST(KubeconfigValidationTest, APluginOfAnotherApiIsRefused) {
  EXPECT_EQ(of_exec("command: x, apiVersion: client.authentication.k8s.io/v1alpha1, "
                    "interactiveMode: Never"),
            "line 2: user \"u\": exec.apiVersion: exec plugin: invalid apiVersion "
            "\"client.authentication.k8s.io/v1alpha1\", must be client.authentication.k8s.io/v1 or "
            "client.authentication.k8s.io/v1beta1");
}

TEST(KubeconfigValidationTest, APluginAndAnAuthProviderExcludeEachOther) {
  EXPECT_EQ(of_user(fmt::format(
                "auth-provider: {{name: oidc}}, exec: {{{}, interactiveMode: Never}}", kExec)),
            "line 2: user \"u\": exec: authProvider cannot be provided in combination with an exec "
            "plugin for u");
}

TEST(KubeconfigValidationTest, ATokenAndAPasswordExcludeEachOther) {
  EXPECT_EQ(of_user("token: t, username: a, password: b"),
            "line 2: user \"u\": token: more than one authentication method found for u; found "
            "[token basicAuth], only one is allowed");
  EXPECT_EQ(of_user("tokenFile: t, password: b"),
            "line 2: user \"u\": tokenFile: username/password or bearer token may be set, but not "
            "both");
}

TEST(KubeconfigValidationTest, ImpersonationNeedsAUser) {
  constexpr const char* kFinding =
      "line 2: user \"u\": as: requesting uid, groups or user-extra for u without impersonating a "
      "user";
  EXPECT_EQ(of_user("as-uid: a"), kFinding);
  EXPECT_EQ(of_user("as-groups: [a]"), kFinding);
  EXPECT_EQ(of_user("as-user-extra: {a: [b]}"), kFinding);
  EXPECT_EQ(of_user("as: a, as-uid: a, as-groups: [a], as-user-extra: {a: [b]}"), "none");
}

TEST(KubeconfigValidationTest, WhatGoesIntoAHeaderHasNoLineBreak) {
  EXPECT_EQ(of_user("token: \"hunter2\\r\\nX: y\""),
            "line 2: user \"u\": token: has a line break or another control character");
  EXPECT_EQ(of_user("as: a, as-user-extra: {a: [\"hunter2\\n\"]}"),
            "line 2: user \"u\": as: has an empty key, a line break or another control character");
}

TEST(KubeconfigValidationTest, ACurrentContextThatIsNotThereIsAnErrorAndSoIsNone) {
  EXPECT_EQ(findings("users: [{name: u}]\ncurrent-context: gone"),
            "current-context: context was not found for specified context: gone");
  EXPECT_EQ(findings("users: [{name: u}]"), "current-context: no context chosen");
}

TEST(KubeconfigValidationTest, AContextMustNotDangle) {
  EXPECT_EQ(findings("contexts: [{name: h, context: {cluster: x, user: z, namespace: No_Label}}]\n"
                     "current-context: h"),
            "line 1: context \"h\": user: user \"z\" was not found for context \"h\"\n"
            "line 1: context \"h\": cluster: cluster \"x\" was not found for context \"h\"\n"
            "line 1: context \"h\": namespace: namespace \"No_Label\" for context \"h\" does not "
            "conform to the kubernetes DNS_LABEL rules");
  EXPECT_EQ(findings(fmt::format("clusters: [{{name: c, cluster: {{{}}}}}]\n"
                                 "contexts: [{{name: h, context: {{cluster: c}}}}]\n"
                                 "current-context: h",
                                 kServer)),
            "line 2: context \"h\": user: user was not specified for context \"h\"");
}

TEST(KubeconfigValidationTest, ANamespaceIsADnsLabel) {
  EXPECT_EQ(findings(config(kServer, "token: t", ", namespace: kube-system")), "none");
  const std::string long_label(64, 'a');
  EXPECT_NE(findings(config(kServer, "token: t", ", namespace: " + long_label)), "none");
  EXPECT_NE(findings(config(kServer, "token: t", ", namespace: a-")), "none");
}

TEST(KubeconfigValidationTest, EverythingWrongWithTheChosenEntriesIsReportedAtOnce) {
  EXPECT_EQ(
      findings(config("proxy-url: ftp://p", "client-certificate: f, as-uid: a", ", namespace: A")),
      "line 3: context \"here\": namespace: namespace \"A\" for context \"here\" does not "
      "conform to the kubernetes DNS_LABEL rules\n"
      "line 1: cluster \"c\": server: no server found for cluster \"c\"\n"
      "line 1: cluster \"c\": proxy-url: invalid 'proxy-url' \"ftp://p\" for cluster \"c\": "
      "unsupported scheme \"ftp\", must be http, https, or socks5\n"
      "line 2: user \"u\": client-key: client-key-data or client-key must be specified for u "
      "to use the clientCert authentication method.\n"
      "line 2: user \"u\": as: requesting uid, groups or user-extra for u without "
      "impersonating a user");
}

TEST(KubeconfigValidationTest, WhatIsWrongWithOtherEntriesHurtsNobody) {
  EXPECT_EQ(findings(fmt::format(
                "clusters: [{{name: x}}, {{name: c, cluster: {{{}}}}}]\n"
                "users: [{{name: w, user: {{client-key: k}}}}, {{name: u, user: {{token: t}}}}]\n"
                "contexts: [{{name: z, context: {{user: gone}}}}, "
                "{{name: h, context: {{cluster: c, user: u}}}}]\ncurrent-context: h",
                kServer)),
            "none");
}

TEST(KubeconfigValidationTest, TheMasterTakesThePlaceOfTheServerAndOfTheNameOfItsCertificate) {
  const std::string text = config("tls-server-name: kubernetes, server: https://a", "token: t");
  const Result<ChosenEntries> chosen =
      choose_entries(parse_kubeconfig(text, "f").value(), "https://b");
  EXPECT_EQ(chosen.value().cluster.server, "https://b");
  EXPECT_EQ(chosen.value().cluster.tls_server_name, "");
  EXPECT_EQ(chosen.value().user.token, "t");
}

TEST(KubeconfigValidationTest, WithAMasterNoContextIsNeeded) {
  EXPECT_EQ(findings("", "https://b"), "none");
  EXPECT_EQ(findings("users: [{name: u}]", "https://b"), "none");
  EXPECT_EQ(findings("current-context: gone", "https://b"),
            "current-context: context was not found for specified context: gone");
}

}  // namespace
}  // namespace mkp
