#include "proxy/topology.h"

#include <algorithm>

namespace mkp {
namespace {

template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

bool may_be_here(const EndpointInfo& info, const NodeInfo& node) {
  if (info.node_name.empty() || info.node_name == node.name) return true;
  return std::any_of(node.pod_cidrs.begin(), node.pod_cidrs.end(),
                     [&](const IpPrefix& cidr) { return contains(cidr, info.endpoint.ip); });
}

}  // namespace

std::vector<Endpoint> select_cluster_endpoints(const std::vector<EndpointInfo>& endpoints) {
  std::vector<Endpoint> ready;
  std::vector<Endpoint> draining;
  for (const EndpointInfo& info : endpoints) {
    if (info.ready) {
      ready.push_back(info.endpoint);
    } else if (info.serving && info.terminating) {
      draining.push_back(info.endpoint);
    }
  }
  std::vector<Endpoint>& chosen = ready.empty() ? draining : ready;
  sort_unique(chosen);
  return std::move(chosen);
}

std::vector<IpAddress> hairpin_addresses(const std::vector<EndpointInfo>& endpoints,
                                         const std::vector<Endpoint>& selected,
                                         const NodeInfo& node) {
  std::vector<IpAddress> addresses;
  for (const EndpointInfo& info : endpoints) {
    const bool used = std::binary_search(selected.begin(), selected.end(), info.endpoint);
    if (used && may_be_here(info, node)) addresses.push_back(info.endpoint.ip);
  }
  sort_unique(addresses);
  return addresses;
}

}  // namespace mkp
