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

// What one IP family reads out of one port of a Service: parsed, and without what belongs to the
// other family.
struct ServicePortSpec {
  IpAddress cluster_ip;
  std::uint16_t port = 0;
  std::uint16_t node_port = 0;               // 0: none
  std::vector<IpAddress> external_ips;       // in the Service's order
  std::vector<IpAddress> load_balancer_ips;  // but those of ipMode Proxy
  // Who may use the load-balancer IPs. Empty: everybody, also when one of the ranges is everybody,
  // or when those given are all of the other family, or unreadable.
  std::vector<IpPrefix> source_ranges;
  bool internal_local = false;  // internalTrafficPolicy
  // externalTrafficPolicy, where it means anything: of a NodePort or LoadBalancer Service, or of a
  // ClusterIP one with external IPs.
  bool external_local = false;
  std::optional<std::uint32_t> affinity_seconds;
  std::uint16_t health_check_node_port = 0;  // 0: none

  bool externally_accessible() const;
  EndpointPolicy endpoint_policy() const;

  bool operator==(const ServicePortSpec&) const = default;
};

struct ServiceSpec {
  std::map<ServicePortName, ServicePortSpec> ports;
  // What could not be used, each a sentence that names object and field.
  std::vector<std::string> problems;
};

// Nothing to serve in that family: no ports. That is no problem.
ServiceSpec service_spec(const Service& service, IpFamily family);

}  // namespace mkp
