#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/udp_changes.h"
#include "tests/netlink/conntrack_flows.h"

// What a sync says about UDP frontends, written shortly.
namespace mkp {

// "172.30.0.10:53", or "30053" for a node port.
inline Frontend udp_frontend(const std::string& text) {
  if (text.find(':') == std::string::npos) {
    return {std::nullopt, Protocol::Udp, static_cast<std::uint16_t>(std::stoi(text))};
  }
  const FlowEnd end = flow_end(text);
  return {end.ip, Protocol::Udp, end.port};
}

inline std::vector<Endpoint> endpoints(const std::vector<std::string>& texts) {
  std::vector<Endpoint> endpoints;
  endpoints.reserve(texts.size());
  for (const std::string& text : texts) {
    const FlowEnd end = flow_end(text);
    endpoints.push_back({end.ip, end.port});
  }
  std::ranges::sort(endpoints);
  return endpoints;
}

using Texts = std::vector<std::string>;

inline UdpChanges::Change change(const std::string& frontend, const Texts& before,
                                 const Texts& after) {
  return {udp_frontend(frontend), endpoints(before), endpoints(after)};
}
inline UdpChanges::Change gone(const std::string& frontend, const Texts& before) {
  return {udp_frontend(frontend), endpoints(before), std::nullopt};
}

inline UdpChanges udp_changes(std::vector<UdpChanges::Change> frontends) {
  return {IpFamily::Ipv4, std::move(frontends), std::nullopt};
}
inline UdpChanges node_port_ips(const Texts& texts) {
  std::vector<IpAddress> ips;
  ips.reserve(texts.size());
  for (const std::string& text : texts) ips.push_back(parse_ip_address(text).value());
  std::ranges::sort(ips);
  return {IpFamily::Ipv4, {}, std::move(ips)};
}

}  // namespace mkp
