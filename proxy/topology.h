#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/types.h"

namespace mkp {

// What a proxy knows of its own Node.
struct NodeInfo {
  std::string name;  // as in the nodeName of endpoints
  std::string zone;  // label topology.kubernetes.io/zone; empty when the Node has none
  std::vector<IpPrefix> pod_cidrs;
  // Of status.addresses: the InternalIPs in order, then the ExternalIPs.
  std::vector<IpAddress> ips;

  bool operator==(const NodeInfo&) const = default;
};

// The node's own address in that family: the first of its ips; loopback when it has none.
IpAddress node_ip(const NodeInfo& node, IpFamily family);

// An endpoint of one Service port, as the slices describe it.
struct EndpointInfo {
  Endpoint endpoint;
  bool ready = true;
  bool serving = true;
  bool terminating = false;
  std::string node_name;  // empty when the slice does not say
  std::vector<std::string> zone_hints;
  std::vector<std::string> node_hints;

  bool operator==(const EndpointInfo&) const = default;
};

bool is_local(const EndpointInfo& info, const NodeInfo& node);

// Which lists of endpoints a Service port has a use for.
struct EndpointPolicy {
  bool uses_cluster = true;
  bool uses_local = false;
};

// The endpoints that new connections may be led to from this node. Lists are sorted and unique.
struct EndpointSets {
  // For traffic of policy Cluster; nothing when the Service port has no such traffic.
  std::optional<std::vector<Endpoint>> cluster;
  // For traffic of policy Local; nothing when it has no such traffic.
  std::optional<std::vector<Endpoint>> local;
  // Some node or other has an endpoint to use. Without any, connections are rejected; where only
  // the policy leaves none, they are dropped.
  bool any = false;

  bool operator==(const EndpointSets&) const = default;
};

// Why an endpoint is in a list, or is not.
enum class Selection : std::uint8_t {
  Used,
  UsedWhileTerminating,  // as no endpoint that would come into question is ready
  NotReady,
  NotServing,   // terminating, and no longer serving
  Terminating,  // still serving, but others are ready
  OtherNode,    // policy Local, or hints for the nodes of the others
  OtherZone,    // hints for the zones of the others
};
std::string_view to_text(Selection selection);  // "used", "in another zone" ...

// How traffic of policy Cluster is kept near, by the hints of the ready endpoints (KEP-2433,
// KEP-3015). Hints count only if every ready endpoint has them and one of them names us.
enum class TopologyMode : std::uint8_t { Anywhere, SameZone, SameNode };
TopologyMode topology_mode(const std::vector<EndpointInfo>& endpoints, const NodeInfo& node);

// One Selection for each endpoint, in their order (KEP-1669, KEP-1672): the ready ones that the
// hints allow; when not one is ready, those that still serve while they terminate. A ready endpoint
// counts even if it terminates (publishNotReadyAddresses).
std::vector<Selection> cluster_selection(const std::vector<EndpointInfo>& endpoints,
                                         const NodeInfo& node);
// The same among the endpoints on this node; hints do not matter.
std::vector<Selection> local_selection(const std::vector<EndpointInfo>& endpoints,
                                       const NodeInfo& node);

EndpointSets select_endpoints(const EndpointPolicy& policy,
                              const std::vector<EndpointInfo>& endpoints, const NodeInfo& node);

// The addresses among the endpoints of `sets` that may be on this node and so may be the client of
// their own Service: those that the slice puts on this node or on no node at all, and those within
// the Node's podCIDRs (kubernetes#134884). Sorted and unique.
std::vector<IpAddress> hairpin_addresses(const std::vector<EndpointInfo>& endpoints,
                                         const EndpointSets& sets, const NodeInfo& node);

}  // namespace mkp
