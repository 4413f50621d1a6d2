#include "informer/api_server.h"

#include <fmt/format.h>

namespace mkp {

std::string authority(const std::string& host, std::uint16_t port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string to_text(const ApiServer& server) {
  return (server.tls ? "https://" : "http://") + authority(server.host, server.port) +
         server.base_path;
}

}  // namespace mkp
