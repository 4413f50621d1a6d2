#include "proxy/api_server_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {
namespace {

using testing::HasSubstr;

// A node that was told to reach its API server at `address`, and the Service kubernetes there.
class ApiServerSlicesTest : public testing::Test {
 protected:
  void start(std::optional<IpAddress> address) {
    state_.emplace(address);
    cluster_.put_service("kubernetes", {.cluster_ips = {"172.30.0.1"}, .port = 443});
    cluster_.put_slice("kubernetes", {"192.168.0.10"});
    apply();
  }
  void apply() { state_->apply(cluster_.take()); }
  std::string model(const std::string& service) {
    return to_text(diff({}, state_->rules_of({"default", service}, IpFamily::Ipv4).ports));
  }

  SmallCluster cluster_;
  std::optional<ClusterState> state_;
};

TEST_F(ApiServerSlicesTest, TheLastBackendStaysWhileThereIsNone) {
  start(ip("172.30.0.1"));
  cluster_.put_slice("kubernetes", {});
  apply();
  EXPECT_THAT(model("kubernetes"), HasSubstr("-> 192.168.0.10:8080;"));
}

TEST_F(ApiServerSlicesTest, ItStaysAlsoWhenTheSliceItselfIsDeleted) {
  start(ip("172.30.0.1"));
  cluster_.delete_slice("kubernetes-4");
  apply();
  EXPECT_THAT(model("kubernetes"), HasSubstr("-> 192.168.0.10:8080;"));
}

TEST_F(ApiServerSlicesTest, ANewBackendTakesItsPlace) {
  start(ip("172.30.0.1"));
  cluster_.put_slice("kubernetes", {});
  apply();
  cluster_.put_slice("kubernetes", {"192.168.0.11"});
  apply();
  EXPECT_THAT(model("kubernetes"), HasSubstr("-> 192.168.0.11:8080;"));
}

TEST_F(ApiServerSlicesTest, OtherServicesDropToNone) {
  start(ip("172.30.0.1"));
  cluster_.put_service("web", {.cluster_ips = {"172.30.0.2"}});
  cluster_.put_slice("web", {"10.180.0.2"});
  apply();
  cluster_.put_slice("web", {});
  apply();
  EXPECT_THAT(model("web"), HasSubstr("-> -;"));
}

TEST_F(ApiServerSlicesTest, ANodeThatReachesItsApiServerElsewhereFollowsTheSlice) {
  start(ip("192.168.0.10"));
  cluster_.put_slice("kubernetes", {});
  apply();
  EXPECT_THAT(model("kubernetes"), HasSubstr("-> -;"));
}

TEST_F(ApiServerSlicesTest, ADeletedServiceIsGone) {
  start(ip("172.30.0.1"));
  cluster_.put_slice("kubernetes", {});
  cluster_.delete_service("kubernetes");
  apply();
  EXPECT_EQ(model("kubernetes"), "");
}

}  // namespace
}  // namespace mkp
