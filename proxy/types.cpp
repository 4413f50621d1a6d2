#include "proxy/types.h"

#include <fmt/format.h>

namespace mkp {
namespace {

std::string with_port(const IpAddress& ip, std::uint16_t port) {
  return ip.family == IpFamily::Ipv6 ? fmt::format("[{}]:{}", to_text(ip), port)
                                     : fmt::format("{}:{}", to_text(ip), port);
}

}  // namespace

std::string to_text(const ServiceName& service) {
  return fmt::format("{}/{}", service.name_space, service.name);
}

std::string to_text(const ServicePortName& port) {
  const std::string service = to_text(port.service);
  return port.port.empty() ? service : fmt::format("{}:{}", service, port.port);
}

std::string to_text(const Endpoint& endpoint) { return with_port(endpoint.ip, endpoint.port); }

std::string to_text(const Frontend& frontend) {
  const std::string place = frontend.ip ? with_port(*frontend.ip, frontend.port)
                                        : fmt::format("node port {}", frontend.port);
  return fmt::format("{}/{}", place, to_text(frontend.protocol));
}

}  // namespace mkp

std::size_t std::hash<mkp::Frontend>::operator()(const mkp::Frontend& frontend) const noexcept {
  const std::size_t address = frontend.ip ? std::hash<mkp::IpAddress>{}(*frontend.ip) : 0;
  const std::size_t rest =
      (static_cast<std::size_t>(frontend.port) << 8) | static_cast<std::size_t>(frontend.protocol);
  return address ^ (rest * 0x9e3779b97f4a7c15ULL);
}
