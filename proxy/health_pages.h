#pragma once

#include <cstddef>

#include "proxy/proxy_health.h"
#include "proxy/types.h"
#include "runner/clock.h"
#include "runner/http_server.h"
#include "runner/wall_time.h"

namespace mkp {

// One moment, by the clock that things are measured by and by the one that people read.
struct Moment {
  TimePoint measured;
  WallTime read;
};

// What kube-proxy answers, byte for byte but for the times.

// 200 while the proxy is healthy and load balancers should use this node.
HttpServer::Answer healthz_page(const ProxyHealth& health, bool node_eligible, const Moment& now);
// 200 while the proxy is healthy. Says nothing of the node: a proxy on a node that is going away
// has connections to drain, and must not be killed.
HttpServer::Answer livez_page(const ProxyHealth& health, const Moment& now);
// 200 while the proxy is healthy and the Service has ready endpoints on this node.
HttpServer::Answer service_health_page(const ServiceName& service, std::size_t local_endpoints,
                                       bool proxy_healthy);

}  // namespace mkp
