#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "proxy/cluster_feed.h"
#include "proxy/conntrack_cleanup.h"
#include "proxy/family_proxier.h"
#include "proxy/health_pages.h"
#include "proxy/node_eligibility.h"
#include "proxy/proxy_health.h"
#include "proxy/service_health.h"
#include "runner/http_routes.h"
#include "runner/http_server.h"
#include "runner/metrics.h"
#include "runner/wall_time.h"

namespace mkp {

// What the cluster looks at on this node: /healthz and /livez on healthzBindAddress; the health
// check ports of Services; /metrics, /proxyMode, /configz on metricsBindAddress. Is told what goes
// on, and answers from that alone: no answer waits for a sync. Belongs to the loop thread.
class NodeServers {
 public:
  // What this is made from: borrowed for life, but for the families.
  struct Setup {
    const Config& config;
    std::string version;
    std::vector<IpFamily> families;  // that this node has rules for
    const ClusterFeed& feed;
    Clock& clock;
    UnseenNode unseen_node = UnseenNode::Eligible;
  };

  // The initial sync waits from now on: without rules the proxy is healthy for as long only as a
  // change may wait.
  NodeServers(Setup setup, asio::any_io_executor loop);

  // Which of the two addresses of the configuration cannot be listened on, and why.
  struct Failure {
    enum class Server : std::uint8_t { Health, Metrics };
    Server server = Server::Health;
    Error error;
  };
  // Listens, and tries again every 5 s where that fails. Ends only with bindAddressHardFail. To be
  // called once.
  asio::awaitable<Failure> run();

  // A change waits for a sync.
  void note_queued();
  // A sync of these changes begins. Before their families' outcomes.
  void note_taken(const ClusterChanges& changes);
  // How it went.
  void note_outcomes(const std::vector<FamilyOutcome>& outcomes);
  void note_flows(const ConntrackCleanup::Report& report);

  // See ServiceHealth.
  void on_refused_port(ServiceHealth::Refused listener) {
    service_health_.on_refused(std::move(listener));
  }

  // For what else there is to count.
  Metrics& metrics() { return metrics_; }

 private:
  using Trigger = std::pair<IpFamily, WallTime>;  // when endpoints changed in the cluster
  // One of the two addresses of the configuration.
  struct Listener {
    std::string field;    // its name there
    std::string meaning;  // of its not being open
    ListenAddress where;
    HttpRoutes routes;
    std::unique_ptr<HttpServer> server;
  };

  void add_health_routes();
  void add_metrics_routes();
  HttpServer::Answer metrics_page();
  asio::awaitable<Error> keep_open(Listener& listener);
  asio::awaitable<void> retry_health_ports();
  void note_synced(const FamilyOutcome& outcome, WallTime now);
  Moment moment() const { return {setup_.clock.now(), wall_now()}; }

  Setup setup_;
  asio::any_io_executor loop_;
  WallTime started_ = wall_now();
  WallTime last_queued_ = started_;
  Metrics metrics_;
  ProxyHealth health_;
  ServiceHealth service_health_;
  Listener health_listener_;
  Listener metrics_listener_;
  std::vector<Trigger> triggers_;  // of the sync under way
};

}  // namespace mkp
