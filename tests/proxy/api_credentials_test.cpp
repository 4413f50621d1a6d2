#include "proxy/api_credentials.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <algorithm>

#include "configs/client_config.h"
#include "configs/json_text.h"
#include "tests/configs/pem_pair.h"
#include "tests/proxy/api_credentials_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

class ApiCredentialsTest : public CredentialsFixture {
 protected:
  ApiCredentials& credentials() {
    if (!credentials_) credentials_.emplace(config_, clock_, [this] { return wall_time(); });
    return *credentials_;
  }
  Result<Credentials> current() { return outcome(credentials().current()); }
  std::string authorization() {
    const Result<Credentials> now = current();
    return now ? now->authorization : without_folder(now.error().what);
  }
  void pass(Duration time) { clock_.advance(time); }

  // A rotation as people do it: write beside, rename over.
  void replace(const std::string& name, std::string_view text) {
    folder_.write(name + ".new", text);
    std::filesystem::rename(folder_.path(name + ".new"), folder_.path(name));
  }

  void use_pair(const PemPair& pair) {
    config_.client_certificate.file = folder_.write("c.crt", pair.certificate);
    config_.client_key.file = folder_.write("c.key", pair.key);
  }
  // "the certificate of <name>" as far as it is one of these.
  bool shows(const PemPair& pair) {
    const Result<Credentials> now = current();
    return now && now->client_certificate == pair.certificate && now->client_key == pair.key;
  }

  ApiServerConfig config_;
  std::optional<ApiCredentials> credentials_;
};

TEST_F(ApiCredentialsTest, WithoutAnyThereAreNone) { EXPECT_EQ(current(), Credentials{}); }

TEST_F(ApiCredentialsTest, ATokenOrAPasswordGoesIntoTheHeader) {
  config_.token = "t";
  EXPECT_EQ(authorization(), "Bearer t");
  credentials_.reset();
  config_.token = "";
  config_.username = "me";
  config_.password = "pass";
  EXPECT_EQ(authorization(), "Basic bWU6cGFzcw==");
}

TEST_F(ApiCredentialsTest, PemOfTheConfigurationIsUsedAsItIs) {
  const PemPair pair = make_pem_pair("node");
  config_.client_certificate.data = pair.certificate;
  config_.client_key.data = pair.key;
  config_.certificate_authority.data = pair.certificate;
  EXPECT_EQ(current(), (Credentials{"", pair.certificate, pair.key, pair.certificate}));
}

TEST_F(ApiCredentialsTest, ATokenFileIsReadAgainAfterFiftySeconds) {
  config_.token_file = folder_.write("token", " one\n");
  EXPECT_EQ(authorization(), "Bearer one");
  folder_.write("token", "two\n");
  pass(49s);
  EXPECT_EQ(authorization(), "Bearer one");
  pass(2s);
  EXPECT_EQ(authorization(), "Bearer two");
  EXPECT_EQ(log(), "");
}

TEST_F(ApiCredentialsTest, ATokenOfWhichTheFileIsGoneStaysAndIsComplainedOfOnce) {
  config_.token_file = folder_.write("token", "one");
  EXPECT_EQ(authorization(), "Bearer one");
  folder_.remove("token");
  pass(50s);
  EXPECT_EQ(authorization(), "Bearer one");
  EXPECT_EQ(log(),
            "warning: failed to read token file \"DIR/token\": read DIR/token: No such file or "
            "directory; the token read before stays in use, and once it has expired, changes of "
            "the cluster are not seen: bring the file back\n");
  pass(50s);
  EXPECT_EQ(authorization(), "Bearer one");
  EXPECT_EQ(log(), "");
  folder_.write("token", "two");
  pass(50s);
  EXPECT_EQ(authorization(), "Bearer two");
  EXPECT_EQ(log(), "info: token file DIR/token: can be read again\n");
}

TEST_F(ApiCredentialsTest, AnEmptiedTokenFileLeavesTheOldToken) {
  config_.token_file = folder_.write("token", "one");
  EXPECT_EQ(authorization(), "Bearer one");
  folder_.write("token", "\n");
  pass(50s);
  EXPECT_EQ(authorization(), "Bearer one");
}

TEST_F(ApiCredentialsTest, WithoutATokenYetThereIsAnErrorAndEachRequestLooksAgain) {
  config_.token_file = folder_.write("token", "");
  EXPECT_EQ(authorization(), "read empty token from file \"DIR/token\"");
  folder_.write("token", "a\nb");
  EXPECT_EQ(authorization(),
            "token file \"DIR/token\" has more than one line, or a control character");
  folder_.write("token", "one");
  EXPECT_EQ(authorization(), "Bearer one");
}

TEST_F(ApiCredentialsTest, ATokenBesideItsFileIsForTheStart) {
  config_.token = "first";
  config_.token_file = folder_.path("token");
  EXPECT_EQ(authorization(), "Bearer first");
  folder_.write("token", "second");
  pass(50s);
  EXPECT_EQ(authorization(), "Bearer second");
}

TEST_F(ApiCredentialsTest, ARefusedTokenIsReadAgainAtOnce) {
  config_.token_file = folder_.write("token", "one");
  const Credentials used = current().value();
  folder_.write("token", "two");
  credentials().refused(used);
  EXPECT_EQ(authorization(), "Bearer two");
}

TEST_F(ApiCredentialsTest, AReplacedPairIsTakenOverWithinASecond) {
  const PemPair one = make_pem_pair("one");
  const PemPair two = make_pem_pair("two");
  use_pair(one);
  EXPECT_TRUE(shows(one));
  replace("c.crt", two.certificate);
  replace("c.key", two.key);
  pass(999ms);
  EXPECT_TRUE(shows(one));
  pass(1ms);
  EXPECT_TRUE(shows(two));
  EXPECT_EQ(log(),
            "info: client certificate and key DIR/c.crt, DIR/c.key: replaced; new connections to "
            "the API server use what is there now\n");
}

TEST_F(ApiCredentialsTest, HalfAPairLeavesTheOldOneAndIsComplainedOfOnce) {
  const PemPair one = make_pem_pair("one");
  const PemPair two = make_pem_pair("two");
  use_pair(one);
  EXPECT_TRUE(shows(one));
  replace("c.crt", two.certificate);
  pass(1s);
  EXPECT_TRUE(shows(one));
  EXPECT_EQ(log(),
            "warning: client certificate and key DIR/c.crt, DIR/c.key: the certificate is not this "
            "key's; what was read before stays in use, and once it has expired, changes of the "
            "cluster are not seen: complete the files\n");
  pass(1s);
  EXPECT_TRUE(shows(one));
  EXPECT_EQ(log(), "");
  replace("c.key", two.key);
  pass(1s);
  EXPECT_TRUE(shows(two));
}

TEST_F(ApiCredentialsTest, AFileThatIsWrittenJustNowLeavesTheOldPair) {
  const PemPair one = make_pem_pair("one");
  use_pair(one);
  EXPECT_TRUE(shows(one));
  folder_.write("c.crt", one.certificate.substr(0, 100));
  pass(1s);
  EXPECT_TRUE(shows(one));
  constexpr const char* kBegin =
      "warning: client certificate and key DIR/c.crt, DIR/c.key: no certificate in PEM: ";
  EXPECT_EQ(log().rfind(kBegin, 0), 0U);
  folder_.remove("c.key");
  pass(1s);
  EXPECT_TRUE(shows(one));
  folder_.write("c.crt", one.certificate);
  folder_.write("c.key", one.key);
  pass(1s);
  EXPECT_TRUE(shows(one));
  EXPECT_EQ(
      log(),
      "warning: client certificate and key DIR/c.crt, DIR/c.key: read DIR/c.key: No such file "
      "or directory; what was read before stays in use, and once it has expired, changes of "
      "the cluster are not seen: complete the files\n"
      "info: client certificate and key DIR/c.crt, DIR/c.key: can be used again\n");
}

// The clock of a file system ticks every few milliseconds.
TEST_F(ApiCredentialsTest, WhatIsWrittenTwiceInOneTickIsNotMissed) {
  std::string one = make_pem_pair("aaa").certificate;
  std::string two = make_pem_pair("bbb").certificate;
  const std::size_t size = std::max(one.size(), two.size());  // signatures differ in length
  one.resize(size, '\n');
  two.resize(size, '\n');
  config_.certificate_authority.file = folder_.write("ca.crt", one);
  struct stat before {};
  stat(folder_.path("ca.crt").c_str(), &before);
  EXPECT_EQ(current()->trusted_roots, one);
  folder_.write("ca.crt", two);
  const timespec times[] = {before.st_atim, before.st_mtim};
  utimensat(AT_FDCWD, folder_.path("ca.crt").c_str(), times, 0);
  pass(1s);
  EXPECT_EQ(current()->trusted_roots, two);
}

TEST_F(ApiCredentialsTest, RootsAreFollowedTooAndBadOnesLeaveTheOldOnes) {
  const std::string one = make_pem_pair("one").certificate;
  const std::string two = make_pem_pair("two").certificate;
  config_.certificate_authority.file = folder_.write("ca.crt", one);
  EXPECT_EQ(current()->trusted_roots, one);
  replace("ca.crt", "");
  pass(1s);
  EXPECT_EQ(current()->trusted_roots, one);
  replace("ca.crt", two);
  pass(1s);
  EXPECT_EQ(current()->trusted_roots, two);
}

TEST_F(ApiCredentialsTest, RootsThatAreStillToComeAreWaitedFor) {
  config_.certificate_authority.file = folder_.write("ca.crt", "");
  EXPECT_EQ(error_of(current()),
            "certificate authority DIR/ca.crt: unable to parse bytes as PEM block");
  EXPECT_EQ(log(), "");
  const std::string roots = make_pem_pair("one").certificate;
  folder_.write("ca.crt", roots);
  EXPECT_EQ(current()->trusted_roots, roots);
}

TEST_F(ApiCredentialsTest, APluginsTokenAndCertificateAreUsed) {
  const PemPair pair = make_pem_pair("plugin");
  config_.exec.emplace();
  config_.exec->api_version = "client.authentication.k8s.io/v1";
  config_.exec->command = folder_.write_program(
      "plugin",
      fmt::format("#!/bin/sh\ncat <<'END'\n"
                  R"({{"kind":"ExecCredential","apiVersion":"{}","status":{{)"
                  R"("token":"t","clientCertificateData":{},"clientKeyData":{}}}}})"
                  "\nEND\n",
                  config_.exec->api_version, json_quoted(pair.certificate), json_quoted(pair.key)));
  EXPECT_EQ(current(), (Credentials{"Bearer t", pair.certificate, pair.key, ""}));
}

TEST_F(ApiCredentialsTest, ARefusedTokenOfAPluginIsAskedForAgainOnce) {
  config_.exec.emplace();
  config_.exec->api_version = "client.authentication.k8s.io/v1";
  config_.exec->command = folder_.write_program(
      "plugin",
      fmt::format(
          "#!/bin/sh\necho x >> {0}\n"
          R"(echo '{{"kind":"ExecCredential","apiVersion":"{1}","status":{{"token":"t'$(wc -l < {0})'"}}}}')"
          "\n",
          folder_.path("runs"), config_.exec->api_version));
  const Credentials first = current().value();
  EXPECT_EQ(first.authorization, "Bearer t1");
  EXPECT_EQ(authorization(), "Bearer t1");
  credentials().refused(first);
  EXPECT_EQ(authorization(), "Bearer t2");
  credentials().refused(first);  // by another request that was under way
  EXPECT_EQ(authorization(), "Bearer t2");
}

// Whatever goes wrong, and however much is logged.
TEST_F(ApiCredentialsTest, NoSecretIsEverShown) {
  const PemPair pair = make_pem_pair("node");
  std::string secret_key = pair.key;
  secret_key.insert(secret_key.size() / 2, "hunter2");
  use_pair(pair);
  config_.token_file = folder_.write("token", "token-hunter2");
  config_.certificate_authority.file = folder_.write("ca.crt", pair.certificate);
  std::string shown = error_of(current());
  folder_.write("token", "token-hunter2\nsecond");
  folder_.write("c.key", secret_key);
  folder_.write("c.crt", "-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----\n");
  folder_.write("ca.crt",
                "hunter2 -----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----");
  pass(1min);
  shown += error_of(current());
  credentials_.reset();  // as of a process that starts
  shown += error_of(current());
  config_ = ApiServerConfig{};
  use_pair({pair.certificate, secret_key});
  credentials_.reset();
  shown += error_of(current());
  config_ = ApiServerConfig{};
  config_.exec.emplace();
  config_.exec->api_version = "client.authentication.k8s.io/v1";
  config_.exec->env = {{"PASSWORD", "hunter2"}};
  config_.exec->args = {"hunter2"};
  config_.exec->command = folder_.write_program("plugin", "#!/bin/sh\necho \"{hunter2: $1\"\n");
  credentials_.reset();
  shown += error_of(current());
  config_.exec->command = folder_.write_program("fails", "#!/bin/sh\necho hunter2\nexit 3\n");
  credentials_.reset();
  shown += error_of(current());
  shown += log();
  EXPECT_EQ(shown.find("hunter2"), std::string::npos) << shown;
  EXPECT_EQ(shown.find(pair.key.substr(40, 20)), std::string::npos) << shown;
  EXPECT_NE(shown.find("token file \"DIR/token\""), std::string::npos) << shown;
  EXPECT_NE(shown.find("decoding stdout"), std::string::npos) << shown;
  EXPECT_NE(shown.find("exit code 3"), std::string::npos) << shown;
  EXPECT_NE(shown.find("no usable private key"), std::string::npos) << shown;
}

// The same of a kubeconfig on its way into a configuration.
TEST_F(ApiCredentialsTest, NoSecretOfAKubeconfigIsEverShown) {
  const auto shown_of = [this](std::string_view user, std::string_view cluster) {
    const std::string path = folder_.write(
        "config",
        fmt::format("clusters: [{{name: c, cluster: {{{}}}}}]\nusers: [{{name: u, user: {{{}}}}}]\n"
                    "contexts: [{{name: h, context: {{cluster: c, user: u}}}}]\n"
                    "current-context: h\n",
                    cluster, user),
        0644);
    const Result<ApiServerConfig> config = load_client_config({path, ""}, {});
    std::string text = error_of(config);
    if (config) {
      for (const std::string& warning : config->warnings) text += warning + "\n";
      text += config->origin;
    }
    return text + "\n";
  };
  constexpr const char* kServer = "server: https://a";
  std::string shown = shown_of("token: hunter2", kServer);
  shown += shown_of("token: hunter2", "server: http://a");
  shown += shown_of("token: \"hunter2\\n\"", kServer);
  shown += shown_of("token: hunter2, username: a, password: hunter2", kServer);
  shown += shown_of("username: hunter2, password: [hunter2]", kServer);
  shown += shown_of("password: *hunter2", kServer);
  shown += shown_of("password: !hunter2! hunter2", kServer);
  shown += shown_of("client-key-data: hunter2", kServer);
  shown +=
      shown_of("client-key-data: aHVudGVyMg==, client-certificate-data: aHVudGVyMg==", kServer);
  shown += shown_of("as: \"hunter2\\n\"", kServer);
  shown +=
      shown_of("exec: {command: x, args: [hunter2], env: [{name: A, value: hunter2}]}", kServer);
  shown += shown_of("token: t", "server: 'https://me:hunter2@a'");
  shown += shown_of("token: t", "server: https://a, proxy-url: 'x://me:hunter2@a'");
  shown += shown_of("token: t", "server: https://a, proxy-url: 'http://me:hunter2@a:port'");
  EXPECT_EQ(shown.find("hunter2"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("aHVudGVyMg"), std::string::npos) << shown;
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 17) << shown;
}

}  // namespace
}  // namespace mkp
