#include "proxy/unbuilt_features.h"

#include <algorithm>

namespace mkp {

std::vector<std::string_view> unbuilt_features(const Service& service) {
  std::vector<std::string_view> features;
  const auto add = [&](bool asked_for, std::string_view feature) {
    if (asked_for) features.push_back(feature);
  };
  const bool node_ports =
      std::any_of(service.ports.begin(), service.ports.end(),
                  [](const Service::Port& port) { return port.node_port != 0; });
  add(node_ports, "node ports (spec.ports[].nodePort)");
  add(!service.external_ips.empty(), "external IPs (spec.externalIPs)");
  add(!service.load_balancer_ingress.empty(), "load-balancer IPs (status.loadBalancer.ingress)");
  add(service.client_ip_affinity_seconds.has_value(), "session affinity (spec.sessionAffinity)");
  add(service.internal_traffic_policy == TrafficPolicy::Local,
      "local endpoints only (spec.internalTrafficPolicy)");
  return features;
}

}  // namespace mkp
