#include "proxy/health_targets.h"

#include <utility>

#include "proxy/service_port_spec.h"
#include "proxy/slice_endpoints.h"

namespace mkp {

std::vector<HealthTargetChange> HealthTargets::update(const ClusterState& cluster) {
  std::vector<HealthTargetChange> changes;
  for (const ServiceName& name : std::exchange(touched_, {})) {
    const std::optional<HealthTarget> target = target_of(cluster, name);
    const auto before = known_.find(name);
    if (before == known_.end() ? !target : target == before->second) continue;
    if (target) {
      known_.insert_or_assign(name, *target);
    } else {
      known_.erase(before);
    }
    changes.push_back({name, target});
  }
  return changes;
}

std::optional<HealthTarget> HealthTargets::target_of(const ClusterState& cluster,
                                                     const ServiceName& name) const {
  const Service* service = cluster.service(name);
  // Most Services are none of this: that is seen without reading them.
  if (!service || service->type != Service::Type::LoadBalancer ||
      service->external_traffic_policy != TrafficPolicy::Local) {
    return std::nullopt;
  }
  const ServiceSpec spec = service_spec(*service, family_);
  if (spec.ports.empty()) return std::nullopt;
  const Slices* slices = cluster.slices_of(name);
  return HealthTarget{spec.ports.begin()->second.health_check_node_port,
                      slices ? local_ready_addresses(*slices, family_, cluster.node().node) : 0};
}

}  // namespace mkp
