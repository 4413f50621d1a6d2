#include <array>
#include <string_view>
#include <utility>

#include "informer/manifest_object.h"
#include "runner/ip_address.h"

namespace mkp {

namespace {

constexpr std::int64_t kDefaultAffinitySeconds = 10800;
constexpr std::int64_t kLongestAffinitySeconds = 86400;

constexpr std::array<std::pair<std::string_view, Service::Type>, 4> kTypes{
    {{"ClusterIP", Service::Type::ClusterIp},
     {"NodePort", Service::Type::NodePort},
     {"LoadBalancer", Service::Type::LoadBalancer},
     {"ExternalName", Service::Type::ExternalName}}};
constexpr std::array<std::pair<std::string_view, Protocol>, 3> kProtocols{
    {{"TCP", Protocol::Tcp}, {"UDP", Protocol::Udp}, {"SCTP", Protocol::Sctp}}};
constexpr std::array<std::pair<std::string_view, TrafficPolicy>, 2> kPolicies{
    {{"Cluster", TrafficPolicy::Cluster}, {"Local", TrafficPolicy::Local}}};
constexpr std::array<std::pair<std::string_view, AddressType>, 2> kFamilies{
    {{"IPv4", AddressType::Ipv4}, {"IPv6", AddressType::Ipv6}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kAffinities{
    {{"None", false}, {"ClientIP", true}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kIpModes{
    {{"VIP", false}, {"Proxy", true}}};

// The family that the text of an address belongs to; nothing when it is no address at all.
std::optional<AddressType> family_of(const std::string& address) {
  const std::optional<IpAddress> parsed = parse_ip_address(address);
  if (!parsed) return std::nullopt;
  return parsed->family == IpFamily::Ipv4 ? AddressType::Ipv4 : AddressType::Ipv6;
}

std::vector<Service::Port> read_ports(const ManifestField& list) {
  std::vector<Service::Port> ports;
  for (const ManifestField& element : list.elements()) {
    Service::Port port;
    port.name = element["name"].text();
    port.protocol = element["protocol"].choice(kProtocols).value_or(Protocol::Tcp);
    const ManifestField number = element["port"];
    if (!number.present()) number.note("is missing");
    port.port = static_cast<std::uint16_t>(number.number(1, 65535, "a port").value_or(0));
    port.node_port = static_cast<std::uint16_t>(
        element["nodePort"].number(0, 65535, "a port, or 0 for none").value_or(0));
    ports.push_back(std::move(port));
  }
  return ports;
}

void read_cluster_ips(const ManifestField& spec, Service& service) {
  const ManifestField field = spec["clusterIP"];
  service.cluster_ip = field.text();
  service.cluster_ips = spec["clusterIPs"].texts();
  if (service.cluster_ip.empty() && !service.cluster_ips.empty()) {
    service.cluster_ip = service.cluster_ips.front();
  }
  if (service.type == Service::Type::ExternalName) return;
  if (service.cluster_ips.empty() && !service.cluster_ip.empty()) {
    service.cluster_ips.push_back(service.cluster_ip);
  }
  for (const ManifestField& element : spec["ipFamilies"].elements()) {
    service.ip_families.push_back(element.choice(kFamilies).value_or(AddressType::Ipv4));
  }
  if (service.ip_families.empty() && service.cluster_ip != "None") {
    for (const std::string& address : service.cluster_ips) {
      // Families are parallel to addresses: one that cannot be told ends them.
      const std::optional<AddressType> family = family_of(address);
      if (!family) break;
      service.ip_families.push_back(*family);
    }
  }
}

void read_affinity(const ManifestField& spec, Service& service) {
  if (!spec["sessionAffinity"].choice(kAffinities).value_or(false)) return;
  const ManifestField timeout = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
  service.client_ip_affinity_seconds = static_cast<std::int32_t>(
      timeout.number(1, kLongestAffinitySeconds, "an affinity time in seconds")
          .value_or(kDefaultAffinitySeconds));
}

}  // namespace

std::shared_ptr<Service> manifest_service(const ManifestField& document) {
  auto service = std::make_shared<Service>();
  const ManifestField spec = document["spec"];
  service->type = spec["type"].choice(kTypes).value_or(Service::Type::ClusterIp);
  read_cluster_ips(spec, *service);
  service->ports = read_ports(spec["ports"]);
  service->external_ips = spec["externalIPs"].texts();
  service->load_balancer_source_ranges = spec["loadBalancerSourceRanges"].texts();
  service->internal_traffic_policy =
      spec["internalTrafficPolicy"].choice(kPolicies).value_or(TrafficPolicy::Cluster);
  service->external_traffic_policy =
      spec["externalTrafficPolicy"].choice(kPolicies).value_or(TrafficPolicy::Cluster);
  read_affinity(spec, *service);
  service->health_check_node_port = static_cast<std::uint16_t>(
      spec["healthCheckNodePort"].number(0, 65535, "a port, or 0 for none").value_or(0));
  for (const ManifestField& element : document["status"]["loadBalancer"]["ingress"].elements()) {
    Service::Ingress ingress;
    ingress.ip = element["ip"].text();
    ingress.proxy_mode = element["ipMode"].choice(kIpModes).value_or(false);
    service->load_balancer_ingress.push_back(std::move(ingress));
  }
  if (service->cluster_ip.empty() && service->type != Service::Type::ExternalName &&
      !is_left_out(document, ObjectKind::Service)) {
    spec["clusterIP"].note("is missing, and without an API server nothing else gives it one");
  }
  return service;
}

}  // namespace mkp
