#include "configs/defaults.h"

#include <optional>

namespace mkp {

Config defaults_for(std::string_view mode, std::string_view bind_address) {
  Config config;
  const std::optional<IpAddress> address = parse_ip_address(bind_address);
  if (address && address->family == IpFamily::Ipv6) {
    config.healthz_bind_address.address = {IpFamily::Ipv6, {}};
    config.metrics_bind_address.address = {IpFamily::Ipv6, {}};
    config.metrics_bind_address.address.bytes.back() = 1;
  }
  if (mode == "iptables" || mode == "ipvs") config.node_port_addresses = {};
  return config;
}

}  // namespace mkp
