#pragma once

#include <string>
#include <vector>

#include "proxy/types.h"

namespace mkp {

// What a proxy knows of its own Node.
struct NodeInfo {
  std::string name;  // as in the nodeName of endpoints
  std::vector<IpPrefix> pod_cidrs;

  bool operator==(const NodeInfo&) const = default;
};

// An endpoint of one Service port, as the slices describe it.
struct EndpointInfo {
  Endpoint endpoint;
  bool ready = true;
  bool serving = true;
  bool terminating = false;
  std::string node_name;  // empty when the slice does not say

  bool operator==(const EndpointInfo&) const = default;
};

// The endpoints that this node may use for traffic of policy Cluster (KEP-1669, KEP-1672): the
// ready ones; when not one is ready, those that still serve while they terminate. A ready endpoint
// counts even if it terminates (publishNotReadyAddresses). Sorted and unique.
std::vector<Endpoint> select_cluster_endpoints(const std::vector<EndpointInfo>& endpoints);

// The addresses among `endpoints` that may be on this node and so may be the client of their own
// Service: those that the slice puts on this node or on no node at all, and those within the Node's
// podCIDRs (kubernetes#134884). Sorted and unique.
std::vector<IpAddress> hairpin_addresses(const std::vector<EndpointInfo>& endpoints,
                                         const std::vector<Endpoint>& selected,
                                         const NodeInfo& node);

}  // namespace mkp
