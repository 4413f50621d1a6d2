#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/cluster/control_plane.h"
#include "tests/packets/program.h"

namespace mkp::cluster {
namespace {

using testing::HasSubstr;

constexpr const char* kWeb = R"({"apiVersion": "v1", "kind": "Service",
  "metadata": {"name": "web", "namespace": "default"},
  "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
  "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}})";
const std::string kServices = "/api/v1/namespaces/default/services";

// One for all tests, as it takes some seconds to start.
class ClusterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<std::unique_ptr<ControlPlane>> started = ControlPlane::start();
    ASSERT_TRUE(started) << started.error().what;
    cluster_ = std::move(*started);
    const Result<Attachment> attached = cluster_->attach();
    ASSERT_TRUE(attached) << attached.error().what;
    attachment_ = *attached;
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override { ASSERT_TRUE(cluster_); }

  // The status with which the API server answers over the link.
  static std::string status_of(const std::string& url, std::vector<std::string> options = {}) {
    std::vector<std::string> command{"curl",       "-s",
                                     "-o",         "/dev/null",
                                     "-w",         "%{http_code}",
                                     "--max-time", "1",
                                     "--cacert",   cluster_->file("ca.crt"),
                                     url};
    command.insert(command.end(), options.begin(), options.end());
    return packets::run_program(command, "", {0, 7, 28, 35, 56}).value_or("failed");
  }
  static std::string status_with_token(const std::string& token, const std::string& path) {
    return status_of(server_ + path, {"-H", "Authorization: Bearer " + token});
  }

  static inline std::unique_ptr<ControlPlane> cluster_;
  static inline Attachment attachment_;
  static inline const std::string server_ =
      std::string("https://") + ControlPlane::kAddress + ":6443";
};

TEST_F(ClusterTest, KeepsWhatIsApplied) {
  const Result<> applied = cluster_->admin().apply(kWeb);
  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_THAT(cluster_->admin().get(kServices + "/web").value_or(""), HasSubstr("203.0.113.7"));

  EXPECT_TRUE(
      cluster_->admin().patch(kServices + "/web", R"({"spec":{"externalIPs":["203.0.113.8"]}})"));
  EXPECT_THAT(cluster_->admin().get(kServices + "/web").value_or(""), HasSubstr("203.0.113.8"));

  EXPECT_TRUE(cluster_->admin().remove(kServices + "/web"));
  EXPECT_THAT(cluster_->admin().get(kServices + "/web").error().what, HasSubstr("not found"));
}

TEST_F(ClusterTest, LetsTheProxyInByTokenOrCertificateAndNobodyElse) {
  EXPECT_EQ(status_with_token("proxy-token-1", "/api/v1/services"), "200");
  EXPECT_EQ(status_with_token("proxy-token-1", "/api/v1/secrets"), "403");
  EXPECT_EQ(status_with_token("no-token", "/api/v1/services"), "401");
  EXPECT_EQ(status_of(server_ + "/api/v1/services", {"--cert", cluster_->file("proxy.crt"), "--key",
                                                     cluster_->file("proxy.key")}),
            "200");
  EXPECT_EQ(status_of(std::string("https://[") + ControlPlane::kIpv6Address + "]:6443/readyz"),
            "200");
}

TEST_F(ClusterTest, LosesPacketsWhileALinkIsCut) {
  ASSERT_TRUE(cluster_->cut(attachment_));
  EXPECT_EQ(status_of(server_ + "/readyz"), "000");
  ASSERT_TRUE(cluster_->mend(attachment_));
  EXPECT_EQ(status_of(server_ + "/readyz"), "200");
}

TEST_F(ClusterTest, ForgetsOldVersionsOnceEtcdIsCompactedAndTakesNewCredentialsAtAStart) {
  ASSERT_TRUE(cluster_->admin().apply(kWeb));
  ASSERT_TRUE(cluster_->stop_api_server());
  EXPECT_EQ(status_of(server_ + "/readyz"), "000");
  ASSERT_TRUE(cluster_->compact());
  ASSERT_TRUE(cluster_->rotate_proxy_token());
  ASSERT_TRUE(cluster_->rotate_serving_certificate());

  const Result<> started = cluster_->start_api_server();
  ASSERT_TRUE(started) << started.error().what;
  EXPECT_EQ(status_with_token("proxy-token-1", "/api/v1/services"), "401");
  EXPECT_EQ(status_with_token("proxy-token-2", "/api/v1/services"), "200");
  EXPECT_THAT(cluster_->admin().get("/api/v1/services?watch=true&resourceVersion=1").value_or(""),
              HasSubstr("too old resource version"));
  EXPECT_THAT(cluster_->admin().get(kServices).value_or(""), HasSubstr("\"web\""));
}

TEST_F(ClusterTest, HoldsThousandsOfServicesThatWereSeeded) {
  const Result<> seeded = cluster_->seed(2000, 2);
  ASSERT_TRUE(seeded) << seeded.error().what;
  EXPECT_THAT(cluster_->admin().get("/api/v1/namespaces/team-19/services/svc-1999").value_or(""),
              HasSubstr("10.96.8.207"));
}

}  // namespace
}  // namespace mkp::cluster
