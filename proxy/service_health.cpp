#include "proxy/service_health.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "proxy/health_pages.h"

namespace mkp {
namespace {

// Which belongs to an interface, and cannot be listened on without naming it.
bool is_link_local(const IpAddress& ip) {
  return ip.family == IpFamily::Ipv6 && ip.bytes[0] == 0xfe && (ip.bytes[1] & 0xc0) == 0x80;
}

IpAddress unspecified(IpFamily family) { return {.family = family}; }

}  // namespace

std::optional<std::vector<IpAddress>> health_port_addresses(const Config& config,
                                                            const NodeFacts& facts,
                                                            IpFamily family) {
  const std::vector<IpPrefix> prefixes = node_port_prefixes(config, facts.node, family);
  const bool anywhere = prefixes.empty() || std::ranges::any_of(prefixes, [](const IpPrefix& one) {
                          return one.length == 0;
                        });
  if (anywhere) return std::nullopt;
  std::vector<IpAddress> addresses;
  std::ranges::copy_if(facts.addresses, std::back_inserter(addresses), [&](const IpAddress& ip) {
    return !is_link_local(ip) && std::ranges::any_of(prefixes, [&](const IpPrefix& prefix) {
      return contains(prefix, ip);
    });
  });
  return addresses;
}

void ServiceHealth::listen_on(IpFamily family, std::optional<std::vector<IpAddress>> addresses) {
  Family& own = families_[family];
  if (own.addresses == addresses) return;
  own.addresses = std::move(addresses);
  for (auto& [name, server] : own.servers) listen(family, server);
}

void ServiceHealth::apply(IpFamily family, const std::vector<HealthTargetChange>& changes) {
  // A port that goes from one Service to another is closed first.
  for (const auto& [service, target] : changes) {
    report_portless(service, target);
    if (!target || target->port == 0) close(family, service);
  }
  for (const auto& [service, target] : changes) {
    if (!target || target->port == 0) continue;
    open(family, service, target->port);
    set_local_endpoints(family, service, target->local_endpoints);
  }
}

void ServiceHealth::open(IpFamily family, const ServiceName& service, std::uint16_t port) {
  Server& server = families_[family].servers[service];
  if (server.port == port) return;
  forget(family, service);
  server.open.clear();
  server.service = service;
  server.port = port;
  server.local_endpoints = 0;
  listen(family, server);
}

void ServiceHealth::close(IpFamily family, const ServiceName& service) {
  families_[family].servers.erase(service);
  forget(family, service);
}

void ServiceHealth::forget(IpFamily family, const ServiceName& service) {
  refused_.erase({family, service});
}

void ServiceHealth::set_local_endpoints(IpFamily family, const ServiceName& service,
                                        std::size_t count) {
  const auto found = families_[family].servers.find(service);
  if (found != families_[family].servers.end()) found->second.local_endpoints = count;
}

void ServiceHealth::retry() {
  const std::set<Key> again = refused_;
  for (const auto& [family, service] : again) listen(family, families_[family].servers.at(service));
}

// Closes where the server should not listen, and listens where it should and does not yet.
void ServiceHealth::listen(IpFamily family, Server& server) {
  const std::optional<std::vector<IpAddress>>& asked = families_[family].addresses;
  const std::vector<IpAddress> addresses = asked.value_or(std::vector{unspecified(family)});
  std::erase_if(server.open, [&](const auto& entry) {
    return std::ranges::find(addresses, entry.first) == addresses.end();
  });
  // Only this server's ports call it, and they close before it goes.
  const auto handler = [this, &server](const HttpServer::Request&) {
    return service_health_page(server.service, server.local_endpoints, proxy_.is_healthy());
  };
  std::optional<Error> failure;
  for (const IpAddress& address : addresses) {
    if (server.open.contains(address)) continue;
    Result<std::unique_ptr<OpenPort>> port =
        open_({address, server.port, ListenOn::Wildcard::OwnFamily}, handler);
    if (port) {
      server.open.emplace(address, std::move(*port));
    } else {
      failure = std::move(port.error());
    }
  }
  report({family, server.service}, server, failure);
}

void ServiceHealth::report(const Key& key, const Server& server,
                           const std::optional<Error>& failure) {
  if (!failure) {
    if (refused_.erase(key) != 0 && !server.open.empty()) {
      spdlog::info("Service {}: healthCheckNodePort {} is open now", to_text(server.service),
                   server.port);
    }
    return;
  }
  if (!refused_.insert(key).second) return;
  on_refused_(server.service, fmt::format("healthCheckNodePort {} cannot be opened: {}",
                                          server.port, failure->what));
  spdlog::warn(
      "Service {}: healthCheckNodePort {} cannot be opened: {}; load balancers that ask there get "
      "no answer from this node and send it no traffic for the Service; it is tried again every 5 "
      "s: see which other process listens there",
      to_text(server.service), server.port, failure->what);
}

void ServiceHealth::report_portless(const ServiceName& service,
                                    const std::optional<HealthTarget>& target) {
  if (!target || target->port != 0) {
    portless_.erase(service);
    return;
  }
  if (!portless_.insert(service).second) return;
  spdlog::warn(
      "Service {}: spec.healthCheckNodePort is not set, which a Service of type LoadBalancer with "
      "externalTrafficPolicy Local needs: load balancers cannot tell which nodes have endpoints of "
      "it, and what they send to the others is lost",
      to_text(service));
}

}  // namespace mkp
