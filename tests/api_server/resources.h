#pragma once

#include <array>
#include <string_view>

#include "informer/objects.h"

namespace mkp::api {

// How the API calls a kind.
struct Resource {
  ObjectKind kind;
  std::string_view kind_name;  // "EndpointSlice"
  std::string_view resource;   // "endpointslices"
  std::string_view singular;
  std::string_view short_name;  // may be empty
  std::string_view group;       // empty: the core group
  bool namespaced;

  std::string_view api_version() const {
    if (group.empty()) return "v1";
    return kind == ObjectKind::EndpointSlice ? "discovery.k8s.io/v1" : "networking.k8s.io/v1";
  }
};

// In the order of ObjectKind.
inline constexpr std::array<Resource, 4> kResources{{
    {ObjectKind::Service, "Service", "services", "service", "svc", "", true},
    {ObjectKind::EndpointSlice, "EndpointSlice", "endpointslices", "endpointslice", "",
     "discovery.k8s.io", true},
    {ObjectKind::Node, "Node", "nodes", "node", "no", "", false},
    {ObjectKind::ServiceCidr, "ServiceCIDR", "servicecidrs", "servicecidr", "", "networking.k8s.io",
     false},
}};

constexpr const Resource& resource_of(ObjectKind kind) {
  return kResources.at(static_cast<std::size_t>(kind));
}

}  // namespace mkp::api
