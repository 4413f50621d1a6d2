#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "proxy/health_targets.h"
#include "proxy/node_model.h"
#include "proxy/proxy_health.h"
#include "runner/http_server.h"

namespace mkp {

// Where the health check ports of Services listen in that family: the addresses of this node that
// nodePortAddresses names, loopback too; nothing where it names all of them.
std::optional<std::vector<IpAddress>> health_port_addresses(const Config& config,
                                                            const NodeFacts& facts,
                                                            IpFamily family);

// The ports where load balancers ask whether this node has endpoints of a Service: one a Service
// and family, opened and closed as Services come and go. Belongs to the loop thread.
class ServiceHealth {
 public:
  // Opens a port of the node.
  using Opener = std::function<Result<std::unique_ptr<OpenPort>>(const ListenOn& where,
                                                                 HttpServer::Handler handler)>;

  // Told of a Service whose port cannot be opened, when that is new, in words.
  using Refused = std::function<void(const ServiceName& service, const std::string& why)>;

  // `proxy` is borrowed for life.
  ServiceHealth(const ProxyHealth& proxy, Opener open) : proxy_(proxy), open_(std::move(open)) {}
  ServiceHealth(const ServiceHealth&) = delete;
  ServiceHealth& operator=(const ServiceHealth&) = delete;

  void on_refused(Refused listener) { on_refused_ = std::move(listener); }

  // Nothing: all addresses of the node, as it is until this is called.
  void listen_on(IpFamily family, std::optional<std::vector<IpAddress>> addresses);

  void apply(IpFamily family, const std::vector<HealthTargetChange>& changes);

  // The Service's port is that one. Its count starts with 0.
  void open(IpFamily family, const ServiceName& service, std::uint16_t port);
  void close(IpFamily family, const ServiceName& service);
  // Passed over for a Service without a port.
  void set_local_endpoints(IpFamily family, const ServiceName& service, std::size_t count);

  // Tries again to open what could not be opened. What cannot is logged when that is new.
  void retry();
  // Services with a port that should be open and is not, counted once a family.
  std::size_t refused() const { return refused_.size(); }

 private:
  struct Server {
    ServiceName service;
    std::uint16_t port = 0;
    std::size_t local_endpoints = 0;
    std::map<IpAddress, std::unique_ptr<OpenPort>> open;
  };
  struct Family {
    std::optional<std::vector<IpAddress>> addresses;
    std::map<ServiceName, Server> servers;
  };
  using Key = std::pair<IpFamily, ServiceName>;

  void listen(IpFamily family, Server& server);
  void forget(IpFamily family, const ServiceName& service);
  void report_portless(const ServiceName& service, const std::optional<HealthTarget>& target);
  void report(const Key& key, const Server& server, const std::optional<Error>& failure);

  const ProxyHealth& proxy_;
  Opener open_;
  Refused on_refused_ = [](const ServiceName&, const std::string&) {};
  std::map<IpFamily, Family> families_;
  std::set<Key> refused_;           // as logged
  std::set<ServiceName> portless_;  // as logged
};

}  // namespace mkp
