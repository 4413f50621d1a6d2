#include "proxy/cluster_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace mkp {
namespace {

using Slices = std::map<std::string, std::shared_ptr<const EndpointSlice>>;

AddressType address_type_of(IpFamily family) {
  return family == IpFamily::Ipv4 ? AddressType::Ipv4 : AddressType::Ipv6;
}

ServiceName owner_of(const EndpointSlice& slice) {
  return {slice.metadata.name_space, slice.service_name};
}

// The text of the Service's cluster IP of that family; empty when it has none. The label in
// ipFamilies is not trusted blindly: an address of another family is no address of this one.
std::string cluster_ip_text(const Service& service, IpFamily family) {
  if (service.type == Service::Type::ExternalName) return "";
  if (service.cluster_ip.empty() || service.cluster_ip == "None") return "";
  if (service.ip_families.empty()) {
    const std::optional<IpAddress> ip = parse_ip_address(service.cluster_ip);
    return !ip || ip->family == family ? service.cluster_ip : "";
  }
  for (std::size_t i = 0; i < service.ip_families.size() && i < service.cluster_ips.size(); ++i) {
    if (service.ip_families[i] == address_type_of(family)) return service.cluster_ips[i];
  }
  return "";
}

IpFamily looks_like(std::string_view address) {
  return address.find(':') == std::string_view::npos ? IpFamily::Ipv4 : IpFamily::Ipv6;
}

// The number under which a slice offers the Service port, matched by name and protocol (never by
// number).
std::optional<std::uint16_t> offered_port(const EndpointSlice& slice, const Service::Port& port) {
  for (const EndpointSlice::Port& offered : slice.ports) {
    if (!offered.name || *offered.name != port.name || offered.protocol != port.protocol) continue;
    if (!offered.port || *offered.port == 0) continue;  // "all ports" has no meaning for a proxy
    return offered.port;
  }
  return std::nullopt;
}

// All endpoints of one Service port. Of two entries for one address and port the later counts,
// unless it terminates: an address may be in use again before the former pod's object is gone.
std::vector<EndpointInfo> merged_endpoints(const Slices& slices, const Service::Port& port,
                                           IpFamily family) {
  std::map<Endpoint, EndpointInfo> merged;
  for (const auto& [name, slice] : slices) {
    if (slice->address_type != address_type_of(family)) continue;
    const std::optional<std::uint16_t> number = offered_port(*slice, port);
    if (!number) continue;
    for (const EndpointSlice::Endpoint& from : slice->endpoints) {
      const std::optional<IpAddress> ip = parse_ip_address(from.address);
      if (!ip || ip->family != family) continue;
      const Endpoint endpoint{*ip, *number};
      const EndpointInfo info{endpoint, from.ready, from.serving, from.terminating, from.node_name};
      const auto [entry, added] = merged.try_emplace(endpoint, info);
      if (!added && !info.terminating) entry->second = info;
    }
  }
  std::vector<EndpointInfo> endpoints;
  endpoints.reserve(merged.size());
  for (auto& [endpoint, info] : merged) endpoints.push_back(std::move(info));
  return endpoints;
}

void report_odd_addresses(const Slices& slices, IpFamily family,
                          std::vector<std::string>& problems) {
  for (const auto& [name, slice] : slices) {
    if (slice->address_type != address_type_of(family)) continue;
    for (std::size_t i = 0; i < slice->endpoints.size(); ++i) {
      const std::string& text = slice->endpoints[i].address;
      const std::optional<IpAddress> ip = parse_ip_address(text);
      if (ip && ip->family == family) continue;
      problems.push_back(fmt::format(
          "EndpointSlice {}/{}: endpoints[{}].addresses[0]: \"{}\" is no {} address; this endpoint "
          "gets no traffic",
          slice->metadata.name_space, name, i, text, family == IpFamily::Ipv4 ? "IPv4" : "IPv6"));
    }
  }
}

}  // namespace

std::set<ServiceName> ClusterState::apply(ClusterChanges changes) {
  std::set<ServiceName> touched;
  for (ServiceChange& change : changes.services) {
    services_[change.name].service = std::move(change.current);
    touched.insert(change.name);
  }
  for (EndpointChange& change : changes.slices) {
    if (change.previous) {
      const ServiceName owner = owner_of(*change.previous);
      services_[owner].slices.erase(change.previous->metadata.name);
      touched.insert(owner);
    }
    if (change.current) {
      const ServiceName owner = owner_of(*change.current);
      services_[owner].slices[change.current->metadata.name] = change.current;
      touched.insert(owner);
    }
  }
  if (changes.node && *changes.node != node_) {
    node_ = *changes.node;
    const std::set<ServiceName> all = names();
    touched.insert(all.begin(), all.end());
  }
  for (const ServiceName& name : touched) {
    const auto entry = services_.find(name);
    if (entry != services_.end() && !entry->second.service && entry->second.slices.empty()) {
      services_.erase(entry);
    }
  }
  return touched;
}

ServiceRules ClusterState::rules_of(const ServiceName& name, IpFamily family) const {
  ServiceRules rules;
  const auto entry = services_.find(name);
  if (entry == services_.end() || !entry->second.service) return rules;
  const Service& service = *entry->second.service;
  rules.creation_timestamp = service.metadata.creation_timestamp;

  const std::string text = cluster_ip_text(service, family);
  if (text.empty()) return rules;
  const std::optional<IpAddress> cluster_ip = parse_ip_address(text);
  // What reads as no address at all is reported once, by the family that it looks like.
  if (!cluster_ip && looks_like(text) != family) return rules;
  if (!cluster_ip || cluster_ip->family != family) {
    rules.problems.push_back(fmt::format(
        "Service {}: spec.clusterIPs: \"{}\" is no {} address; the Service gets no traffic there",
        to_text(name), text, family == IpFamily::Ipv4 ? "IPv4" : "IPv6"));
    return rules;
  }
  for (const Service::Port& port : service.ports) {
    const std::vector<EndpointInfo> endpoints =
        merged_endpoints(entry->second.slices, port, family);
    ServicePort rule;
    rule.cluster_frontends = {Frontend{*cluster_ip, port.protocol, port.port}};
    rule.cluster_endpoints = select_cluster_endpoints(endpoints);
    rule.hairpin = hairpin_addresses(endpoints, rule.cluster_endpoints, node_);
    rules.ports.insert_or_assign(ServicePortName{name, port.name, port.protocol}, std::move(rule));
  }
  report_odd_addresses(entry->second.slices, family, rules.problems);
  return rules;
}

std::set<ServiceName> ClusterState::names() const {
  std::set<ServiceName> all;
  for (const auto& [name, entry] : services_) all.insert(name);
  return all;
}

}  // namespace mkp
