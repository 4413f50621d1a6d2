#include "informer/objects.h"

namespace mkp {

std::string_view to_text(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Service:
      return "Service";
    case ObjectKind::EndpointSlice:
      return "EndpointSlice";
    case ObjectKind::Node:
      return "Node";
    case ObjectKind::ServiceCidr:
      return "ServiceCIDR";
  }
  return "?";
}

std::string_view to_text(Protocol protocol) {
  switch (protocol) {
    case Protocol::Tcp:
      return "TCP";
    case Protocol::Udp:
      return "UDP";
    case Protocol::Sctp:
      return "SCTP";
  }
  return "?";
}

}  // namespace mkp
