#include "proxy/topology.h"

#include <algorithm>

namespace mkp {
namespace {

template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

bool names(const std::vector<std::string>& hints, const std::string& name) {
  return !name.empty() && std::find(hints.begin(), hints.end(), name) != hints.end();
}

bool may_be_here(const EndpointInfo& info, const NodeInfo& node) {
  if (info.node_name.empty() || is_local(info, node)) return true;
  return std::any_of(node.pod_cidrs.begin(), node.pod_cidrs.end(),
                     [&](const IpPrefix& cidr) { return contains(cidr, info.endpoint.ip); });
}

// An endpoint by its conditions alone, where no ready one, or a ready one, comes into question.
Selection by_conditions(const EndpointInfo& info, bool some_ready) {
  if (info.ready) return Selection::Used;
  if (!info.terminating) return Selection::NotReady;
  if (!info.serving) return Selection::NotServing;
  return some_ready ? Selection::Terminating : Selection::UsedWhileTerminating;
}

bool is_used(Selection selection) {
  return selection == Selection::Used || selection == Selection::UsedWhileTerminating;
}

std::vector<Endpoint> used(const std::vector<EndpointInfo>& endpoints,
                           const std::vector<Selection>& selections) {
  std::vector<Endpoint> chosen;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (is_used(selections[i])) chosen.push_back(endpoints[i].endpoint);
  }
  sort_unique(chosen);
  return chosen;
}

bool holds(const std::optional<std::vector<Endpoint>>& list, const Endpoint& endpoint) {
  return list && std::binary_search(list->begin(), list->end(), endpoint);
}

}  // namespace

IpAddress node_ip(const NodeInfo& node, IpFamily family) {
  const auto found = std::find_if(node.ips.begin(), node.ips.end(),
                                  [&](const IpAddress& ip) { return ip.family == family; });
  return found == node.ips.end() ? loopback(family) : *found;
}

bool is_local(const EndpointInfo& info, const NodeInfo& node) {
  return !node.name.empty() && info.node_name == node.name;
}

std::string_view to_text(Selection selection) {
  switch (selection) {
    case Selection::Used:
      return "used";
    case Selection::UsedWhileTerminating:
      return "used although it terminates, as none is ready";
    case Selection::NotReady:
      return "not ready";
    case Selection::NotServing:
      return "terminating and no longer serving";
    case Selection::Terminating:
      return "terminating, and others are ready";
    case Selection::OtherNode:
      return "on or for another node";
    case Selection::OtherZone:
      return "for another zone";
  }
  return "";
}

TopologyMode topology_mode(const std::vector<EndpointInfo>& endpoints, const NodeInfo& node) {
  bool any_ready = false;
  bool all_name_nodes = true;
  bool all_name_zones = true;
  bool our_node = false;
  bool our_zone = false;
  for (const EndpointInfo& info : endpoints) {
    if (!info.ready) continue;
    any_ready = true;
    all_name_nodes = all_name_nodes && !info.node_hints.empty();
    all_name_zones = all_name_zones && !info.zone_hints.empty();
    our_node = our_node || names(info.node_hints, node.name);
    our_zone = our_zone || names(info.zone_hints, node.zone);
  }
  if (any_ready && all_name_nodes && our_node) return TopologyMode::SameNode;
  if (any_ready && all_name_zones && our_zone) return TopologyMode::SameZone;
  return TopologyMode::Anywhere;
}

std::vector<Selection> cluster_selection(const std::vector<EndpointInfo>& endpoints,
                                         const NodeInfo& node) {
  const TopologyMode mode = topology_mode(endpoints, node);
  // A mode other than Anywhere is one that a ready endpoint matches: it never empties the list.
  const bool some_ready = std::any_of(endpoints.begin(), endpoints.end(),
                                      [](const EndpointInfo& info) { return info.ready; });
  std::vector<Selection> selections;
  selections.reserve(endpoints.size());
  for (const EndpointInfo& info : endpoints) {
    Selection selection = by_conditions(info, some_ready);
    if (selection == Selection::Used && mode == TopologyMode::SameNode &&
        !names(info.node_hints, node.name)) {
      selection = Selection::OtherNode;
    }
    if (selection == Selection::Used && mode == TopologyMode::SameZone &&
        !names(info.zone_hints, node.zone)) {
      selection = Selection::OtherZone;
    }
    selections.push_back(selection);
  }
  return selections;
}

std::vector<Selection> local_selection(const std::vector<EndpointInfo>& endpoints,
                                       const NodeInfo& node) {
  const bool some_ready =
      std::any_of(endpoints.begin(), endpoints.end(),
                  [&](const EndpointInfo& info) { return info.ready && is_local(info, node); });
  std::vector<Selection> selections;
  selections.reserve(endpoints.size());
  for (const EndpointInfo& info : endpoints) {
    selections.push_back(is_local(info, node) ? by_conditions(info, some_ready)
                                              : Selection::OtherNode);
  }
  return selections;
}

EndpointSets select_endpoints(const EndpointPolicy& policy,
                              const std::vector<EndpointInfo>& endpoints, const NodeInfo& node) {
  EndpointSets sets;
  sets.any = std::any_of(endpoints.begin(), endpoints.end(), [](const EndpointInfo& info) {
    return info.ready || (info.serving && info.terminating);
  });
  if (policy.uses_cluster) sets.cluster = used(endpoints, cluster_selection(endpoints, node));
  if (policy.uses_local) sets.local = used(endpoints, local_selection(endpoints, node));
  return sets;
}

std::vector<IpAddress> hairpin_addresses(const std::vector<EndpointInfo>& endpoints,
                                         const EndpointSets& sets, const NodeInfo& node) {
  std::vector<IpAddress> addresses;
  for (const EndpointInfo& info : endpoints) {
    const bool reachable = holds(sets.cluster, info.endpoint) || holds(sets.local, info.endpoint);
    if (reachable && may_be_here(info, node)) addresses.push_back(info.endpoint.ip);
  }
  sort_unique(addresses);
  return addresses;
}

}  // namespace mkp
