#include "informer/decode_values.h"

#include <fmt/format.h>

#include "runner/ip_address.h"

namespace mkp {

namespace {

constexpr std::int64_t kDefaultAffinitySeconds = 10800;
constexpr std::int64_t kLongestAffinitySeconds = 86400;
constexpr std::int64_t kLastPort = 65535;

}  // namespace

Service::Type service_type_of(std::string_view word) {
  if (word == "NodePort") return Service::Type::NodePort;
  if (word == "LoadBalancer") return Service::Type::LoadBalancer;
  if (word == "ExternalName") return Service::Type::ExternalName;
  return Service::Type::ClusterIp;
}

TrafficPolicy traffic_policy_of(std::string_view word) {
  return word == "Local" ? TrafficPolicy::Local : TrafficPolicy::Cluster;
}

bool is_client_ip(std::string_view session_affinity) { return session_affinity == "ClientIP"; }

bool is_proxy_mode(std::string_view ip_mode) { return !ip_mode.empty() && ip_mode != "VIP"; }

AddressType ip_family_of(std::string_view word) {
  if (word == "IPv4") return AddressType::Ipv4;
  return word == "IPv6" ? AddressType::Ipv6 : AddressType::Fqdn;
}

AddressType address_type_of(std::string_view word, DecodeProblem& problem) {
  if (word.empty()) problem.note("addressType", "is missing");
  return ip_family_of(word);
}

std::optional<Protocol> protocol_of(std::string_view word, DecodeProblem& problem) {
  if (word == "TCP" || word.empty()) return Protocol::Tcp;
  if (word == "UDP") return Protocol::Udp;
  if (word == "SCTP") return Protocol::Sctp;
  problem.leave_out("protocol", brief(word) + " is not one of TCP, UDP, SCTP");
  return std::nullopt;
}

std::uint16_t port_of(std::int64_t number, std::uint16_t least, std::string_view field,
                      DecodeProblem& problem) {
  if (number >= least && number <= kLastPort) return static_cast<std::uint16_t>(number);
  problem.note(field, fmt::format("{} is not a port ({}-{})", number, least, kLastPort));
  return 0;
}

void complete(Service& service, const ServiceExtras& extras, DecodeProblem& problem) {
  if (extras.client_ip) {
    const std::int64_t seconds = extras.affinity_seconds.value_or(kDefaultAffinitySeconds);
    if (seconds < 1 || seconds > kLongestAffinitySeconds) {
      problem.note("spec.sessionAffinityConfig.clientIP.timeoutSeconds",
                   fmt::format("{} is not an affinity time in seconds (1-{})", seconds,
                               kLongestAffinitySeconds));
    } else {
      service.client_ip_affinity_seconds = static_cast<std::int32_t>(seconds);
    }
  }
  if (service.cluster_ip.empty() && !service.cluster_ips.empty()) {
    service.cluster_ip = service.cluster_ips.front();
  }
  if (service.type == Service::Type::ExternalName) {
    service.ip_families.clear();
    return;
  }
  if (service.cluster_ips.empty() && !service.cluster_ip.empty()) {
    service.cluster_ips.push_back(service.cluster_ip);
  }
  if (!service.ip_families.empty() || service.cluster_ip == "None") return;
  for (const std::string& address : service.cluster_ips) {
    // Families are parallel to addresses: one that cannot be told ends them.
    const std::optional<IpAddress> parsed = parse_ip_address(address);
    if (!parsed) break;
    service.ip_families.push_back(parsed->family == IpFamily::Ipv4 ? AddressType::Ipv4
                                                                   : AddressType::Ipv6);
  }
}

void complete(Node& node, std::string_view pod_cidr) {
  if (node.pod_cidrs.empty() && !pod_cidr.empty()) node.pod_cidrs.emplace_back(pod_cidr);
}

WantedMeta wanted_meta(Service&) { return {}; }

WantedMeta wanted_meta(EndpointSlice& slice) {
  WantedMeta wanted;
  wanted.label = "kubernetes.io/service-name";
  wanted.label_value = &slice.service_name;
  wanted.annotation = "endpoints.kubernetes.io/last-change-trigger-time";
  wanted.annotation_value = &slice.last_change_trigger_time;
  return wanted;
}

WantedMeta wanted_meta(Node& node) {
  WantedMeta wanted;
  wanted.label = "topology.kubernetes.io/zone";
  wanted.label_value = &node.zone;
  wanted.deleting = &node.deleting;
  return wanted;
}

WantedMeta wanted_meta(ServiceCidr&) { return {}; }

WantedMeta wanted_meta_of_bookmark(std::string& initial_events_end) {
  WantedMeta wanted;
  wanted.annotation = "k8s.io/initial-events-end";
  wanted.annotation_value = &initial_events_end;
  return wanted;
}

}  // namespace mkp
