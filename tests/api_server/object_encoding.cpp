#include "tests/api_server/object_encoding.h"

namespace mkp::api {

Extras all_extras(const Service& /*service*/, Extras extras) { return extras; }

Extras all_extras(const EndpointSlice& slice, Extras extras) {
  if (!slice.service_name.empty()) {
    extras.labels.emplace("kubernetes.io/service-name", slice.service_name);
  }
  if (!slice.last_change_trigger_time.empty()) {
    extras.annotations.emplace("endpoints.kubernetes.io/last-change-trigger-time",
                               slice.last_change_trigger_time);
  }
  return extras;
}

Extras all_extras(const Node& node, Extras extras) {
  if (!node.zone.empty()) extras.labels.emplace("topology.kubernetes.io/zone", node.zone);
  return extras;
}

Extras all_extras(const ServiceCidr& /*cidr*/, Extras extras) { return extras; }

std::string_view type_name(Service::Type type) {
  switch (type) {
    case Service::Type::NodePort:
      return "NodePort";
    case Service::Type::LoadBalancer:
      return "LoadBalancer";
    case Service::Type::ExternalName:
      return "ExternalName";
    default:
      return "ClusterIP";
  }
}

std::string_view family_name(AddressType type) {
  switch (type) {
    case AddressType::Ipv6:
      return "IPv6";
    case AddressType::Fqdn:
      return "FQDN";
    default:
      return "IPv4";
  }
}

std::string_view policy_name(TrafficPolicy policy) {
  return policy == TrafficPolicy::Local ? "Local" : "Cluster";
}

}  // namespace mkp::api
