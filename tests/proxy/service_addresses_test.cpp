// External IPs, load-balancer IPs, source ranges and policies, as one family reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/one_service.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

Service dual_stack() { return service_of({AddressType::Ipv4, AddressType::Ipv6}); }
Service load_balancer() {
  Service made = dual_stack();
  made.type = Service::Type::LoadBalancer;
  return made;
}

// Of IPv4 and of IPv6.
template <class T>
std::string both(const Service& service, std::vector<T> ServicePortSpec::*list) {
  return joined(spec_of(service).*list) + " | " + joined(spec_of(service, IpFamily::Ipv6).*list);
}

// --- external IPs ---

std::string external_ips(Service service, Texts texts) {
  service.external_ips = std::move(texts);
  return both(service, &ServicePortSpec::external_ips);
}

TEST(ExternalIpsTest, AreTakenApartByFamilyInTheOrderGiven) {
  EXPECT_EQ(external_ips(dual_stack(), {"203.0.113.9", "2001:db8::1", "203.0.113.1"}),
            "203.0.113.9 203.0.113.1 | 2001:db8::1");
}

TEST(ExternalIpsTest, AreReadLenientlyAndPrintCanonically) {
  EXPECT_EQ(external_ips(dual_stack(), {"203.000.113.010", "::ffff:203.0.113.7", "2001:DB8:0::1"}),
            "203.0.113.10 203.0.113.7 | 2001:db8::1");
}

TEST(ExternalIpsTest, MayBeEmptyOrBlankWithoutAWord) {
  Service service = dual_stack();
  service.external_ips = {"", "  ", "\t\n"};
  EXPECT_EQ(both(service, &ServicePortSpec::external_ips), "- | -");
  EXPECT_THAT(problems(service), IsEmpty());
}

TEST(ExternalIpsTest, ThatAreNoAddressesAreReportedOnceAndTheOthersServed) {
  Service service = dual_stack();
  service.external_ips = {"203.0.113.300", "203.0.113.1", "fe80::1%eth0", "[2001:db8::1]", "web"};
  EXPECT_EQ(both(service, &ServicePortSpec::external_ips), "203.0.113.1 | -");
  EXPECT_THAT(
      problems(service),
      ElementsAre("Service shop/web: spec.externalIPs[0]: \"203.0.113.300\" is no address; there "
                  "is no traffic to it",
                  "Service shop/web: spec.externalIPs[4]: \"web\" is no address; there is no "
                  "traffic to it",
                  "Service shop/web: spec.externalIPs[2]: \"fe80::1%eth0\" is no address; there is "
                  "no traffic to it",
                  "Service shop/web: spec.externalIPs[3]: \"[2001:db8::1]\" is no address; there "
                  "is no traffic to it"));
}

TEST(ExternalIpsTest, ThatAreNoAddressesAreReportedByTheOnlyFamilyThatThereIs) {
  Service four = service_of({AddressType::Ipv4});
  four.external_ips = {"2001:db8::g"};
  EXPECT_THAT(problems(four), ElementsAre("Service shop/web: spec.externalIPs[0]: \"2001:db8::g\" "
                                          "is no address; there is no traffic to it"));
  Service six = service_of({AddressType::Ipv6});
  six.external_ips = {"web"};
  EXPECT_THAT(problems(six), ElementsAre("Service shop/web: spec.externalIPs[0]: \"web\" is no "
                                         "address; there is no traffic to it"));
}

TEST(ExternalIpsTest, OfAFamilyThatTheServiceLacksAreNoProblem) {
  Service service = service_of({AddressType::Ipv4});
  service.external_ips = {"2001:db8::1"};
  EXPECT_EQ(joined(spec_of(service).external_ips), "-");
  EXPECT_THAT(problems(service), IsEmpty());
}

TEST(ExternalIpsTest, ThatCannotBeAServicesAreRefused) {
  Service service = dual_stack();
  service.external_ips = {"127.0.0.5", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "ff02::1"};
  EXPECT_EQ(both(service, &ServicePortSpec::external_ips), "- | -");
  EXPECT_THAT(problems(service), testing::SizeIs(6));
  EXPECT_EQ(problems(service).front(),
            "Service shop/web: spec.externalIPs[0]: 127.0.0.5 cannot be a Service's; there is no "
            "traffic to it");
}

// --- load-balancer IPs ---

TEST(LoadBalancerIpsTest, AreTheIngressIpsButThoseWithANameOnlyOrOfIpModeProxy) {
  Service service = load_balancer();
  service.load_balancer_ingress = {{.ip = "198.51.100.2"},
                                   {.ip = ""},
                                   {.ip = "198.51.100.3", .proxy_mode = true},
                                   {.ip = "2001:db8:99::1"},
                                   {.ip = "198.051.100.001"}};
  EXPECT_EQ(both(service, &ServicePortSpec::load_balancer_ips),
            "198.51.100.2 198.51.100.1 | 2001:db8:99::1");
  EXPECT_THAT(problems(service), IsEmpty());
}

TEST(LoadBalancerIpsTest, AreUsedWhateverTheTypeOfTheService) {
  Service service = dual_stack();
  service.load_balancer_ingress = {{.ip = "198.51.100.2"}};
  EXPECT_EQ(both(service, &ServicePortSpec::load_balancer_ips), "198.51.100.2 | -");
}

TEST(LoadBalancerIpsTest, ThatCannotBeUsedAreReported) {
  Service service = load_balancer();
  service.load_balancer_ingress = {{.ip = "198.51.100"}, {.ip = "::"}};
  EXPECT_EQ(both(service, &ServicePortSpec::load_balancer_ips), "- | -");
  EXPECT_THAT(
      problems(service),
      ElementsAre("Service shop/web: status.loadBalancer.ingress[0].ip: \"198.51.100\" is no "
                  "address; there is no traffic to it",
                  "Service shop/web: status.loadBalancer.ingress[1].ip: :: cannot be a Service's; "
                  "there is no traffic to it"));
}

// --- source ranges ---

std::string source_ranges(Texts texts) {
  Service service = load_balancer();
  service.load_balancer_source_ranges = std::move(texts);
  return both(service, &ServicePortSpec::source_ranges);
}

TEST(SourceRangesTest, AreTrimmedNormalisedAndTakenApartByFamily) {
  EXPECT_EQ(source_ranges({" 203.0.113.7/24 ", "2001:DB8::1/64\n", "010.001.0.0/016"}),
            "203.0.113.0/24 10.1.0.0/16 | 2001:db8::/64");
}

TEST(SourceRangesTest, OfMappedAddressesAreIpv4) {
  EXPECT_EQ(source_ranges({"::ffff:10.0.0.0/104", "2001:db8::/64"}), "10.0.0.0/8 | 2001:db8::/64");
}

TEST(SourceRangesTest, WithEverybodyAmongThemRestrictNobodyOfThatFamily) {
  EXPECT_EQ(source_ranges({"203.0.113.0/24", "0.0.0.0/0", "2001:db8::/64"}), "- | 2001:db8::/64");
  EXPECT_EQ(source_ranges({"203.0.113.0/24", "::/0"}), "203.0.113.0/24 | -");
  EXPECT_EQ(source_ranges({"::ffff:0.0.0.0/96", "203.0.113.0/24"}), "- | -");
}

TEST(SourceRangesTest, OfTheOtherFamilyAloneRestrictNobody) {
  EXPECT_EQ(source_ranges({"2001:db8::/64"}), "- | 2001:db8::/64");
}

TEST(SourceRangesTest, ThatAreGarbageLetNobodyInAndAreReported) {
  Service service = load_balancer();
  service.load_balancer_source_ranges = {"203.0.113.0/33", "",         " ",
                                         "203.0.113.0/24", "10.0.0.1", "2001:db8::/129"};
  EXPECT_EQ(both(service, &ServicePortSpec::source_ranges), "203.0.113.0/24 | -");
  const std::string what =
      " is no CIDR and lets nobody in; were it the only one, everybody may use the load-balancer "
      "IPs";
  const std::string field = "Service shop/web: spec.loadBalancerSourceRanges";
  EXPECT_THAT(problems(service), ElementsAre(field + "[0]: \"203.0.113.0/33\"" + what,
                                             field + "[4]: \"10.0.0.1\"" + what,
                                             field + "[5]: \"2001:db8::/129\"" + what));
}

TEST(SourceRangesTest, ThatAreGarbageAreReportedByTheOnlyFamilyThatThereIs) {
  Service service = service_of({AddressType::Ipv6});
  service.load_balancer_source_ranges = {"office"};
  EXPECT_EQ(problems(service).size(), 1U);
}

// --- policies ---

TEST(PoliciesTest, TheInternalPolicyIsThatOfTheClusterIpAlone) {
  Service service = dual_stack();
  service.internal_traffic_policy = TrafficPolicy::Local;
  EXPECT_TRUE(spec_of(service).internal_local);
  EXPECT_FALSE(spec_of(service).endpoint_policy().uses_cluster);
  EXPECT_TRUE(spec_of(service).endpoint_policy().uses_local);
  service.ports[0].node_port = 30080;
  EXPECT_TRUE(spec_of(service).endpoint_policy().uses_cluster);
}

TEST(PoliciesTest, TheExternalPolicyMeansNothingToAClusterIpServiceWithoutExternalIps) {
  Service service = dual_stack();
  service.external_traffic_policy = TrafficPolicy::Local;
  EXPECT_FALSE(spec_of(service).external_local);
  EXPECT_FALSE(spec_of(service).endpoint_policy().uses_local);
}

TEST(PoliciesTest, TheExternalPolicyHoldsForAClusterIpServiceWithExternalIps) {
  Service service = dual_stack();
  service.external_traffic_policy = TrafficPolicy::Local;
  service.external_ips = {"203.0.113.1"};
  EXPECT_TRUE(spec_of(service).external_local);
  EXPECT_TRUE(spec_of(service).endpoint_policy().uses_local);
}

TEST(PoliciesTest, TheExternalPolicyUsesLocalEndpointsOnlyInAFamilyWithAFrontendForIt) {
  Service service = load_balancer();
  service.external_traffic_policy = TrafficPolicy::Local;
  service.load_balancer_ingress = {{.ip = "198.51.100.2"}};
  EXPECT_TRUE(spec_of(service, IpFamily::Ipv4).endpoint_policy().uses_local);
  EXPECT_TRUE(spec_of(service, IpFamily::Ipv6).external_local);
  EXPECT_FALSE(spec_of(service, IpFamily::Ipv6).endpoint_policy().uses_local);
  service.ports[0].node_port = 30080;
  EXPECT_TRUE(spec_of(service, IpFamily::Ipv6).endpoint_policy().uses_local);
}

TEST(PoliciesTest, AnIngressOfIpModeProxyIsNoFrontend) {
  Service service = load_balancer();
  service.load_balancer_ingress = {{.ip = "198.51.100.2", .proxy_mode = true}};
  EXPECT_FALSE(spec_of(service).externally_accessible());
}

TEST(PoliciesTest, TheHealthCheckPortIsThatOfALoadBalancerWithPolicyLocal) {
  Service service = load_balancer();
  service.health_check_node_port = 32000;
  EXPECT_EQ(spec_of(service).health_check_node_port, 0);
  service.external_traffic_policy = TrafficPolicy::Local;
  EXPECT_EQ(spec_of(service).health_check_node_port, 32000);
  service.type = Service::Type::NodePort;
  EXPECT_EQ(spec_of(service).health_check_node_port, 0);
}

TEST(PoliciesTest, AffinityIsInSecondsAndOffUnlessAskedFor) {
  Service service = dual_stack();
  EXPECT_EQ(spec_of(service).affinity_seconds, std::nullopt);
  service.client_ip_affinity_seconds = 10800;
  EXPECT_EQ(spec_of(service).affinity_seconds, 10800U);
}

}  // namespace
}  // namespace mkp
