#include "tests/proxy/random_cluster.h"

#include <algorithm>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

constexpr int kServices = 5;
constexpr int kSlicesOfOne = 3;

const std::vector<std::string> kExternalIps = {"192.0.2.1", "192.0.2.2",   "2001:db8::1",
                                               "192.0.2.3", "192.0.2.300", "172.30.0.1"};
const std::vector<std::string> kBalancerIps = {"198.51.100.1", "198.51.100.2", "2001:db8:99::1",
                                               "192.0.2.1", ""};
const std::vector<std::string> kRanges = {"203.0.113.0/24",   "203.0.113.0/25", " 10.20.0.0/16",
                                          "2001:db8:77::/48", "garbage",        "0.0.0.0/0"};
const std::vector<std::string> kNodes = {"node-a", "node-b", ""};
const std::vector<std::string> kZones = {"north", "south"};
const std::vector<Protocol> kProtocols = {Protocol::Tcp, Protocol::Udp, Protocol::Sctp};

}  // namespace

RandomCluster::RandomCluster(std::uint32_t seed) : random_(seed) {
  if (once_in(3)) {
    config_.detect_local_mode = DetectLocalMode::NodeCidr;
  } else if (!once_in(3)) {
    config_.cluster_cidr = {prefix("10.180.0.0/16"), prefix("fd00:180::/64")};
  }
  config_.nftables.masquerade_all = once_in(5);
  cluster_.put(node());
  for (int i = 0; i < 2 * kServices; ++i) edit();
}

std::vector<std::string> RandomCluster::some_of(const std::vector<std::string>& choices) {
  std::vector<std::string> some;
  std::copy_if(choices.begin(), choices.end(), std::back_inserter(some),
               [this](const std::string&) { return once_in(3); });
  return some;
}

void RandomCluster::edit() {
  const std::string name = "s" + std::to_string(number(kServices));
  const std::string slice_name = name + "-" + std::to_string(number(kSlicesOfOne));
  switch (number(12)) {
    case 0:
      return cluster_.delete_service(name);
    case 1:
      return cluster_.delete_slice(slice_name);
    case 2:
      return cluster_.put(node());
    case 3:
    case 4:
    case 5:
    case 6:
      return cluster_.put(service(name));
    default:
      return cluster_.put(slice(slice_name, name));
  }
}

std::shared_ptr<const Service> RandomCluster::service(const std::string& name) {
  auto made = std::make_shared<Service>();
  made->metadata.name_space = "default";
  made->metadata.name = name;
  made->metadata.creation_timestamp = number(3);
  made->type = one_of<Service::Type>({Service::Type::ClusterIp, Service::Type::NodePort,
                                      Service::Type::LoadBalancer, Service::Type::LoadBalancer});
  if (once_in(20)) made->type = Service::Type::ExternalName;
  give_addresses(*made);
  give_ports(*made);
  if (once_in(3)) made->internal_traffic_policy = TrafficPolicy::Local;
  if (once_in(2)) made->external_traffic_policy = TrafficPolicy::Local;
  if (once_in(3)) made->client_ip_affinity_seconds = 1 + number(3);
  return made;
}

void RandomCluster::give_addresses(Service& service) {
  const std::string host = std::to_string(1 + number(6));
  const std::string four = once_in(20) ? "172.30.0.999" : "172.30.0." + host;
  const std::string six = "fd00:30::" + host;
  switch (number(4)) {
    case 0:
      service.cluster_ips = {four};
      service.ip_families = {AddressType::Ipv4};
      break;
    case 1:
      service.cluster_ips = {six};
      break;
    default:
      service.cluster_ips = {four, six};
      service.ip_families = {AddressType::Ipv4, AddressType::Ipv6};
  }
  if (once_in(20)) service.cluster_ips = {"None"};
  service.cluster_ip = service.cluster_ips.front();
  service.external_ips = some_of(kExternalIps);
  for (const std::string& ip : some_of(kBalancerIps)) {
    service.load_balancer_ingress.push_back({ip, once_in(4)});
  }
  if (once_in(2)) service.load_balancer_source_ranges = some_of(kRanges);
}

void RandomCluster::give_ports(Service& service) {
  const int count = 1 + number(2);
  for (int i = 0; i < count; ++i) {
    Service::Port port;
    port.name = "p" + std::to_string(number(2));
    port.protocol = one_of(kProtocols);
    port.port = static_cast<std::uint16_t>(80 + number(2));
    if (!once_in(3)) port.node_port = static_cast<std::uint16_t>(30000 + number(3));
    service.ports.push_back(port);
  }
}

std::shared_ptr<const EndpointSlice> RandomCluster::slice(const std::string& name,
                                                          const std::string& owner) {
  auto made = std::make_shared<EndpointSlice>();
  made->metadata.name_space = "default";
  made->metadata.name = name;
  made->service_name = owner;
  made->address_type = once_in(3) ? AddressType::Ipv6 : AddressType::Ipv4;
  for (const char* port : {"p0", "p1"}) {
    for (const Protocol protocol : kProtocols) {
      if (once_in(4)) continue;
      made->ports.push_back({port, static_cast<std::uint16_t>(8080 + number(2)), protocol});
    }
  }
  const int count = once_in(4) ? number(14) : number(5);
  for (int i = 0; i < count; ++i) made->endpoints.push_back(endpoint(made->address_type));
  // Hints of some endpoints only mean nothing; those of all do.
  if (once_in(2)) {
    for (EndpointSlice::Endpoint& one : made->endpoints) {
      one.zone_hints = {one_of(kZones)};
      one.node_hints = {one.node_name.empty() ? "node-b" : one.node_name};
    }
  }
  return made;
}

EndpointSlice::Endpoint RandomCluster::endpoint(AddressType type) {
  EndpointSlice::Endpoint made;
  const std::string host = std::to_string(1 + number(20));
  made.address = (type == AddressType::Ipv4 ? "10.180.0." : "fd00:180::") + host;
  if (once_in(30)) made.address = "10.180.0";
  made.node_name = one_of(kNodes);
  made.ready = !once_in(3);
  made.serving = !once_in(3);
  made.terminating = once_in(3);
  if (once_in(4)) made.zone_hints = {one_of(kZones)};
  return made;
}

NodeFacts RandomCluster::node() {
  NodeFacts facts;
  facts.node.name = "node-a";
  if (!once_in(4)) facts.node.zone = one_of(kZones);
  if (!once_in(4)) facts.node.pod_cidrs = {prefix("10.180.0.0/28"), prefix("fd00:180::/124")};
  if (!once_in(4)) facts.node.ips = {ip("10.20.0.11"), ip("fd20::11")};
  facts.addresses = {ip("10.20.0.11"), ip("127.0.0.1"), ip("::1")};
  if (!once_in(3)) facts.addresses.push_back(ip("fd20::11"));
  if (once_in(3)) facts.addresses.push_back(ip("10.20.1.11"));
  std::sort(facts.addresses.begin(), facts.addresses.end());
  if (once_in(2)) facts.service_cidrs = {prefix("172.30.0.0/16"), prefix("fd00:30::/112")};
  return facts;
}

}  // namespace mkp
