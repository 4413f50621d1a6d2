#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/rule_model.h"

// Values of the rule model, written as people write them.
namespace mkp {

inline IpAddress ip(std::string_view text) { return parse_ip_address(text).value(); }

inline IpPrefix prefix(std::string_view text) { return parse_ip_prefix(text).value(); }

// "10.180.0.2:8080" or "[fd00::7]:8080"
inline Endpoint endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return {ip(host), static_cast<std::uint16_t>(std::stoi(std::string(text.substr(colon + 1))))};
}

inline std::vector<Endpoint> endpoints(const std::vector<std::string_view>& texts) {
  std::vector<Endpoint> result;
  for (const std::string_view text : texts) result.push_back(endpoint(text));
  return result;
}

// "10.180.0.2 10.180.0.3", "-" for none: the other way, of whatever has a to_text()
template <class T>
std::string joined(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : " ") + to_text(item);
  return text.empty() ? "-" : text;
}

// "172.30.0.10:80", a TCP frontend
inline Frontend frontend(std::string_view text, Protocol protocol = Protocol::Tcp) {
  const Endpoint place = endpoint(text);
  return {place.ip, protocol, place.port};
}

// A ClusterIP frontend and its endpoints, none of which is on this node.
inline ServicePort cluster_port(std::string_view at, const std::vector<std::string_view>& to,
                                Protocol protocol = Protocol::Tcp) {
  ServicePort port;
  port.frontends = {{frontend(at, protocol), FrontendKind::ClusterIp}};
  port.endpoints = {endpoints(to), std::nullopt, !to.empty()};
  if (protocol == Protocol::Udp) port.serving = endpoints(to);
  return port;
}

// "web", in namespace default with port http over TCP
inline ServicePortName port_name(std::string_view service) {
  return {{"default", std::string(service)}, "http", Protocol::Tcp};
}

}  // namespace mkp
