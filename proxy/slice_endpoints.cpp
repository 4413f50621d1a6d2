#include "proxy/slice_endpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace mkp {
namespace {

bool is_of(const EndpointSlice& slice, IpFamily family) {
  return slice.address_type == (family == IpFamily::Ipv4 ? AddressType::Ipv4 : AddressType::Ipv6);
}

// The number of a slice's port, where it has one: "all ports" has no meaning for a proxy.
std::optional<std::uint16_t> usable_number(const EndpointSlice::Port& port) {
  return port.port && *port.port != 0 ? port.port : std::nullopt;
}

std::optional<std::uint16_t> offered_port(const EndpointSlice& slice, const std::string& name,
                                          Protocol protocol) {
  for (const EndpointSlice::Port& offered : slice.ports) {
    if (offered.name != name || offered.protocol != protocol) continue;
    if (const std::optional<std::uint16_t> number = usable_number(offered)) return number;
  }
  return std::nullopt;
}

// The address of an endpoint, where it can be one of that family.
std::optional<IpAddress> usable_address(const EndpointSlice::Endpoint& endpoint, IpFamily family) {
  const std::optional<IpAddress> ip = parse_ip_address(endpoint.address);
  if (!ip || ip->family != family) return std::nullopt;
  if (is_loopback(*ip) || is_unspecified(*ip) || is_for_many(*ip)) return std::nullopt;
  return ip;
}

void report_port(const std::string& slice, std::size_t index, const EndpointSlice::Port& port,
                 std::vector<std::string>& problems) {
  if (!port.name) {
    problems.push_back(
        fmt::format("{}: ports[{}].name is missing, so this port of the endpoints "
                    "gets no traffic",
                    slice, index));
  } else if (!usable_number(port)) {
    problems.push_back(
        fmt::format("{}: ports[{}].port is missing or 0, so this port of the "
                    "endpoints gets no traffic",
                    slice, index));
  }
}

}  // namespace

std::vector<EndpointInfo> slice_endpoints(const Slices& slices, const std::string& port,
                                          Protocol protocol, IpFamily family) {
  std::map<Endpoint, EndpointInfo> merged;
  for (const auto& [name, slice] : slices) {
    if (!is_of(*slice, family)) continue;
    const std::optional<std::uint16_t> number = offered_port(*slice, port, protocol);
    if (!number) continue;
    for (const EndpointSlice::Endpoint& from : slice->endpoints) {
      const std::optional<IpAddress> ip = usable_address(from, family);
      if (!ip) continue;
      EndpointInfo info{{*ip, *number}, from.ready,      from.serving,   from.terminating,
                        from.node_name, from.zone_hints, from.node_hints};
      const auto [entry, added] = merged.try_emplace(info.endpoint, info);
      if (!added && !info.terminating) entry->second = std::move(info);
    }
  }
  std::vector<EndpointInfo> endpoints;
  endpoints.reserve(merged.size());
  for (auto& [endpoint, info] : merged) endpoints.push_back(std::move(info));
  return endpoints;
}

std::map<ServicePortName, std::vector<EndpointInfo>> all_slice_endpoints(const ServiceName& service,
                                                                         const Slices& slices,
                                                                         IpFamily family) {
  std::map<ServicePortName, std::vector<EndpointInfo>> all;
  for (const auto& [name, slice] : slices) {
    if (!is_of(*slice, family)) continue;
    for (const EndpointSlice::Port& port : slice->ports) {
      if (!port.name || !usable_number(port)) continue;
      const ServicePortName key{service, *port.name, port.protocol};
      if (!all.contains(key)) {
        all.emplace(key, slice_endpoints(slices, *port.name, port.protocol, family));
      }
    }
  }
  std::erase_if(all, [](const auto& entry) { return entry.second.empty(); });
  return all;
}

std::size_t local_ready_addresses(const Slices& slices, IpFamily family, const NodeInfo& node) {
  std::set<IpAddress> addresses;
  for (const auto& [port, endpoints] : all_slice_endpoints({}, slices, family)) {
    for (const EndpointInfo& info : endpoints) {
      if (info.ready && is_local(info, node)) addresses.insert(info.endpoint.ip);
    }
  }
  return addresses.size();
}

std::vector<std::string> slice_problems(const Slices& slices, IpFamily family) {
  std::vector<std::string> problems;
  for (const auto& [name, slice] : slices) {
    if (!is_of(*slice, family)) continue;
    const std::string whose = fmt::format("EndpointSlice {}/{}", slice->metadata.name_space, name);
    for (std::size_t i = 0; i < slice->ports.size(); ++i) {
      report_port(whose, i, slice->ports[i], problems);
    }
    for (std::size_t i = 0; i < slice->endpoints.size(); ++i) {
      if (usable_address(slice->endpoints[i], family)) continue;
      problems.push_back(fmt::format(
          "{}: endpoints[{}].addresses[0]: \"{}\" is no {} address that a pod could have; this "
          "endpoint gets no traffic",
          whose, i, slice->endpoints[i].address, to_text(family)));
    }
  }
  return problems;
}

}  // namespace mkp
