#include "proxy/cluster_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "proxy/service_port_spec.h"

namespace mkp {
namespace {

ServiceName owner_of(const EndpointSlice& slice) {
  return {slice.metadata.name_space, slice.service_name};
}

TrafficPolicy policy(bool local) { return local ? TrafficPolicy::Local : TrafficPolicy::Cluster; }

// Sorted by frontend; of two kinds at one frontend the first in FrontendKind's order.
std::vector<ServedFrontend> frontends_of(const ServicePortSpec& spec, Protocol protocol) {
  std::vector<ServedFrontend> served = {
      {{spec.cluster_ip, protocol, spec.port}, FrontendKind::ClusterIp}};
  for (const IpAddress& ip : spec.load_balancer_ips) {
    served.push_back({{ip, protocol, spec.port}, FrontendKind::LoadBalancerIp});
  }
  for (const IpAddress& ip : spec.external_ips) {
    served.push_back({{ip, protocol, spec.port}, FrontendKind::ExternalIp});
  }
  if (spec.node_port != 0) {
    served.push_back({{std::nullopt, protocol, spec.node_port}, FrontendKind::NodePort});
  }
  std::sort(served.begin(), served.end());
  const auto same = [](const ServedFrontend& left, const ServedFrontend& right) {
    return left.frontend == right.frontend;
  };
  served.erase(std::unique(served.begin(), served.end(), same), served.end());
  return served;
}

// The ranges, and the load-balancer IPs themselves where the node is within a range: where such an
// IP is also an address of the node, a connection that the node makes to it has it as its source.
std::vector<IpPrefix> allowed_sources(const ServicePortSpec& spec, const NodeInfo& node) {
  std::vector<IpPrefix> allowed = spec.source_ranges;
  const IpAddress own = node_ip(node, spec.cluster_ip.family);
  const bool node_allowed = std::any_of(
      allowed.begin(), allowed.end(), [&](const IpPrefix& range) { return contains(range, own); });
  if (node_allowed) {
    for (const IpAddress& ip : spec.load_balancer_ips) allowed.push_back(prefix_of(ip, 128));
  }
  return without_nested(std::move(allowed));
}

ServicePort rules_of_port(const ServicePortSpec& spec, Protocol protocol,
                          const std::vector<EndpointInfo>& endpoints, const NodeInfo& node) {
  ServicePort rule;
  rule.frontends = frontends_of(spec, protocol);
  rule.internal_policy = policy(spec.internal_local);
  rule.external_policy = policy(spec.external_local);
  if (!spec.load_balancer_ips.empty()) rule.allowed_sources = allowed_sources(spec, node);
  rule.affinity_seconds = spec.affinity_seconds;
  rule.endpoints = select_endpoints(spec.endpoint_policy(), endpoints, node);
  if (protocol == Protocol::Udp) {
    for (const EndpointInfo& info : endpoints) {
      // A ready one gets new flows even if it does not serve (publishNotReadyAddresses).
      if (info.serving || info.ready) rule.serving.push_back(info.endpoint);
    }
  }
  rule.hairpin = hairpin_addresses(endpoints, rule.endpoints, node);
  return rule;
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
  if (changes.node) {
    // Of the node, its own Node object alone shows in the rules of a Service.
    if (changes.node->node != node_.node) touched.merge(names());
    node_ = *changes.node;
    ++node_revision_;
  }
  if (touched.contains(ApiServerSlices::service_name())) {
    const Entry& entry = services_[ApiServerSlices::service_name()];
    api_server_slices_.note(entry.service.get(), entry.slices);
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
  const Slices* kept = api_server_slices_.instead(name, family);
  const Slices& slices = kept != nullptr ? *kept : entry->second.slices;
  rules.creation_timestamp = service.metadata.creation_timestamp;

  ServiceSpec spec = service_spec(service, family);
  rules.problems = std::move(spec.problems);
  if (spec.ports.empty()) return rules;
  for (const auto& [port, own] : spec.ports) {
    const std::vector<EndpointInfo> endpoints =
        slice_endpoints(slices, port.port, port.protocol, family);
    rules.ports.emplace(port, rules_of_port(own, port.protocol, endpoints, node_.node));
  }
  std::vector<std::string> more = slice_problems(slices, family);
  std::move(more.begin(), more.end(), std::back_inserter(rules.problems));
  return rules;
}

std::set<ServiceName> ClusterState::names() const {
  std::set<ServiceName> all;
  for (const auto& [name, entry] : services_) all.insert(name);
  return all;
}

const Service* ClusterState::service(const ServiceName& name) const {
  const auto entry = services_.find(name);
  return entry == services_.end() ? nullptr : entry->second.service.get();
}

const Slices* ClusterState::slices_of(const ServiceName& name) const {
  const auto entry = services_.find(name);
  return entry == services_.end() ? nullptr : &entry->second.slices;
}

}  // namespace mkp
