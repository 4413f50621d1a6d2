#include "configs/kubeconfig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/configs/temp_folder.h"

namespace mkp {
namespace {

// Of a text that is right.
Kubeconfig parsed(std::string_view text) {
  Result<Kubeconfig> kubeconfig = parse_kubeconfig(text, "/etc/kube/config");
  EXPECT_TRUE(kubeconfig) << kubeconfig.error().what;
  return kubeconfig ? std::move(*kubeconfig) : Kubeconfig{};
}

std::string error_of(std::string_view text) {
  const Result<Kubeconfig> kubeconfig = parse_kubeconfig(text, "/etc/kube/config");
  return kubeconfig ? "none" : kubeconfig.error().what;
}

KubeconfigUser only_user(std::string_view fields) {
  const Kubeconfig kubeconfig =
      parsed("users: [{name: node, user: {" + std::string(fields) + "}}]");
  EXPECT_EQ(kubeconfig.users.size(), 1U);
  return kubeconfig.users.empty() ? KubeconfigUser{} : kubeconfig.users.front();
}

// Of a plugin whose command is written like this.
std::string command_of(std::string_view written) {
  return only_user(fmt::format("exec: {{command: {}}}", written))
      .exec.value_or(KubeconfigExec{})
      .command;
}

TEST(KubeconfigTest, EveryFieldOfAClusterIsRead) {
  const Kubeconfig kubeconfig = parsed(R"(apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster:
    server: https://192.168.0.1:6443
    tls-server-name: kubernetes
    insecure-skip-tls-verify: true
    certificate-authority: ca.crt
    certificate-authority-data: Q0E=
    proxy-url: http://proxy:3128
    disable-compression: true
    extensions:
    - {name: other, extension: {a: b}}
    - name: client.authentication.k8s.io/exec
      extension: {audience: prod, retries: 3, deep: [true, null, 1.5, "2"]}
)");
  KubeconfigCluster expected;
  expected.name = "prod";
  expected.line = 4;
  expected.server = "https://192.168.0.1:6443";
  expected.tls_server_name = "kubernetes";
  expected.insecure_skip_tls_verify = true;
  expected.certificate_authority = {"CA", "/etc/kube/ca.crt"};
  expected.proxy_url = "http://proxy:3128";
  expected.disable_compression = true;
  expected.exec_extension = R"({"audience":"prod","retries":3,"deep":[true,null,1.5,"2"]})";
  ASSERT_EQ(kubeconfig.clusters.size(), 1U);
  EXPECT_EQ(kubeconfig.clusters.front(), expected);
}

TEST(KubeconfigTest, EveryFieldOfAUserIsRead) {
  const KubeconfigUser user = only_user(R"(
    client-certificate: c.crt, client-certificate-data: Q0VSVA==, client-key: c.key,
    client-key-data: S0VZ, token: t, tokenFile: tokens/t, as: admin, as-uid: "17",
    as-groups: [a, b], as-user-extra: {reason: [x, z], none: []}, username: u, password: p,
    auth-provider: {name: oidc, config: {a: b}})");
  KubeconfigUser expected;
  expected.name = "node";
  expected.line = 1;
  expected.client_certificate = {"CERT", "/etc/kube/c.crt"};
  expected.client_key = {"KEY", "/etc/kube/c.key"};
  expected.token = "t";
  expected.token_file = "/etc/kube/tokens/t";
  expected.as = "admin";
  expected.as_uid = "17";
  expected.as_groups = {"a", "b"};
  expected.as_user_extra = {{"none", {}}, {"reason", {"x", "z"}}};
  expected.username = "u";
  expected.password = "p";
  expected.auth_provider = "oidc";
  EXPECT_EQ(user, expected);
}

TEST(KubeconfigTest, EveryFieldOfAPluginIsRead) {
  const KubeconfigUser user = only_user(R"(exec: {
    command: get-token, args: [-v, "1"], env: [{name: A, value: "1"}, {name: B, value: ""}],
    apiVersion: client.authentication.k8s.io/v1, installHint: install it,
    provideClusterInfo: true, interactiveMode: Never})");
  const KubeconfigExec expected{"get-token",
                                {"-v", "1"},
                                {{"A", "1"}, {"B", ""}},
                                "client.authentication.k8s.io/v1",
                                "install it",
                                true,
                                "Never"};
  EXPECT_EQ(user.exec, expected);
}

TEST(KubeconfigTest, ContextsNameTheirClusterAndUser) {
  const Kubeconfig kubeconfig = parsed(
      "contexts: [{name: here, context: {cluster: c, user: u, namespace: web}}]\n"
      "current-context: here");
  EXPECT_EQ(kubeconfig.contexts, (std::vector<KubeconfigContext>{{"here", 1, "c", "u", "web"}}));
  EXPECT_EQ(kubeconfig.current_context, "here");
}

TEST(KubeconfigTest, RelativePathsStartAtTheFoldersFileButPluginsAreSoughtUnlessTheyHaveASlash) {
  EXPECT_EQ(only_user("tokenFile: /run/token").token_file, "/run/token");
  EXPECT_EQ(only_user("tokenFile: ../token").token_file, "/etc/kube/../token");
  EXPECT_EQ(command_of("x"), "x");
  EXPECT_EQ(command_of("./x"), "/etc/kube/./x");
  EXPECT_EQ(command_of("/bin/x"), "/bin/x");
  const Result<Kubeconfig> here = parse_kubeconfig("users: [{user: {tokenFile: t}}]", "config");
  EXPECT_EQ(here.value().users.front().token_file, "t");
}

TEST(KubeconfigTest, JsonIsReadAsYamlIs) {
  const Kubeconfig kubeconfig = parsed(
      R"({"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"https:\/\/a"}}],)"
      "\n\t"
      R"("users":[{"name":"u","user":{"token":"\u0061b"}}],"contexts":[],"current-context":"c"})");
  EXPECT_EQ(kubeconfig.clusters.front().server, "https://a");
  EXPECT_EQ(kubeconfig.users.front().token, "ab");
  EXPECT_EQ(kubeconfig.current_context, "c");
}

TEST(KubeconfigTest, UnknownKeysAndNullsAreToleratedAndTheLastOfTwoKeysCounts) {
  const KubeconfigUser user =
      only_user("token: a, hologram: {b: [c]}, username: null, exec: ~, token: b");
  EXPECT_EQ(user.token, "b");
  EXPECT_EQ(user.username, "");
  EXPECT_FALSE(user.exec);
}

TEST(KubeconfigTest, AnEmptyFileConfiguresNothing) {
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed("# nothing\n").empty());
  EXPECT_TRUE(parsed("apiVersion: v1\nkind: Config\npreferences: {}\n").empty());
}

TEST(KubeconfigTest, BinaryDataMayHaveLineBreaksInIt) {
  EXPECT_EQ(only_user("client-key-data: \"S0VZ\\nS0VZ\\n\"").client_key.data, "KEYKEY");
}

TEST(KubeconfigTest, EverythingOfTheWrongTypeIsReportedAtOnceWithoutItsValue) {
  EXPECT_EQ(
      error_of(R"(apiVersion: v2
clusters:
- name: c
  cluster:
    server: [https://a]
    insecure-skip-tls-verify: "yes"
- secret1
users:
- name: u
  user:
    token: 123456
    password: true
    client-key-data: "secret2!"
    as-groups: secret3
    as-groups2: ignored
    as-user-extra: {key: [a, {secret4: b}]}
    exec: {env: [secret5], args: {secret6: a}}
- name: u
  user: secret7
contexts: {name: c}
)"),
      R"(error loading config file "/etc/kube/config": line 1: apiVersion: must be v1, not "v2"
error loading config file "/etc/kube/config": line 5: cluster "c": server: expected text, not a list
error loading config file "/etc/kube/config": line 6: cluster "c": insecure-skip-tls-verify: expected true or false, not text
error loading config file "/etc/kube/config": line 7: clusters[1]: expected a block of fields, not text
error loading config file "/etc/kube/config": line 11: user "u": token: expected text, not a number: put it in quotes
error loading config file "/etc/kube/config": line 12: user "u": password: expected text, not true or false: put it in quotes
error loading config file "/etc/kube/config": line 13: user "u": client-key-data: is not base64
error loading config file "/etc/kube/config": line 14: user "u": as-groups: expected a list, not text
error loading config file "/etc/kube/config": line 16: user "u": as-user-extra.key[1]: expected text, not a block of fields
error loading config file "/etc/kube/config": line 17: user "u": exec.args: expected a list, not a block of fields
error loading config file "/etc/kube/config": line 17: user "u": exec.env[0]: expected a block of fields, not text
error loading config file "/etc/kube/config": line 18: users[1].name: duplicate name "u" in list users
error loading config file "/etc/kube/config": line 19: user "u": user: expected a block of fields, not text
error loading config file "/etc/kube/config": line 20: contexts: expected a list, not a block of fields)");
}

TEST(KubeconfigTest, WhatIsNoYamlIsReportedWithItsLineAndNothingOfIt) {
  EXPECT_EQ(error_of("users:\n- name: [a\n"),
            "error loading config file \"/etc/kube/config\": line 3: end of sequence flow not "
            "found");
  EXPECT_EQ(error_of("users: [{user: {password: *hunter2}}]").find("hunter2"), std::string::npos);
  EXPECT_NE(error_of("users: [{user: {password: *hunter2}}]"), "none");
  EXPECT_EQ(error_of("hunter2"),
            "error loading config file \"/etc/kube/config\": line 1: expected a Config");
}

TEST(KubeconfigTest, AnExtensionThatGrowsByItsAliasesIsRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string to = "*a" + std::to_string(i - 1);
    text += fmt::format("a{0}: &a{0} [{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}]\n", i, to);
  }
  text +=
      "clusters: [{name: c, cluster: {extensions: [{name: client.authentication.k8s.io/exec, "
      "extension: *a8}]}}]\n";
  EXPECT_NE(error_of(text).find("cluster \"c\": extensions[0].extension: is nested too deeply"),
            std::string::npos);
}

TEST(KubeconfigTest, AMissingFileIsAnErrorThatNamesIt) {
  EXPECT_EQ(load_kubeconfig("/nowhere/config").error().what,
            "error loading config file \"/nowhere/config\": read /nowhere/config: No such file or "
            "directory");
}

TEST(KubeconfigTest, AFileIsReadAsItsTextIs) {
  const TempFolder folder;
  const std::string path = folder.write("config", "users: [{name: u, user: {tokenFile: t}}]");
  EXPECT_EQ(load_kubeconfig(path).value().users.front().token_file, folder.path("t"));
}

}  // namespace
}  // namespace mkp
