#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "informer/objects.h"
#include "proxy/topology.h"
#include "proxy/types.h"

namespace mkp {

// What kind of address a frontend is of. In this order: of two kinds at one address, the first
// counts.
enum class FrontendKind : std::uint8_t { ClusterIp, LoadBalancerIp, ExternalIp, NodePort };
std::string_view to_text(FrontendKind kind);  // "ClusterIP", "load-balancer IP", "external IP" ...

struct ServedFrontend {
  Frontend frontend;
  FrontendKind kind = FrontendKind::ClusterIp;
  auto operator<=>(const ServedFrontend&) const = default;
};

// What becomes of new connections that are led nowhere.
enum class Refusal : std::uint8_t {
  None,
  Reject,  // no node has an endpoint for them: the client is told
  Drop,    // only the traffic policy leaves none: a load balancer shall look for another node
};

// What this node forwards for one Service port in one IP family. A value in normal form: lists are
// sorted and unique, so that equal means the same rules. No chain, handle or socket in here.
struct ServicePort {
  // Where clients dial, by frontend. Without those that an older Service owns.
  std::vector<ServedFrontend> frontends;
  TrafficPolicy internal_policy = TrafficPolicy::Cluster;  // of ClusterIP frontends
  TrafficPolicy external_policy = TrafficPolicy::Cluster;  // of all others
  // Who may use the load-balancer IPs: disjoint prefixes. Empty: everybody.
  std::vector<IpPrefix> allowed_sources;
  // sessionAffinity ClientIP: how long a client keeps its endpoint after its last connection.
  std::optional<std::uint32_t> affinity_seconds;
  EndpointSets endpoints;
  // Of a UDP port: the endpoints that keep the flows which they have, as they serve or are ready,
  // whatever policies and hints say of new ones.
  std::vector<Endpoint> serving;
  // Endpoint addresses that may turn out to be the client itself: a connection to such an address
  // from itself must be masqueraded, or the answer would never pass this node.
  std::vector<IpAddress> hairpin;

  bool operator==(const ServicePort&) const = default;

  bool empty() const;  // as if it were not there
  const std::vector<Endpoint>& cluster_endpoints() const;
  const std::vector<Endpoint>& local_endpoints() const;
  // Of ClusterIP frontends, and of all others as far as clients outside are concerned.
  Refusal internal_refusal() const;
  Refusal external_refusal() const;
};

// What this node should forward in one IP family, in Kubernetes terms.
using RuleModel = std::map<ServicePortName, ServicePort>;

// How packets of this node's or the cluster's pods are told from others (detectLocalMode). Nothing
// in it: they cannot be told.
struct LocalPods {
  std::vector<IpPrefix> sources;  // their addresses are within one of these
  std::string interface;          // they come in by the interface of that name
  std::string interface_prefix;   // ... or by one whose name begins so
  bool operator==(const LocalPods&) const = default;
};

// What holds for this node whatever its Services, in one IP family.
struct NodeModel {
  LocalPods local_pods;
  // The addresses that answer on node ports: sorted, never loopback.
  std::vector<IpAddress> node_port_ips;
  // Every local address but loopback answers, also one that is no interface's.
  bool node_ports_anywhere = false;
  // The ranges that cluster IPs are allocated from: sorted, disjoint. What is addressed to one of
  // them and is no cluster IP is dropped.
  std::vector<IpPrefix> service_cidrs;

  bool operator==(const NodeModel&) const = default;
};

struct RuleDiff {
  struct Change {
    ServicePort before;  // as it was applied; everything empty when the port is new
    ServicePort after;   // as it should be; everything empty when the port is gone
  };
  std::map<ServicePortName, Change> changes;
  std::optional<NodeModel> node;  // as it should be; nothing: unchanged

  bool empty() const { return changes.empty() && !node; }
};

// What turns `applied` into `desired`, both holding the touched Services only: the cost is the
// change's, not the cluster's. Nothing else decides the order of the rules made from it.
RuleDiff diff(const RuleModel& applied, const RuleModel& desired);

// One line a change. Tests compare this text, and so do people reading debug logs.
std::string to_text(const RuleDiff& diff);

// Service ports that have endpoints, but none that a policy of Local allows on this node: what
// kube-proxy counts as sync_proxy_rules_no_local_endpoints_total.
struct NoLocalEndpoints {
  std::int64_t internal = 0;
  std::int64_t external = 0;
  bool operator==(const NoLocalEndpoints&) const = default;

  void add(const ServicePort& port);
  void subtract(const ServicePort& port);
};

}  // namespace mkp
