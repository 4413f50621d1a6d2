#include "proxy/api_cluster.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "configs/client_config.h"
#include "proxy/api_credentials.h"

namespace mkp {
namespace {

constexpr const char* kUserAgent = "mini-kube-proxy/" MKP_VERSION " (linux/amd64)";

std::optional<ForwardProxy> forward_proxy(const std::optional<ProxyServer>& proxy) {
  if (!proxy) return std::nullopt;
  const bool socks = proxy->scheme == ProxyServer::Scheme::Socks5;
  return ForwardProxy{.scheme = socks ? ForwardProxy::Scheme::Socks5 : ForwardProxy::Scheme::Http,
                      .host = proxy->host,
                      .port = proxy->port,
                      .user = proxy->user,
                      .password = proxy->password};
}

ApiServer api_server(const ApiServerConfig& found, const ClientConnectionConfig& settings) {
  ApiServer server;
  server.tls = found.server.tls;
  server.host = found.server.host;
  server.port = found.server.port;
  server.base_path = found.server.path;
  server.tls_server_name = found.tls_server_name;
  server.verify_certificate = !found.insecure_skip_tls_verify;
  server.proxy = forward_proxy(found.proxy);
  server.compression = !found.disable_compression;
  server.accept = settings.accept_content_types.empty() ? settings.content_type + ", */*"
                                                        : settings.accept_content_types;
  server.user_agent = kUserAgent;
  server.headers = found.headers;
  server.qps = settings.qps == 0 ? ApiServer{}.qps : static_cast<double>(settings.qps);
  server.burst = settings.burst <= 0 ? ApiServer{}.burst : settings.burst;
  return server;
}

}  // namespace

Result<std::unique_ptr<ApiCluster>> ApiCluster::open(const Config& config,
                                                     const std::string& master,
                                                     const std::string& node_name,
                                                     const Environment& environment, Clock& clock) {
  const ClientConnectionConfig& settings = config.client_connection;
  const Result<ApiServerConfig> found =
      load_client_config({.kubeconfig = settings.kubeconfig, .master = master}, environment);
  if (!found) return tl::unexpected<Error>(found.error());
  for (const std::string& warning : found->warnings) spdlog::warn("{}", warning);
  ApiServer server = api_server(*found, settings);
  spdlog::info("the cluster is what {} says, by {}", to_text(server), found->origin);
  return std::unique_ptr<ApiCluster>(new ApiCluster(
      std::move(server), std::make_unique<ApiCredentials>(*found, clock), node_name, clock));
}

ApiCluster::ApiCluster(ApiServer server, std::unique_ptr<CredentialSource> credentials,
                       const std::string& node_name, Clock& clock)
    : clock_(clock),
      credentials_(std::move(credentials)),
      client_(std::move(server), *credentials_, clock),
      events_(client_, node_name, clock),
      sources_{ApiSource(client_, ObjectKind::Service, node_name),
               ApiSource(client_, ObjectKind::EndpointSlice, node_name),
               ApiSource(client_, ObjectKind::Node, node_name),
               ApiSource(client_, ObjectKind::ServiceCidr, node_name)} {
  client_.on_request([this](const ApiClient::Figures& figures) { note(figures); });
}

// One line for an outage, and one for its end, whatever was asked for meanwhile.
void ApiCluster::note(const ApiClient::Figures& figures) {
  on_request_(figures);
  const TimePoint now = clock_.now();
  if (figures.failure && !out_of_reach_since_) {
    out_of_reach_since_ = now;
    spdlog::warn(
        "the API server is out of reach: traffic goes on by the rules as they are, changes do not "
        "arrive until it is back, and it is tried again every second: {}",
        figures.failure->what);
  } else if (!figures.failure && out_of_reach_since_) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::duration<double>>(now - *out_of_reach_since_);
    out_of_reach_since_.reset();
    spdlog::info("the API server answers again, after {:.1f} s", seconds.count());
  }
}

ObjectSource& ApiCluster::source(ObjectKind kind) {
  return sources_.at(static_cast<std::size_t>(kind));
}

std::string ApiCluster::host() const {
  return authority(client_.server().host, client_.server().port);
}

std::optional<IpAddress> ApiCluster::address() const {
  return parse_ip_address(client_.server().host);
}

}  // namespace mkp
