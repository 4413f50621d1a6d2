#include <fmt/format.h>

#include <string>

#include "tests/api_server/client_fixture.h"

namespace mkp::api {
namespace {

using testing::HasSubstr;
using testing::Not;

class KubeProxyClientTest : public ClientFixture {
 protected:
  void SetUp() override {
    const auto built = packets::run_program({MKP_CLUSTER_BUILD});
    ASSERT_TRUE(built) << built.error().what;
    program_ = built->substr(0, built->find_last_not_of('\n') + 1) + "/kube-proxy";

    Node node;
    node.metadata.name = "worker-1";
    node.internal_ips = {"192.168.0.1"};
    node.pod_cidrs = {"10.180.0.0/24"};
    ServiceCidr cidr;
    cidr.metadata.name = "kubernetes";
    cidr.cidrs = {"172.30.0.0/16"};
    EndpointSlice slice;
    slice.metadata.name_space = "default";
    slice.metadata.name = "web-x";
    slice.service_name = "web";
    slice.ports = {{"http", 8080, Protocol::Tcp}};
    slice.endpoints.emplace_back().address = "10.180.0.2";
    server_.with([&](TestApiServer& server) {
      server.store().put(draft(node));
      server.store().put(draft(cidr));
      server.store().put(draft(slice));
    });
    put_service("web", "172.30.0.10");
  }

  Result<packets::RunningProgram> start() const {
    return packets::RunningProgram::start(
        {program_, "--kubeconfig", kubeconfig_, "--proxy-mode", "nftables", "--hostname-override",
         "worker-1", "--conntrack-max-per-core", "0", "--conntrack-tcp-timeout-established", "0s",
         "--conntrack-tcp-timeout-close-wait", "0s"});
  }
  std::string counts(const std::string& verb) {
    return fmt::format("services {}, endpointslices {}, servicecidrs {}",
                       requests(verb, "services"), requests(verb, "endpointslices"),
                       requests(verb, "servicecidrs"));
  }
  static bool table_has(const std::string& text) {
    const auto table =
        packets::run_program({"nft", "list", "table", "ip", "kube-proxy"}, "", {0, 1});
    return table.value_or("").find(text) != std::string::npos;
  }

  std::string program_;
};

TEST_F(KubeProxyClientTest, FollowsTheObjectsOfEveryKindWithoutListingTwice) {
  const auto proxy = start();
  ASSERT_TRUE(proxy) << proxy.error().what;
  EXPECT_TRUE(eventually(*proxy, [] { return table_has("10.180.0.2:8080"); })) << proxy->said();
  put_service("api", "172.30.0.11");
  EXPECT_TRUE(eventually(*proxy, [] { return table_has("172.30.0.11"); })) << proxy->said();

  EXPECT_EQ(counts("watch"), "services 1, endpointslices 1, servicecidrs 1") << log();
  EXPECT_EQ(counts("list"), "services 0, endpointslices 0, servicecidrs 0") << log();
  EXPECT_GE(requests("watch", "nodes"), 1U) << log();
  EXPECT_THAT(proxy->said(), Not(HasSubstr("Failed to watch")));
  EXPECT_THAT(proxy->said(), Not(HasSubstr("decode")));
}

TEST_F(KubeProxyClientTest, ListsWhereThereAreNoInitialEventsAndWatchesOnFromThere) {
  server_.with([](TestApiServer& server) { server.settings().watch_list = false; });
  const auto proxy = start();
  ASSERT_TRUE(proxy) << proxy.error().what;
  EXPECT_TRUE(eventually(*proxy, [] { return table_has("10.180.0.2:8080"); })) << proxy->said();
  EXPECT_EQ(requests("list", "services"), 1U) << log();
  put_service("api", "172.30.0.11");
  EXPECT_TRUE(eventually(*proxy, [] { return table_has("172.30.0.11"); })) << proxy->said();
}

TEST_F(KubeProxyClientTest, ComesBackAfterItsWatchesBrokeInMidEvent) {
  const auto proxy = start();
  ASSERT_TRUE(proxy) << proxy.error().what;
  EXPECT_TRUE(eventually(*proxy, [] { return table_has("10.180.0.2:8080"); })) << proxy->said();
  server_.with([](TestApiServer& server) {
    server.end_watches({.half_an_event = true, .connection = Ending::Reset});
  });
  put_service("api", "172.30.0.11");
  EXPECT_TRUE(eventually(*proxy, [] { return table_has("172.30.0.11"); })) << proxy->said();
  EXPECT_EQ(requests("list", "services"), 0U) << log();
}

}  // namespace
}  // namespace mkp::api
