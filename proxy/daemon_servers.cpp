// What the daemon shows to the cluster: its servers, and events.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/daemon.h"

namespace mkp {
namespace {

void count(Metrics& metrics, const std::string& host, const ApiClient::Figures& figures) {
  metrics.rest_request(figures.status == 0 ? "<error>" : std::to_string(figures.status),
                       figures.method, host);
  metrics.rest_request_took(figures.method, host, figures.took);
  metrics.rest_request_held_back(figures.method, host, figures.rate_limited);
  if (figures.body_bytes != 0) metrics.rest_request_body(figures.method, host, figures.body_bytes);
}

// As the API calls a collection of that kind.
std::string_view resource_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Service:
      return "services";
    case ObjectKind::EndpointSlice:
      return "endpointslices";
    case ObjectKind::Node:
      return "nodes";
    case ObjectKind::ServiceCidr:
      break;
  }
  return "servicecidrs";
}

ClusterEvent about_node(ClusterEvent::Type type, std::string reason, std::string note = {}) {
  return {.service = {},
          .type = type,
          .reason = std::move(reason),
          .action = "StartKubeProxy",
          .note = std::move(note)};
}

}  // namespace

void Daemon::make_servers() {
  // An API server has the Node; a directory need not.
  ApiCluster* api = source_->api();
  const UnseenNode unseen = api != nullptr ? UnseenNode::NotEligible : UnseenNode::Eligible;
  servers_ = std::make_unique<NodeServers>(
      NodeServers::Setup{options_.config, MKP_VERSION, families_, *feed_, clock_, unseen},
      loop_.get_executor());
  flows_.on_visit([this](const ConntrackCleanup::Report& report) { servers_->note_flows(report); });
  feed_->on_relist([this](ObjectKind kind) {
    if (servers_) servers_->metrics().relisted(resource_of(kind));
  });
  if (api == nullptr) return;
  api->on_request([this, host = api->host()](const ApiClient::Figures& figures) {
    if (servers_) count(servers_->metrics(), host, figures);
  });
  api->on_body([this, host = api->host()](const ApiClient::Body& body) {
    if (servers_) servers_->metrics().rest_response_body(body.method, host, body.bytes);
  });
  servers_->on_refused_port([api](const ServiceName& service, const std::string& why) {
    api->events().note({.service = service,
                        .type = ClusterEvent::Type::Warning,
                        .reason = "FailedToStartServiceHealthcheck",
                        .action = "Listen",
                        .note = fmt::format("node {}: {}", api->node_name(), why)});
  });
  api->events().note(about_node(ClusterEvent::Type::Normal, "Starting"));
}

// Ends with the program only, unless bindAddressHardFail has it otherwise.
asio::awaitable<void> Daemon::serve_node() {
  if (!servers_) co_await clock_.sleep_until(TimePoint::max());
  const NodeServers::Failure failure = co_await servers_->run();
  if (ApiCluster* api = source_->api()) {
    // Who looks at the Node should read it, and the process does not end for want of that.
    const bool health = failure.server == NodeServers::Failure::Server::Health;
    api->events().note(
        about_node(ClusterEvent::Type::Warning,
                   health ? "FailedToStartProxierHealthcheck" : "FailedToStartMetricServer",
                   failure.error.what));
    co_await api->events().flush();
  }
  spdlog::error(
      "{}; bindAddressHardFail is set, so this process ends: the rules stay in place, and nobody "
      "brings them up to date",
      failure.error.what);
}

void Daemon::note_queued() {
  if (servers_) servers_->note_queued();
}

}  // namespace mkp
