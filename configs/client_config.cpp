#include "configs/client_config.h"

#include <fmt/format.h>

#include "configs/client_credentials.h"
#include "configs/in_cluster.h"
#include "configs/kubeconfig_findings.h"
#include "configs/kubeconfig_validation.h"
#include "configs/proxy_choice.h"
#include "configs/url.h"

namespace mkp {
namespace {

// Go's clients take a server without a scheme for one of plain HTTP.
Result<ServerUrl> server_url_of(const std::string& text) {
  const bool has_scheme = text.find("://") != std::string::npos;
  const std::optional<Url> url = parse_url(has_scheme ? text : "http://" + text);
  const auto refuse = [&text](std::string_view why) {
    return fail(Errc::Invalid, fmt::format("server \"{}\" {}", without_user(text), why));
  };
  if (!url || (!has_scheme && !url->path.empty())) {
    return refuse("is not a URL such as https://192.168.0.1:6443");
  }
  if (url->scheme != "https" && url->scheme != "http") return refuse("must be https or http");
  if (!url->user.empty() || !url->password.empty()) {
    return refuse("has a user in it; a user's credentials belong to users");
  }
  ServerUrl server;
  server.tls = url->scheme == "https";
  server.host = url->host;
  server.port = url->port.value_or(server.tls ? 443 : 80);
  server.path = url->path;
  return server;
}

std::string origin_of(const Kubeconfig& kubeconfig, const ChosenEntries& chosen,
                      const std::string& master) {
  if (kubeconfig.file.empty()) return "--master";
  std::string origin = fmt::format("kubeconfig {}", kubeconfig.file);
  if (!chosen.context.empty()) origin += fmt::format(", context \"{}\"", chosen.context);
  return origin + (master.empty() ? "" : ", --master");
}

void add_server_warnings(const ChosenEntries& chosen, ApiServerConfig& config) {
  if (config.insecure_skip_tls_verify && config.server.tls) {
    config.warnings.push_back(fmt::format(
        "{}: cluster \"{}\": insecure-skip-tls-verify: whoever is on the way to the API server can "
        "pose as it, read our credentials and decide where traffic to Services goes; set "
        "certificate-authority instead",
        config.origin, chosen.cluster.name));
  }
  const KubeconfigUser& user = chosen.user;
  const bool has_credentials = !user.token.empty() || !user.token_file.empty() ||
                               !user.username.empty() || !user.password.empty() || user.exec ||
                               user.client_certificate.given();
  if (!config.server.tls && has_credentials) {
    config.warnings.push_back(fmt::format(
        "{}: user \"{}\": its credentials are not sent, as the server is not https: the API "
        "server will take us for anonymous",
        config.origin, user.name));
  }
}

Result<ApiServerConfig> finished(Result<ApiServerConfig> config, const Environment& environment) {
  if (!config || config->proxy) return config;
  Result<std::optional<ProxyServer>> proxy = proxy_of(config->server, environment);
  if (!proxy) return tl::unexpected<Error>(proxy.error());
  config->proxy = std::move(*proxy);
  return config;
}

}  // namespace

Result<ApiServerConfig> client_config_of(const Kubeconfig& kubeconfig, const std::string& master,
                                         const Environment& environment) {
  const Result<ChosenEntries> chosen = choose_entries(kubeconfig, master);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  const KubeconfigCluster& cluster = chosen->cluster;
  KubeconfigFindings findings(kubeconfig.file);
  ApiServerConfig config;
  config.origin = origin_of(kubeconfig, *chosen, master);
  if (const Result<ServerUrl> server = server_url_of(cluster.server); server) {
    config.server = *server;
  } else if (master.empty()) {
    findings.add("cluster", cluster, "server", server.error().what);
  } else {
    findings.add("--master: " + server.error().what);
  }
  if (config.server.tls) {
    config.tls_server_name = cluster.tls_server_name;
    config.insecure_skip_tls_verify = cluster.insecure_skip_tls_verify;
  }
  if (!cluster.proxy_url.empty()) config.proxy = parse_proxy(cluster.proxy_url).value();
  config.disable_compression = cluster.disable_compression;
  config.headers = impersonation_headers(chosen->user);
  if (config.server.tls) add_credentials(kubeconfig.file, *chosen, config, findings);
  add_server_warnings(*chosen, config);
  if (const Result<> result = findings.result(); !result) {
    return tl::unexpected<Error>(result.error());
  }
  return finished(std::move(config), environment);
}

Result<ApiServerConfig> load_client_config(const ClientSource& source,
                                           const Environment& environment) {
  if (source.kubeconfig.empty() && source.master.empty()) {
    return finished(in_cluster_config(environment), environment);
  }
  Kubeconfig kubeconfig;
  if (!source.kubeconfig.empty()) {
    Result<Kubeconfig> loaded = load_kubeconfig(source.kubeconfig);
    if (!loaded) return tl::unexpected<Error>(loaded.error());
    kubeconfig = std::move(*loaded);
  }
  if (kubeconfig.empty() && source.master.empty() && is_in_cluster(environment)) {
    return finished(in_cluster_config(environment), environment);
  }
  return client_config_of(kubeconfig, source.master, environment);
}

}  // namespace mkp
