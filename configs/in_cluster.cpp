#include "configs/in_cluster.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "configs/certificates.h"
#include "configs/file_text.h"
#include "configs/url.h"

namespace mkp {
namespace {

constexpr const char* kToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";
constexpr const char* kRoots = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

Result<> check_roots_file(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected<Error>(text.error());
  const Result<> roots = check_roots(*text);
  if (!roots) return fail(roots.error(), path);
  return {};
}

}  // namespace

bool is_in_cluster(const Environment& environment) {
  struct stat status {};
  return !environment.variable("KUBERNETES_SERVICE_HOST").empty() &&
         !environment.variable("KUBERNETES_SERVICE_PORT").empty() &&
         stat((environment.root + kToken).c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

Result<ApiServerConfig> in_cluster_config(const Environment& environment) {
  const std::string host = environment.variable("KUBERNETES_SERVICE_HOST");
  const std::string port = environment.variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return fail(Errc::Invalid,
                "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
                "KUBERNETES_SERVICE_PORT must be defined; outside of a pod give --kubeconfig FILE, "
                "--master URL or --manifests DIR");
  }
  const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  const std::string text = fmt::format("https://{}:{}", bare_ipv6 ? "[" + host + "]" : host, port);
  const std::optional<Url> url = parse_url(text);
  if (!url || !url->port || !url->path.empty() || !url->user.empty()) {
    return fail(Errc::Invalid, fmt::format("in-cluster configuration: KUBERNETES_SERVICE_HOST and "
                                           "KUBERNETES_SERVICE_PORT are no address: {}",
                                           without_user(text)));
  }
  ApiServerConfig config;
  config.origin = "the pod's service account";
  config.server.host = url->host;
  config.server.port = *url->port;
  config.token_file = environment.root + kToken;
  if (const Result<std::string> token = read_file(config.token_file); !token) {
    return fail(token.error(), "in-cluster configuration: failed to read token file");
  }
  const std::string roots = environment.root + kRoots;
  if (const Result<> usable = check_roots_file(roots); usable) {
    config.certificate_authority.file = roots;
  } else {
    config.warnings.push_back(fmt::format(
        "in-cluster configuration: {}; the system's roots are gone by instead, and the API server "
        "is not reached unless they know its certificate: look for the pod's volume",
        usable.error().what));
  }
  return config;
}

}  // namespace mkp
