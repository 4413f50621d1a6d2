#include "proxy/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EndpointInfo ready(std::string_view place, std::string node = "other") {
  return {endpoint(place), true, true, false, std::move(node)};
}
EndpointInfo draining(std::string_view place) {
  return {endpoint(place), false, true, true, "other"};
}
EndpointInfo starting(std::string_view place) {
  return {endpoint(place), false, false, false, "other"};
}

TEST(TopologyTest, ReadyEndpointsAreUsedAndNoOthers) {
  EXPECT_THAT(select_cluster_endpoints({ready("10.180.0.3:80"), starting("10.180.0.4:80"),
                                        draining("10.180.0.5:80"), ready("10.180.0.2:80")}),
              ElementsAre(endpoint("10.180.0.2:80"), endpoint("10.180.0.3:80")));
}

TEST(TopologyTest, WithoutAReadyOneThoseThatStillServeWhileTheyTerminateAreUsed) {
  EndpointInfo finished = draining("10.180.0.6:80");
  finished.serving = false;
  EXPECT_THAT(
      select_cluster_endpoints({starting("10.180.0.4:80"), draining("10.180.0.5:80"), finished}),
      ElementsAre(endpoint("10.180.0.5:80")));
}

TEST(TopologyTest, AReadyEndpointThatTerminatesIsUsed) {
  EndpointInfo published = ready("10.180.0.2:80");
  published.terminating = true;
  published.serving = false;
  EXPECT_THAT(select_cluster_endpoints({published}), ElementsAre(endpoint("10.180.0.2:80")));
}

TEST(TopologyTest, NobodyToUseIsAnEmptyList) {
  EXPECT_THAT(select_cluster_endpoints({starting("10.180.0.4:80")}), IsEmpty());
}

TEST(TopologyTest, AnEndpointMayBeTheClientWhenItIsHereOrNowhereOrInThisNodesPodCidrs) {
  const NodeInfo node{"node-a", {prefix("10.180.7.0/24")}};
  const std::vector<EndpointInfo> infos = {
      ready("10.180.1.1:80", "node-a"), ready("10.180.1.2:80", ""),
      ready("10.180.7.3:80", "node-b"), ready("10.180.8.4:80", "node-b")};
  EXPECT_THAT(hairpin_addresses(infos, select_cluster_endpoints(infos), node),
              ElementsAre(ip("10.180.1.1"), ip("10.180.1.2"), ip("10.180.7.3")));
}

TEST(TopologyTest, AnEndpointThatIsNotUsedIsNoClientOfItself) {
  EndpointInfo unused = starting("10.180.1.1:80");
  unused.node_name = "node-a";
  EXPECT_THAT(hairpin_addresses({unused}, {}, {"node-a", {}}), IsEmpty());
}

}  // namespace
}  // namespace mkp
