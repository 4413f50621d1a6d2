#pragma once

#include "informer/objects.h"

namespace mkp {

// Calls `visit` with a value of the type that stands for the kind, which tells it the type.
template <class Visit>
auto with_type_of(ObjectKind kind, Visit visit) {
  switch (kind) {
    case ObjectKind::Service:
      return visit(static_cast<Service*>(nullptr));
    case ObjectKind::EndpointSlice:
      return visit(static_cast<EndpointSlice*>(nullptr));
    case ObjectKind::Node:
      return visit(static_cast<Node*>(nullptr));
    case ObjectKind::ServiceCidr:
      break;
  }
  return visit(static_cast<ServiceCidr*>(nullptr));
}

constexpr bool is_namespaced(ObjectKind kind) {
  return kind == ObjectKind::Service || kind == ObjectKind::EndpointSlice;
}

}  // namespace mkp
