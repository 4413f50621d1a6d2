#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "informer/objects.h"
#include "runner/ip_address.h"

namespace mkp {

// A Service's namespace and name. Ordered by namespace, then name, as Kubernetes lists them.
struct ServiceName {
  std::string name_space;
  std::string name;
  auto operator<=>(const ServiceName&) const = default;
};
std::string to_text(const ServiceName& service);  // "shop/web"

// One entry of a Service's spec.ports. Port names are unique in a Service only together with the
// protocol.
struct ServicePortName {
  ServiceName service;
  std::string port;  // may be empty
  Protocol protocol = Protocol::Tcp;
  auto operator<=>(const ServicePortName&) const = default;
};
std::string to_text(
    const ServicePortName& port);  // "shop/web:http", or "shop/web" for a port without a name

// Where a connection may end: a pod's address and port.
struct Endpoint {
  IpAddress ip;
  std::uint16_t port = 0;  // never 0 in an endpoint that is used
  auto operator<=>(const Endpoint&) const = default;
};
std::string to_text(const Endpoint& endpoint);  // "10.180.0.2:8080", "[fd00::7]:8080"

// What a client dials to reach a Service, in one IP family.
struct Frontend {
  std::optional<IpAddress> ip;  // nothing: a node port, at all addresses that answer on node ports
  Protocol protocol = Protocol::Tcp;
  std::uint16_t port = 0;
  auto operator<=>(const Frontend&) const = default;
};
std::string to_text(const Frontend& frontend);  // "172.30.0.10:80/TCP", "node port 30080/TCP"

}  // namespace mkp

template <>
struct std::hash<mkp::Frontend> {
  std::size_t operator()(const mkp::Frontend& frontend) const noexcept;
};
