// What one family reads out of a Service, and what it says about what it cannot use.
#include "proxy/service_port_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/proxy/one_service.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::vector<std::string>;
using Families = std::vector<AddressType>;
constexpr AddressType k4 = AddressType::Ipv4;
constexpr AddressType k6 = AddressType::Ipv6;

// Of both families.
Service web() { return service_of({k4, k6}); }

// --- the cluster IP ---

struct ClusterIps {
  std::string name;
  Families families;
  Texts cluster_ips;
  std::string cluster_ip;
  std::string read;  // of IPv4 and of IPv6
};
void PrintTo(const ClusterIps& one, std::ostream* out) { *out << one.name; }

class ClusterIpTest : public testing::TestWithParam<ClusterIps> {};

TEST_P(ClusterIpTest, ReadsSoAndIsNoProblem) {
  Service service = web();
  service.ip_families = GetParam().families;
  service.cluster_ips = GetParam().cluster_ips;
  service.cluster_ip = GetParam().cluster_ip;
  const auto read = [&](IpFamily family) {
    const ServiceSpec spec = service_spec(service, family);
    return spec.ports.empty() ? "-" : to_text(spec.ports.begin()->second.cluster_ip);
  };
  EXPECT_EQ(read(IpFamily::Ipv4) + " " + read(IpFamily::Ipv6), GetParam().read);
  EXPECT_THAT(problems(service), IsEmpty());
}

const std::vector<ClusterIps> kClusterIps = {
    {"NoFamiliesIpv4", {}, {"10.9.9.9"}, "172.30.0.9", "172.30.0.9 -"},
    {"NoFamiliesIpv6", {}, {}, "fd00:30::9", "- fd00:30::9"},
    {"OneFamily", {k4}, {"172.30.0.9"}, "172.30.0.9", "172.30.0.9 -"},
    {"BothFamilies", {k4, k6}, {"172.30.0.9", "fd00:30::9"}, "172.30.0.9", "172.30.0.9 fd00:30::9"},
    {"Ipv6First", {k6, k4}, {"fd00:30::9", "172.30.0.9"}, "fd00:30::9", "172.30.0.9 fd00:30::9"},
    {"FewerAddresses", {k4, k6}, {"172.30.0.9"}, "172.30.0.9", "172.30.0.9 -"},
    {"NoAddresses", {k4}, {}, "172.30.0.9", "- -"},
    {"NoClusterIp", {k4}, {"172.30.0.9"}, "", "- -"},
    {"Headless", {k4}, {"None"}, "None", "- -"},
    {"LeadingZeros", {k4}, {"172.030.000.009"}, "172.030.000.009", "172.30.0.9 -"},
    {"LeadingZerosNoFamilies", {}, {}, "172.030.000.009", "172.30.0.9 -"},
    {"Ipv4MappedOfIpv4", {k4}, {"::ffff:172.30.0.9"}, "::ffff:172.30.0.9", "172.30.0.9 -"},
    {"Ipv4MappedNoFamilies", {}, {}, "::ffff:172.30.0.9", "172.30.0.9 -"},
    {"OddIpv6Text", {k6}, {"FD00:0030:0::0009"}, "FD00:0030:0::0009", "- fd00:30::9"},
};

INSTANTIATE_TEST_SUITE_P(Texts, ClusterIpTest, testing::ValuesIn(kClusterIps),
                         [](const auto& one) { return one.param.name; });

TEST(ServiceSpecTest, AnExternalNameIsNotForwardedEvenWithAClusterIp) {
  Service service = web();
  service.type = Service::Type::ExternalName;
  EXPECT_THAT(service_spec(service, IpFamily::Ipv4).ports, IsEmpty());
  EXPECT_THAT(service_spec(service, IpFamily::Ipv6).ports, IsEmpty());
  EXPECT_THAT(problems(service), IsEmpty());
}

TEST(ServiceSpecTest, AClusterIpThatIsNoAddressHurtsItsOwnFamilyOnly) {
  Service service = web();
  service.cluster_ips = {"172.30.0.300", "fd00:30::9"};
  EXPECT_THAT(service_spec(service, IpFamily::Ipv4).ports, IsEmpty());
  EXPECT_EQ(spec_of(service, IpFamily::Ipv6).cluster_ip, ip("fd00:30::9"));
  EXPECT_THAT(problems(service),
              ElementsAre("Service shop/web: spec.clusterIPs: \"172.30.0.300\" is no IPv4 address; "
                          "the Service gets no traffic there"));
}

TEST(ServiceSpecTest, AClusterIpOfAnotherFamilyThanItsLabelIsReported) {
  Service service = web();
  service.ip_families = {k6};
  service.cluster_ips = {"172.30.0.9"};
  EXPECT_THAT(service_spec(service, IpFamily::Ipv4).ports, IsEmpty());
  EXPECT_THAT(problems(service),
              ElementsAre("Service shop/web: spec.clusterIPs: \"172.30.0.9\" is no IPv6 address; "
                          "the Service gets no traffic there"));
}

TEST(ServiceSpecTest, AClusterIpThatIsNoAddressIsReportedByTheFamilyOfItsLabel) {
  Service service = web();
  service.ip_families = {k6};
  service.cluster_ips = {"elsewhere"};
  EXPECT_THAT(problems(service),
              ElementsAre("Service shop/web: spec.clusterIPs: \"elsewhere\" is no IPv6 address; "
                          "the Service gets no traffic there"));
}

TEST(ServiceSpecTest, WithoutFamiliesAClusterIpThatIsNoAddressIsReportedOnce) {
  Service service = web();
  service.ip_families = {};
  service.cluster_ip = "fd00:30::g";
  EXPECT_THAT(problems(service),
              ElementsAre("Service shop/web: spec.clusterIPs: \"fd00:30::g\" is no IPv6 address; "
                          "the Service gets no traffic there"));
}

TEST(ServiceSpecTest, AClusterIpThatCannotBeAServicesIsRefused) {
  Service service = web();
  service.cluster_ips = {"127.0.0.1", "ff02::1"};
  EXPECT_THAT(service_spec(service, IpFamily::Ipv4).ports, IsEmpty());
  EXPECT_THAT(service_spec(service, IpFamily::Ipv6).ports, IsEmpty());
  EXPECT_THAT(problems(service),
              ElementsAre("Service shop/web: spec.clusterIPs: 127.0.0.1 cannot be a Service's; the "
                          "Service gets no traffic there",
                          "Service shop/web: spec.clusterIPs: ff02::1 cannot be a Service's; the "
                          "Service gets no traffic there"));
}

// --- ports ---

Texts port_texts(const Service& service) {
  Texts texts;
  for (const auto& [name, port] : service_spec(service, IpFamily::Ipv4).ports) {
    texts.push_back(to_text(name) + "/" + std::string(to_text(name.protocol)) + " " +
                    std::to_string(port.port) + " " + std::to_string(port.node_port));
  }
  return texts;
}

TEST(ServiceSpecTest, EachPortIsByNameAndProtocolAndKnowsTheAddressesOfAll) {
  Service service = web();
  service.external_ips = {"203.0.113.1"};
  service.ports = {{.name = "dns", .protocol = Protocol::Udp, .port = 53, .node_port = 30053},
                   {.name = "dns", .protocol = Protocol::Tcp, .port = 53, .node_port = 0},
                   {.name = "http", .protocol = Protocol::Tcp, .port = 80, .node_port = 0},
                   {.name = "s", .protocol = Protocol::Sctp, .port = 7, .node_port = 30007}};
  EXPECT_THAT(port_texts(service),
              ElementsAre("shop/web:dns/TCP 53 0", "shop/web:dns/UDP 53 30053",
                          "shop/web:http/TCP 80 0", "shop/web:s/SCTP 7 30007"));
  EXPECT_EQ(joined(spec_of(service).external_ips), "203.0.113.1");
}

TEST(ServiceSpecTest, APortWithoutANameIsAPort) {
  Service service = web();
  service.ports[0].name = "";
  EXPECT_THAT(port_texts(service), ElementsAre("shop/web/TCP 80 0"));
}

TEST(ServiceSpecTest, OfTwoPortsOfOneNameAndProtocolTheLaterCounts) {
  Service service = web();
  service.ports.push_back(
      {.name = "http", .protocol = Protocol::Tcp, .port = 8080, .node_port = 30080});
  EXPECT_THAT(port_texts(service), ElementsAre("shop/web:http/TCP 8080 30080"));
}

TEST(ServiceSpecTest, PortZeroIsReportedAndTheOthersAreServed) {
  Service service = web();
  service.ip_families = {k4};
  service.ports.push_back(
      {.name = "odd", .protocol = Protocol::Tcp, .port = 0, .node_port = 30001});
  EXPECT_THAT(port_texts(service), ElementsAre("shop/web:http/TCP 80 0"));
  EXPECT_THAT(problems(service), ElementsAre("Service shop/web: spec.ports[1].port: 0 is no port; "
                                             "the Service gets no traffic there"));
}

TEST(ServiceSpecTest, AServiceWithoutPortsIsNoProblem) {
  Service service = web();
  service.ports.clear();
  EXPECT_THAT(port_texts(service), IsEmpty());
  EXPECT_THAT(problems(service), IsEmpty());
}

}  // namespace
}  // namespace mkp
