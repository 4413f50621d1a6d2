#include "proxy/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Builders that say only what a test is about.
Service service(std::vector<std::string> cluster_ips,
                std::vector<AddressType> families = {AddressType::Ipv4}) {
  Service made;
  made.metadata.name_space = "default";
  made.metadata.name = "web";
  made.cluster_ip = cluster_ips.front();
  made.cluster_ips = std::move(cluster_ips);
  made.ip_families = std::move(families);
  made.ports = {{.name = "http", .protocol = Protocol::Tcp, .port = 80, .node_port = 0}};
  return made;
}

EndpointSlice slice(std::string name, const std::vector<std::string>& addresses,
                    std::uint16_t port = 8080) {
  EndpointSlice made;
  made.metadata.name_space = "default";
  made.metadata.name = std::move(name);
  made.service_name = "web";
  made.ports = {{.name = "http", .port = port, .protocol = Protocol::Tcp}};
  for (const std::string& address : addresses) {
    EndpointSlice::Endpoint endpoint;
    endpoint.address = address;
    endpoint.node_name = "other";
    made.endpoints.push_back(endpoint);
  }
  return made;
}

class ClusterStateTest : public testing::Test {
 protected:
  std::set<ServiceName> put(Service object) {
    ClusterChanges changes;
    const ServiceName name{object.metadata.name_space, object.metadata.name};
    changes.services = {{name, nullptr, std::make_shared<const Service>(std::move(object))}};
    return state_.apply(std::move(changes));
  }
  std::set<ServiceName> put(EndpointSlice object,
                            std::shared_ptr<const EndpointSlice> before = nullptr) {
    ClusterChanges changes;
    changes.slices = {
        {std::move(before), std::make_shared<const EndpointSlice>(std::move(object))}};
    return state_.apply(std::move(changes));
  }
  ServiceRules rules(IpFamily family = IpFamily::Ipv4) const {
    return state_.rules_of({"default", "web"}, family);
  }
  std::string model(IpFamily family = IpFamily::Ipv4) const {
    return to_text(diff({}, rules(family).ports));
  }

  ClusterState state_;
};

TEST_F(ClusterStateTest, SlicesAreMergedByPortNameAndProtocolWhicheverComesFirst) {
  put(slice("web-1", {"10.180.0.3"}));
  put(service({"172.30.0.10"}));
  put(slice("web-2", {"10.180.0.2"}, 9090));
  EXPECT_EQ(
      model(),
      "+ default/web:http TCP: 172.30.0.10:80/TCP -> 10.180.0.2:9090 10.180.0.3:8080; hairpin -\n");
}

TEST_F(ClusterStateTest, ASliceThatLacksThePortGivesNoEndpoint) {
  put(service({"172.30.0.10"}));
  EndpointSlice other = slice("web-1", {"10.180.0.2"});
  other.ports[0].protocol = Protocol::Udp;
  put(other);
  EXPECT_THAT(model(), HasSubstr("-> -;"));
}

TEST_F(ClusterStateTest, OfTwoEntriesForOneEndpointTheOneThatDoesNotTerminateCounts) {
  put(service({"172.30.0.10"}));
  EndpointSlice leaving = slice("web-2", {"10.180.0.2"});
  leaving.endpoints[0].terminating = true;
  leaving.endpoints[0].ready = false;
  leaving.endpoints[0].serving = false;
  put(leaving);
  put(slice("web-1", {"10.180.0.2"}));
  EXPECT_THAT(model(), HasSubstr("-> 10.180.0.2:8080;"));
}

TEST_F(ClusterStateTest, EachFamilyHasItsOwnAddressesAndEndpoints) {
  put(service({"172.30.0.10", "fd00:30::a"}, {AddressType::Ipv4, AddressType::Ipv6}));
  EndpointSlice six = slice("web-6", {"fd00:180::2"});
  six.address_type = AddressType::Ipv6;
  put(six);
  EXPECT_THAT(model(IpFamily::Ipv4), HasSubstr("172.30.0.10:80/TCP -> -;"));
  EXPECT_THAT(model(IpFamily::Ipv6), HasSubstr("[fd00:30::a]:80/TCP -> [fd00:180::2]:8080;"));
}

TEST_F(ClusterStateTest, WithoutFamiliesTheAddressTellsTheFamily) {
  put(service({"172.30.0.10"}, {}));
  EXPECT_THAT(rules(IpFamily::Ipv4).ports, testing::SizeIs(1));
  EXPECT_THAT(rules(IpFamily::Ipv6).ports, IsEmpty());
}

TEST_F(ClusterStateTest, HeadlessAndExternalNameServicesAreNotForwarded) {
  put(service({"None"}));
  EXPECT_THAT(rules().ports, IsEmpty());
  Service external = service({"172.30.0.10"});
  external.type = Service::Type::ExternalName;
  put(external);
  EXPECT_THAT(rules().ports, IsEmpty());
}

TEST_F(ClusterStateTest, AnOddClusterIpIsReportedAndHurtsNobodyElse) {
  put(service({"172.30.0.300"}));
  EXPECT_THAT(rules().ports, IsEmpty());
  EXPECT_THAT(
      rules().problems,
      ElementsAre("Service default/web: spec.clusterIPs: \"172.30.0.300\" is no IPv4 address; the "
                  "Service gets no traffic there"));
}

TEST_F(ClusterStateTest, AnOddEndpointAddressIsReportedAndTheOthersAreUsed) {
  put(service({"172.30.0.10"}));
  put(slice("web-1", {"10.180.0.2", "10.180.0"}));
  EXPECT_THAT(model(), HasSubstr("-> 10.180.0.2:8080;"));
  EXPECT_THAT(
      rules().problems,
      ElementsAre("EndpointSlice default/web-1: endpoints[1].addresses[0]: \"10.180.0\" is no IPv4 "
                  "address that a pod could have; this endpoint gets no traffic"));
}

TEST_F(ClusterStateTest, ASliceThatMovesTouchesBothServices) {
  const auto before = std::make_shared<const EndpointSlice>(slice("web-1", {"10.180.0.2"}));
  put(service({"172.30.0.10"}));
  put(*before);
  EndpointSlice moved = *before;
  moved.service_name = "api";
  EXPECT_THAT(put(moved, before),
              ElementsAre(ServiceName{"default", "api"}, ServiceName{"default", "web"}));
  EXPECT_THAT(model(), HasSubstr("-> -;"));
}

TEST_F(ClusterStateTest, ANodeThatChangesTouchesEverything) {
  put(service({"172.30.0.10"}));
  ClusterChanges changes;
  NodeFacts facts;
  facts.node.name = "node-a";
  changes.node = std::make_shared<const NodeFacts>(facts);
  EXPECT_THAT(state_.apply(changes), ElementsAre(ServiceName{"default", "web"}));
  EXPECT_THAT(state_.apply(changes), IsEmpty());
}

}  // namespace
}  // namespace mkp
