#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "proxy/cluster_state.h"
#include "proxy/types.h"

namespace mkp {

// What a cloud's load balancer asks for at the health check port of a Service: of type LoadBalancer
// with externalTrafficPolicy Local.
struct HealthTarget {
  std::uint16_t port = 0;  // healthCheckNodePort; 0: the Service has none, though it needs one
  std::size_t local_endpoints = 0;  // distinct addresses that are ready and on this node

  bool operator==(const HealthTarget&) const = default;
};

struct HealthTargetChange {
  ServiceName service;
  std::optional<HealthTarget> target;  // nothing: there is nothing to ask for any more

  bool operator==(const HealthTargetChange&) const = default;
};

// The health targets of one family, as of its last successful sync: so a load balancer hears of an
// endpoint once traffic gets there. Belongs to the sync thread.
class HealthTargets {
 public:
  explicit HealthTargets(IpFamily family) : family_(family) {}

  // These may have changed.
  void note(const std::set<ServiceName>& touched) {
    touched_.insert(touched.begin(), touched.end());
  }

  // What has changed among all those noted since the last update.
  std::vector<HealthTargetChange> update(const ClusterState& cluster);

 private:
  std::optional<HealthTarget> target_of(const ClusterState& cluster, const ServiceName& name) const;

  IpFamily family_;
  std::set<ServiceName> touched_;
  std::map<ServiceName, HealthTarget> known_;
};

}  // namespace mkp
