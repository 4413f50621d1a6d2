#include "proxy/node_servers.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <variant>

#include "configs/text_values.h"
#include "configs/write_json.h"

namespace mkp {
namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

// As kube-proxy waits.
constexpr Duration kListenPause = 5s;
// For each Service; load balancers ask a few at a time.
constexpr HttpServer::Limits kServiceLimits{.connections = 16};

// Each health check port is a socket, and a process starts with room for 1,024 as a rule.
void make_room_for_sockets() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) spdlog::debug("open files stay at their limit");
}

std::vector<IpFamily> sorted(std::vector<IpFamily> families) {
  std::ranges::sort(families);
  return families;
}

}  // namespace

NodeServers::NodeServers(Setup setup, asio::any_io_executor loop)
    : setup_(std::move(setup)),
      loop_(std::move(loop)),
      metrics_({.version = setup_.version}),
      health_(setup_.clock, 2 * setup_.config.nftables.sync_period),
      service_health_(health_,
                      [this](const ListenOn& where,
                             HttpServer::Handler handler) -> Result<std::unique_ptr<OpenPort>> {
                        return HttpServer::open(loop_, setup_.clock, where, std::move(handler),
                                                kServiceLimits);
                      }),
      health_listener_{.field = "healthzBindAddress",
                       .meaning =
                           "load balancers and the kubelet get no answer there, and may take "
                           "this node out of use or restart this process",
                       .where = setup_.config.healthz_bind_address,
                       .routes = {},
                       .server = {}},
      metrics_listener_{.field = "metricsBindAddress",
                        .meaning = "metrics are not to be had; traffic is not affected",
                        .where = setup_.config.metrics_bind_address,
                        .routes = {},
                        .server = {}} {
  make_room_for_sockets();
  setup_.families = sorted(std::move(setup_.families));
  for (const IpFamily family : setup_.families) health_.updated(family);
  note_queued();
  add_health_routes();
  add_metrics_routes();
}

void NodeServers::add_health_routes() {
  const auto healthz = [this](const HttpServer::Request&) {
    const bool eligible = setup_.feed.node_eligibility().is_eligible(setup_.unseen_node);
    HttpServer::Answer answer = healthz_page(health_, eligible, moment());
    metrics_.healthz_answered(answer.status);
    return answer;
  };
  const auto livez = [this](const HttpServer::Request&) {
    HttpServer::Answer answer = livez_page(health_, moment());
    metrics_.livez_answered(answer.status);
    return answer;
  };
  // As in kube-proxy: whatever the method.
  health_listener_.routes.add("/healthz", healthz, HttpRoutes::Methods::Any);
  health_listener_.routes.add("/livez", livez, HttpRoutes::Methods::Any);
}

void NodeServers::add_metrics_routes() {
  HttpRoutes& routes = metrics_listener_.routes;
  const auto alive = [](const HttpServer::Request& request) {
    const bool verbose = request.query == "verbose" || request.query.starts_with("verbose=");
    return HttpServer::Answer{.body = verbose ? "[+]ping ok\nhealthz check passed\n" : "ok"};
  };
  routes.add("/healthz", alive);
  routes.add("/healthz/ping", alive);
  routes.add("/metrics", [this](const HttpServer::Request&) { return metrics_page(); });
  routes.add("/proxyMode", [this](const HttpServer::Request&) {
    return HttpServer::Answer{.body = value_text(setup_.config.mode)};
  });
  routes.add("/configz", [this](const HttpServer::Request&) {
    const Result<std::string> json = to_json(setup_.config);
    if (!json) return HttpServer::Answer{.status = 500, .body = json.error().what + "\n"};
    return HttpServer::Answer{.content_type = "application/json",
                              .body = "{\"kubeproxy.config.k8s.io\":" + *json + "}"};
  });
}

HttpServer::Answer NodeServers::metrics_page() {
  const ClusterFeed::Figures figures = setup_.feed.figures();
  metrics_.changes({.services_total = figures.services_total,
                    .services_pending = figures.services_pending,
                    .endpoints_total = figures.slices_total,
                    .endpoints_pending = figures.slices_pending});
  metrics_.refused_health_ports(service_health_.refused());
  for (const IpFamily family : setup_.families) metrics_.queued(family, last_queued_);
  return {.content_type = std::string(Metrics::kContentType), .body = metrics_.text()};
}

// --- listening ---

asio::awaitable<NodeServers::Failure> NodeServers::run() {
  auto ended = co_await (keep_open(health_listener_) || keep_open(metrics_listener_) ||
                         retry_health_ports());
  Failure failure;
  if (auto* metrics = std::get_if<1>(&ended)) {
    failure.server = Failure::Server::Metrics;
    failure.error = std::move(*metrics);
  } else {
    failure.error = std::move(std::get<0>(ended));
  }
  co_return failure;
}

asio::awaitable<Error> NodeServers::keep_open(Listener& listener) {
  bool logged = false;
  while (listener.where.port != 0 && !listener.server) {
    const ListenOn where{listener.where.address, listener.where.port};
    Result<std::unique_ptr<HttpServer>> server =
        HttpServer::open(loop_, setup_.clock, where, listener.routes);
    if (server) {
      spdlog::log(logged ? spdlog::level::info : spdlog::level::debug, "{}: listening on {}",
                  listener.field, to_text(where));
      listener.server = std::move(*server);
      break;
    }
    if (setup_.config.bind_address_hard_fail) {
      co_return fail(server.error(), listener.field).value();
    }
    if (!logged) {
      spdlog::warn("{}: {}; {}: it is tried again every {} s", listener.field, server.error().what,
                   listener.meaning,
                   std::chrono::duration_cast<std::chrono::seconds>(kListenPause).count());
    }
    logged = true;
    co_await setup_.clock.sleep_until(later(setup_.clock.now(), kListenPause));
  }
  for (;;) co_await setup_.clock.sleep_until(TimePoint::max());
}

asio::awaitable<void> NodeServers::retry_health_ports() {
  for (;;) {
    co_await setup_.clock.sleep_until(later(setup_.clock.now(), kListenPause));
    service_health_.retry();
  }
}

// --- what goes on ---

void NodeServers::note_queued() {
  last_queued_ = wall_now();
  for (const IpFamily family : setup_.families) health_.queued(family);
}

void NodeServers::note_taken(const ClusterChanges& changes) {
  triggers_.clear();
  for (const EndpointChange& change : changes.slices) {
    // What goes has nothing new to say, and neither has a slice that says it again.
    if (!change.current) continue;
    const std::string& text = change.current->last_change_trigger_time;
    if (change.previous && change.previous->last_change_trigger_time == text) continue;
    const std::optional<WallTime> at = parse_wall_time(text);
    if (!at || *at <= started_) continue;
    const bool ipv4 = change.current->address_type == AddressType::Ipv4;
    triggers_.emplace_back(ipv4 ? IpFamily::Ipv4 : IpFamily::Ipv6, *at);
  }
}

void NodeServers::note_outcomes(const std::vector<FamilyOutcome>& outcomes) {
  const WallTime now = wall_now();
  for (const FamilyOutcome& outcome : outcomes) {
    if (outcome.kind != FamilyOutcome::Kind::Cleanup) {
      note_synced(outcome, now);
    } else if (!outcome.succeeded) {
      metrics_.cleanup_failed(outcome.family);
    }
  }
  // Of a family that failed they are lost, as in kube-proxy.
  if (!outcomes.empty()) triggers_.clear();
}

void NodeServers::note_synced(const FamilyOutcome& outcome, WallTime now) {
  const IpFamily family = outcome.family;
  metrics_.synced(family,
                  {.full = outcome.kind == FamilyOutcome::Kind::Full,
                   .succeeded = outcome.succeeded,
                   .took = outcome.took,
                   .work = outcome.report.compute,
                   .kernel = outcome.report.kernel,
                   .transactions = outcome.report.transactions},
                  now);
  if (!outcome.succeeded) return;
  metrics_.no_local_endpoints(family, outcome.no_local_endpoints.internal,
                              outcome.no_local_endpoints.external);
  std::erase_if(triggers_, [&](const Trigger& trigger) {
    if (trigger.first != family) return false;
    metrics_.programmed(family, std::max(now - trigger.second, Duration::zero()));
    return true;
  });
  health_.updated(family);
  // What came during the sync waits for the next.
  if (setup_.feed.has_changes()) health_.queued(family);
  service_health_.listen_on(family,
                            health_port_addresses(setup_.config, setup_.feed.node_facts(), family));
  service_health_.apply(family, outcome.health_targets);
}

void NodeServers::note_flows(const ConntrackCleanup::Report& report) {
  metrics_.flows_visited(report.family, report.duration, report.forgotten);
}

}  // namespace mkp
