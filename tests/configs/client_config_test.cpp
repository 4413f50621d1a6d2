#include "configs/client_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner/base64.h"
#include "tests/configs/pem_pair.h"
#include "tests/configs/temp_folder.h"

namespace mkp {
namespace {

constexpr const char* kToken = "var/run/secrets/kubernetes.io/serviceaccount/token";
constexpr const char* kRoots = "var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

// A kubeconfig in a folder of its own.
class ClientConfigTest : public testing::Test {
 protected:
  // Of one cluster and one user, whose context is the current one.
  void write(std::string_view cluster, std::string_view user, mode_t mode = 0600) {
    folder_.write("config",
                  fmt::format("clusters: [{{name: c, cluster: {{{}}}}}]\n"
                              "users: [{{name: u, user: {{{}}}}}]\n"
                              "contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
                              "current-context: here\n",
                              cluster, user),
                  mode);
  }
  Result<ApiServerConfig> load() {
    return load_client_config({.kubeconfig = folder_.path("config"), .master = master_},
                              environment_);
  }
  // Of files that are right.
  ApiServerConfig loaded() {
    Result<ApiServerConfig> config = load();
    EXPECT_TRUE(config) << config.error().what;
    return config ? std::move(*config) : ApiServerConfig{};
  }
  // Paths in it begin with "DIR/".
  std::string error() {
    const Result<ApiServerConfig> config = load();
    return config ? "none" : without_folder(config.error().what);
  }
  std::string warnings() { return without_folder(fmt::format("{}", joined(loaded().warnings))); }

  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  std::string without_folder(std::string text) const {
    for (std::size_t at = 0; (at = text.find(folder_.path())) != std::string::npos;) {
      text.replace(at, folder_.path().size(), "DIR");
    }
    return text;
  }

  const TempFolder folder_;
  Environment environment_;
  std::string master_;
};

constexpr const char* kServer = "server: https://192.168.0.1:6443";

TEST_F(ClientConfigTest, AServerAndATokenAreAllThatIsNeeded) {
  write("server: https://api.example:6443/k8s/", "token: t");
  ApiServerConfig expected;
  expected.server = {true, "api.example", 6443, "/k8s"};
  expected.token = "t";
  expected.origin = "kubeconfig " + folder_.path("config") + ", context \"here\"";
  EXPECT_EQ(loaded(), expected);
}

TEST_F(ClientConfigTest, WhatTheServersUrlLeavesOutIsTheUsual) {
  write("server: 'https://api.example?a=b#c'", "token: t");
  EXPECT_EQ(loaded().server, (ServerUrl{true, "api.example", 443, ""}));
  write("server: 'http://[fd20::11]'", "{}");
  EXPECT_EQ(loaded().server, (ServerUrl{false, "fd20::11", 80, ""}));
  write("server: api.example:8080", "{}");
  EXPECT_EQ(loaded().server, (ServerUrl{false, "api.example", 8080, ""}));
}

TEST_F(ClientConfigTest, AServerThatIsNoUrlIsAnErrorWithoutItsPassword) {
  constexpr const char* kPlace =
      "invalid configuration: DIR/config: line 1: cluster \"c\": server: ";
  write("server: 'https://'", "token: t");
  EXPECT_EQ(error(), fmt::format("{}server \"https://\" is not a URL such as "
                                 "https://192.168.0.1:6443",
                                 kPlace));
  write("server: 'api.example/path'", "token: t");
  EXPECT_EQ(error(), fmt::format("{}server \"api.example/path\" is not a URL such as "
                                 "https://192.168.0.1:6443",
                                 kPlace));
  write("server: 'ftp://api.example'", "token: t");
  EXPECT_EQ(error(), fmt::format("{}server \"ftp://api.example\" must be https or http", kPlace));
  write("server: 'https://me:hunter2@api.example'", "token: t");
  EXPECT_EQ(error(), fmt::format("{}server \"https://***@api.example\" has a user in it; a user's "
                                 "credentials belong to users",
                                 kPlace));
}

TEST_F(ClientConfigTest, WithoutTlsThereAreNoCredentialsButImpersonation) {
  write("server: http://api.example, insecure-skip-tls-verify: true, tls-server-name: a",
        "token: hunter2, tokenFile: gone, as: admin");
  const ApiServerConfig config = loaded();
  EXPECT_EQ(config.token, "");
  EXPECT_EQ(config.token_file, "");
  EXPECT_FALSE(config.insecure_skip_tls_verify);
  EXPECT_EQ(config.tls_server_name, "");
  EXPECT_EQ(config.headers.size(), 1U);
  EXPECT_EQ(warnings(),
            "kubeconfig DIR/config, context \"here\": user \"u\": its credentials are not sent, as "
            "the server is not https: the API server will take us for anonymous\n");
}

TEST_F(ClientConfigTest, CertificatesMayBeInTheFileOrBesideIt) {
  const PemPair pair = make_pem_pair("node");
  folder_.write("pki/c.crt", pair.certificate);
  folder_.write("pki/c.key", pair.key);
  write(fmt::format("{}, certificate-authority-data: {}", kServer, to_base64(pair.certificate)),
        "client-certificate: pki/c.crt, client-key: pki/c.key");
  ApiServerConfig config = loaded();
  EXPECT_EQ(config.certificate_authority, (PemSource{pair.certificate, ""}));
  EXPECT_EQ(config.client_certificate, (PemSource{"", folder_.path("pki/c.crt")}));
  EXPECT_EQ(config.client_key, (PemSource{"", folder_.path("pki/c.key")}));

  write(fmt::format("{}, certificate-authority: pki/c.crt", kServer),
        fmt::format("client-certificate-data: {}, client-key-data: {}", to_base64(pair.certificate),
                    to_base64(pair.key)));
  config = loaded();
  EXPECT_EQ(config.certificate_authority, (PemSource{"", folder_.path("pki/c.crt")}));
  EXPECT_EQ(config.client_certificate, (PemSource{pair.certificate, ""}));
  EXPECT_EQ(config.client_key, (PemSource{pair.key, ""}));
}

TEST_F(ClientConfigTest, FilesThatCannotBeReadAreAllNamed) {
  write(fmt::format("{}, certificate-authority: ca.crt", kServer),
        "client-certificate: c.crt, client-key: c.key, tokenFile: token");
  EXPECT_EQ(
      error(),
      "invalid configuration: DIR/config: line 1: cluster \"c\": certificate-authority: "
      "unable to read certificate-authority DIR/ca.crt for c due to read DIR/ca.crt: No such "
      "file or directory\n"
      "invalid configuration: DIR/config: line 2: user \"u\": client-certificate: unable to "
      "read client-cert DIR/c.crt for u due to read DIR/c.crt: No such file or directory\n"
      "invalid configuration: DIR/config: line 2: user \"u\": client-key: unable to read "
      "client-key DIR/c.key for u due to read DIR/c.key: No such file or directory\n"
      "invalid configuration: DIR/config: line 2: user \"u\": tokenFile: failed to read token "
      "file \"DIR/token\": read DIR/token: No such file or directory");
}

TEST_F(ClientConfigTest, ACaThatIsNoCertificateIsAnErrorButAnEmptyFileIsStillToCome) {
  write(fmt::format("{}, certificate-authority-data: {}", kServer, to_base64("hunter2")), "{}");
  EXPECT_EQ(error(),
            "invalid configuration: DIR/config: line 1: cluster \"c\": certificate-authority-data: "
            "unable to load root certificates: unable to parse bytes as PEM block");
  write(fmt::format("{}, certificate-authority: ca.crt", kServer), "{}");
  folder_.write("ca.crt", "");
  EXPECT_EQ(error(), "none");
}

TEST_F(ClientConfigTest, ACertificateThatIsNotItsKeysIsAnError) {
  write(kServer,
        fmt::format("client-certificate-data: {}, client-key-data: {}",
                    to_base64(make_pem_pair("a").certificate), to_base64(make_pem_pair("b").key)));
  EXPECT_EQ(error(),
            "invalid configuration: DIR/config: line 2: user \"u\": client-certificate: cannot be "
            "used with its key: the certificate is not this key's");
}

TEST_F(ClientConfigTest, ATokenFileIsReadAtOnceUnlessThereIsATokenForTheStart) {
  write(kServer, "tokenFile: token");
  folder_.write("token", " \n");
  EXPECT_EQ(error(),
            "invalid configuration: DIR/config: line 2: user \"u\": tokenFile: read empty token "
            "from file \"DIR/token\"");
  folder_.write("token", "t\n");
  EXPECT_EQ(loaded().token_file, folder_.path("token"));
  write(kServer, "tokenFile: gone, token: t");
  EXPECT_EQ(loaded().token_file, folder_.path("gone"));
  EXPECT_EQ(loaded().token, "t");
}

TEST_F(ClientConfigTest, ImpersonationBecomesHeadersWithNamesThatHeadersMayHave) {
  write(kServer,
        "token: t, as: admin, as-uid: '7', as-groups: [a, b], "
        "as-user-extra: {'example.org/50%é': [x, z]}");
  EXPECT_EQ(loaded().headers, (std::vector<std::pair<std::string, std::string>>{
                                  {"Impersonate-User", "admin"},
                                  {"Impersonate-Uid", "7"},
                                  {"Impersonate-Group", "a"},
                                  {"Impersonate-Group", "b"},
                                  {"Impersonate-Extra-example.org%2F50%25%C3%A9", "x"},
                                  {"Impersonate-Extra-example.org%2F50%25%C3%A9", "z"}}));
}

TEST_F(ClientConfigTest, APluginGetsToKnowTheClusterOnlyIfItIsMeantTo) {
  constexpr const char* kPlugin =
      "exec: {command: ./get, args: [a], env: [{name: A, value: b}], installHint: buy it, "
      "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, provideClusterInfo: ";
  const std::string roots = make_pem_pair("ca").certificate;
  folder_.write("ca.crt", roots);
  const std::string cluster =
      std::string(kServer) +
      ", certificate-authority: ca.crt, tls-server-name: a, disable-compression: true, "
      "proxy-url: 'http://p', extensions: [{name: client.authentication.k8s.io/exec, "
      "extension: {a: 1}}]";
  write(cluster, std::string(kPlugin) + "false}");
  ExecPluginConfig expected{
      folder_.path("./get"), {"a"}, {{"A", "b"}}, "client.authentication.k8s.io/v1", "buy it", ""};
  EXPECT_EQ(loaded().exec, expected);
  write(cluster, std::string(kPlugin) + "true}");
  expected.cluster_info = fmt::format(
      R"({{"server":"https://192.168.0.1:6443","tls-server-name":"a","certificate-authority-data":"{}",)"
      R"("proxy-url":"http://p","disable-compression":true,"config":{{"a":1}}}})",
      to_base64(roots));
  EXPECT_EQ(loaded().exec, expected);
}

TEST_F(ClientConfigTest, APluginIsNotUsedBesideOtherCredentials) {
  write(kServer, "token: t, exec: {command: x, apiVersion: client.authentication.k8s.io/v1beta1}");
  EXPECT_FALSE(loaded().exec);
  EXPECT_EQ(warnings(),
            "kubeconfig DIR/config, context \"here\": user \"u\": exec: the plugin is not used, as "
            "there are other credentials\n");
}

TEST_F(ClientConfigTest, AnAuthProviderIsNotThere) {
  write(kServer, "auth-provider: {name: gcp}");
  EXPECT_EQ(
      error(),
      "invalid configuration: DIR/config: line 2: user \"u\": auth-provider: no Auth Provider "
      "found for name \"gcp\"; use an exec plugin");
}

TEST_F(ClientConfigTest, AnUnverifiedServerIsWarnedAbout) {
  write(fmt::format("{}, insecure-skip-tls-verify: true", kServer), "token: t");
  EXPECT_TRUE(loaded().insecure_skip_tls_verify);
  EXPECT_EQ(warnings(),
            "kubeconfig DIR/config, context \"here\": cluster \"c\": insecure-skip-tls-verify: "
            "whoever is on the way to the API server can pose as it, read our credentials and "
            "decide where traffic to Services goes; set certificate-authority instead\n");
}

TEST_F(ClientConfigTest, SecretsThatOthersMayReadAreWarnedAbout) {
  const PemPair pair = make_pem_pair("node");
  folder_.write("c.crt", pair.certificate, 0644);
  folder_.write("c.key", pair.key, 0640);
  write(kServer, "client-certificate: c.crt, client-key: c.key", 0644);
  EXPECT_EQ(warnings(),
            "DIR/c.key has mode 0640, so that others than its owner may read the key of user "
            "\"u\": chmod 0600 it\n");
  write(kServer, "username: a, password: hunter2", 0604);
  EXPECT_EQ(warnings(),
            "DIR/config has mode 0604, so that others than its owner may read the credentials of "
            "user \"u\": chmod 0600 it\n");
  folder_.write("token", "t");
  write(kServer, "tokenFile: token", 0644);
  EXPECT_EQ(warnings(), "");
}

TEST_F(ClientConfigTest, TheMasterTakesThePlaceOfTheServer) {
  write("server: https://a, tls-server-name: b", "token: t");
  master_ = "https://[fd20::11]:6443";
  EXPECT_EQ(loaded().server, (ServerUrl{true, "fd20::11", 6443, ""}));
  EXPECT_EQ(loaded().tls_server_name, "");
  EXPECT_EQ(loaded().token, "t");
  master_ = "ftp://a";
  EXPECT_EQ(error(),
            "invalid configuration: DIR/config: --master: server \"ftp://a\" must be https or "
            "http");
}

TEST_F(ClientConfigTest, AMasterAloneIsAPlainConnection) {
  ApiServerConfig expected;
  expected.server = {false, "192.168.0.1", 8080, ""};
  expected.origin = "--master";
  EXPECT_EQ(load_client_config({"", "http://192.168.0.1:8080"}, environment_).value(), expected);
}

TEST_F(ClientConfigTest, AProxyOfTheClusterWinsOverTheEnvironments) {
  environment_.variables = {{"HTTPS_PROXY", "http://other:3128"}};
  write(fmt::format("{}, proxy-url: 'socks5://proxy'", kServer), "token: t");
  EXPECT_EQ(loaded().proxy, (ProxyServer{ProxyServer::Scheme::Socks5, "proxy", 1080, "", ""}));
  write(kServer, "token: t");
  EXPECT_EQ(loaded().proxy, (ProxyServer{ProxyServer::Scheme::Http, "other", 3128, "", ""}));
}

// A pod's files and variables.
class InClusterTest : public ClientConfigTest {
 protected:
  InClusterTest() {
    environment_.root = folder_.path();
    environment_.variables = {{"KUBERNETES_SERVICE_HOST", "172.30.0.1"},
                              {"KUBERNETES_SERVICE_PORT", "443"}};
    folder_.write(kToken, "t\n", 0644);
    folder_.write(kRoots, make_pem_pair("ca").certificate);
  }
  Result<ApiServerConfig> load_pod() { return load_client_config({}, environment_); }
};

TEST_F(InClusterTest, ThePodsServiceAccountIsUsed) {
  ApiServerConfig expected;
  expected.server = {true, "172.30.0.1", 443, ""};
  expected.token_file = folder_.path("/" + std::string(kToken));
  expected.certificate_authority.file = folder_.path("/" + std::string(kRoots));
  expected.origin = "the pod's service account";
  const ApiServerConfig config = load_pod().value();
  EXPECT_EQ(config.server, expected.server);
  EXPECT_EQ(without_folder(config.token_file), "DIR/" + std::string(kToken));
  EXPECT_EQ(without_folder(config.certificate_authority.file), "DIR/" + std::string(kRoots));
  EXPECT_EQ(config.warnings, std::vector<std::string>());
}

TEST_F(InClusterTest, AnIpv6AddressIsTakenWithAndWithoutBrackets) {
  environment_.variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(load_pod().value().server.host, "fd00::1");
  environment_.variables["KUBERNETES_SERVICE_HOST"] = "[fd00::1]";
  EXPECT_EQ(load_pod().value().server.host, "fd00::1");
}

TEST_F(InClusterTest, WithoutTheVariablesTheErrorSaysWhatToGive) {
  environment_.variables["KUBERNETES_SERVICE_PORT"] = "";
  EXPECT_EQ(load_pod().error().what,
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT must be defined; outside of a pod give --kubeconfig FILE, "
            "--master URL or --manifests DIR");
  environment_.variables["KUBERNETES_SERVICE_PORT"] = "https";
  EXPECT_EQ(load_pod().error().what,
            "in-cluster configuration: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are no "
            "address: https://172.30.0.1:https");
}

TEST_F(InClusterTest, WithoutATokenItFails) {
  folder_.remove(kToken);
  EXPECT_EQ(without_folder(load_pod().error().what),
            "in-cluster configuration: failed to read token file: read DIR/" + std::string(kToken) +
                ": No such file or directory");
}

TEST_F(InClusterTest, WithABrokenCaTheSystemsRootsAreGoneBy) {
  folder_.write(kRoots, "hunter2");
  const ApiServerConfig config = load_pod().value();
  EXPECT_FALSE(config.certificate_authority.given());
  EXPECT_EQ(without_folder(joined(config.warnings)),
            "in-cluster configuration: DIR/" + std::string(kRoots) +
                ": unable to parse bytes as PEM block; the system's roots are gone by instead, and "
                "the API server is not reached unless they know its certificate: look for the "
                "pod's volume\n");
}

TEST_F(InClusterTest, AKubeconfigThatSaysNothingIsAsNoneInAPod) {
  folder_.write("config", "apiVersion: v1\nkind: Config\n");
  EXPECT_EQ(loaded().server.host, "172.30.0.1");
  folder_.remove(kToken);
  EXPECT_EQ(error(),
            "invalid configuration: DIR/config: no configuration has been provided: no cluster, "
            "user and context in the kubeconfig, and no --master");
}

TEST_F(InClusterTest, TheEnvironmentsProxyIsUsedUnlessExcepted) {
  environment_.variables["https_proxy"] = "proxy:3128";
  EXPECT_EQ(load_pod().value().proxy,
            (ProxyServer{ProxyServer::Scheme::Http, "proxy", 3128, "", ""}));
  environment_.variables["no_proxy"] = "172.30.0.0/16";
  EXPECT_FALSE(load_pod().value().proxy);
}

}  // namespace
}  // namespace mkp
