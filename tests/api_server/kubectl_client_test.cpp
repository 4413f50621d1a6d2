#include <string>

#include "tests/api_server/client_fixture.h"

namespace mkp::api {
namespace {

using testing::HasSubstr;

class KubectlClientTest : public ClientFixture {
 protected:
  // With a cache of its own: kubectl keeps what it finds out for hours.
  std::vector<std::string> command(std::vector<std::string> arguments) {
    const std::vector<std::string> start{MKP_KUBECTL, "--kubeconfig", kubeconfig_, "--cache-dir",
                                         file("kubectl")};
    arguments.insert(arguments.begin(), start.begin(), start.end());
    return arguments;
  }
  std::string kubectl(const std::vector<std::string>& arguments) {
    const Result<std::string> said = packets::run_program(command(arguments), "", {0, 1});
    return said ? *said : said.error().what;
  }
};

TEST_F(KubectlClientTest, FindsOutWhatThereIs) {
  EXPECT_EQ(kubectl({"get", "--raw", "/healthz"}), "ok");
  EXPECT_THAT(kubectl({"version"}), HasSubstr("Server Version: v1.37.2"));
  EXPECT_THAT(kubectl({"api-resources"}), HasSubstr("endpointslices"));
}

TEST_F(KubectlClientTest, GetsObjects) {
  put_service("web", "172.30.0.10");
  put_service("api", "172.30.0.11");
  EXPECT_THAT(kubectl({"get", "svc", "-A", "--no-headers"}),
              testing::ContainsRegex("default +api.*\ndefault +web"));
  EXPECT_THAT(kubectl({"get", "svc", "web", "-o", "jsonpath={.spec.clusterIP}"}), "172.30.0.10");
  EXPECT_THAT(kubectl({"get", "svc", "nobody"}), HasSubstr("services \"nobody\" not found"));
  EXPECT_EQ(
      kubectl({"get", "svc", "-o", "name", "--field-selector", "spec.clusterIP!=172.30.0.10"}),
      "service/api\n");
}

TEST_F(KubectlClientTest, WatchesObjects) {
  put_service("web", "172.30.0.10");
  const auto watch = packets::RunningProgram::start(command({"get", "svc", "-w", "-o", "name"}));
  ASSERT_TRUE(watch) << watch.error().what;
  const auto said = [&watch](const std::string& text) {
    return eventually(*watch, [&] { return watch->said().find(text) != std::string::npos; });
  };
  EXPECT_TRUE(said("service/web")) << watch->said();
  put_service("api", "172.30.0.11");
  EXPECT_TRUE(said("service/api")) << watch->said();
}

}  // namespace
}  // namespace mkp::api
