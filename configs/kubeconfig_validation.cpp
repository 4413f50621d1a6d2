#include "configs/kubeconfig_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "configs/kubeconfig_findings.h"
#include "configs/proxy_choice.h"
#include "configs/url.h"

namespace mkp {
namespace {

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&name](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

// As of RFC 1123.
bool is_dns_label(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  return !text.empty() && text.size() <= kLongest && text.front() != '-' && text.back() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

// It goes into a header of a request.
bool fits_header(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char letter) { return letter < ' ' || letter == 0x7f; });
}

void check_context(const Kubeconfig& kubeconfig, const KubeconfigContext& context,
                   KubeconfigFindings& findings) {
  const auto add = [&](std::string_view field, const std::string& what) {
    findings.add("context", context, field, what);
  };
  if (context.user.empty()) {
    add("user", fmt::format("user was not specified for context \"{}\"", context.name));
  } else if (find(kubeconfig.users, context.user) == nullptr) {
    add("user",
        fmt::format("user \"{}\" was not found for context \"{}\"", context.user, context.name));
  }
  if (context.cluster.empty()) {
    add("cluster", fmt::format("cluster was not specified for context \"{}\"", context.name));
  } else if (find(kubeconfig.clusters, context.cluster) == nullptr) {
    add("cluster", fmt::format("cluster \"{}\" was not found for context \"{}\"", context.cluster,
                               context.name));
  }
  if (!context.name_space.empty() && !is_dns_label(context.name_space)) {
    add("namespace",
        fmt::format("namespace \"{}\" for context \"{}\" does not conform to the kubernetes "
                    "DNS_LABEL rules",
                    context.name_space, context.name));
  }
}

// Nothing is said of it but its name.
bool is_bare(KubeconfigCluster cluster) {
  cluster.name.clear();
  cluster.line = 0;
  return cluster == KubeconfigCluster{};
}

void check_cluster(const KubeconfigCluster& cluster, KubeconfigFindings& findings) {
  const auto add = [&](std::string_view field, const std::string& what) {
    findings.add("cluster", cluster, field, what);
  };
  if (is_bare(cluster)) return add("server", "cluster has no server defined");
  if (cluster.server.empty()) {
    add("server", cluster.name.empty()
                      ? "default cluster has no server defined"
                      : fmt::format("no server found for cluster \"{}\"", cluster.name));
  }
  if (!cluster.proxy_url.empty()) {
    const Result<ProxyServer> proxy = parse_proxy(cluster.proxy_url);
    if (!proxy) {
      add("proxy-url",
          fmt::format("invalid 'proxy-url' \"{}\" for cluster \"{}\": {}",
                      without_user(cluster.proxy_url), cluster.name, proxy.error().what));
    }
  }
  const PemSource& roots = cluster.certificate_authority;
  if (!roots.data.empty() && !roots.file.empty()) {
    add("certificate-authority",
        fmt::format("certificate-authority-data and certificate-authority are both specified for "
                    "{}. certificate-authority-data will override.",
                    cluster.name));
  }
  if (roots.given() && cluster.insecure_skip_tls_verify) {
    add("insecure-skip-tls-verify",
        "specifying a root certificates file with the insecure flag is not allowed");
  }
}

void check_client_certificate(const KubeconfigUser& user, KubeconfigFindings& findings) {
  const auto add = [&](std::string_view field, const std::string& what) {
    findings.add("user", user, field, what);
  };
  const auto twice = [](const PemSource& source) {
    return !source.data.empty() && !source.file.empty();
  };
  if (twice(user.client_certificate)) {
    add("client-certificate",
        fmt::format("client-cert-data and client-cert are both specified for {}. client-cert-data "
                    "will override.",
                    user.name));
  }
  if (twice(user.client_key)) {
    add("client-key", fmt::format("client-key-data and client-key are both specified for {}. "
                                  "client-key-data will override.",
                                  user.name));
  }
  if (user.client_certificate.given() && !user.client_key.given()) {
    add("client-key", fmt::format("client-key-data or client-key must be specified for {} to use "
                                  "the clientCert authentication method.",
                                  user.name));
  }
  if (user.client_key.given() && !user.client_certificate.given()) {
    add("client-certificate",
        fmt::format("a client key without client-certificate-data or client-certificate is of no "
                    "use to {}",
                    user.name));
  }
}

void check_exec(const KubeconfigUser& user, KubeconfigFindings& findings) {
  if (!user.exec) return;
  const KubeconfigExec& exec = *user.exec;
  const auto add = [&](std::string_view field, const std::string& what) {
    findings.add("user", user, field, what);
  };
  const auto require = [&](bool holds, std::string_view field, std::string_view what) {
    if (holds) return;
    add(field, fmt::format("{} must be specified for {} to use exec authentication plugin", what,
                           user.name));
  };
  if (user.auth_provider) {
    add("exec", fmt::format("authProvider cannot be provided in combination with an exec plugin "
                            "for {}",
                            user.name));
  }
  constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
  constexpr std::string_view kV1beta1 = "client.authentication.k8s.io/v1beta1";
  require(!exec.command.empty(), "exec.command", "command");
  require(!exec.api_version.empty(), "exec.apiVersion", "apiVersion");
  require(std::none_of(exec.env.begin(), exec.env.end(),
                       [](const auto& variable) { return variable.name.empty(); }),
          "exec.env", "env variable name");
  if (!exec.api_version.empty() && exec.api_version != kV1 && exec.api_version != kV1beta1) {
    add("exec.apiVersion", fmt::format("exec plugin: invalid apiVersion \"{}\", must be {} or {}",
                                       exec.api_version, kV1, kV1beta1));
  }
  const std::string& mode = exec.interactive_mode;
  require(!mode.empty() || exec.api_version == kV1beta1, "exec.interactiveMode", "interactiveMode");
  if (mode == "Always") {
    add("exec.interactiveMode",
        "exec plugin cannot support interactive mode: standard input is unavailable: this "
        "program runs without a terminal");
  } else if (!mode.empty() && mode != "Never" && mode != "IfAvailable") {
    add("exec.interactiveMode",
        fmt::format("invalid interactiveMode for {}: \"{}\"", user.name, mode));
  }
}

void check_user(const KubeconfigUser& user, KubeconfigFindings& findings) {
  const auto add = [&](std::string_view field, const std::string& what) {
    findings.add("user", user, field, what);
  };
  check_client_certificate(user, findings);
  check_exec(user, findings);
  const bool basic = !user.username.empty() || !user.password.empty();
  if (!user.token.empty() && basic) {
    add("token", fmt::format("more than one authentication method found for {}; found [token "
                             "basicAuth], only one is allowed",
                             user.name));
  }
  if (user.token.empty() && !user.token_file.empty() && basic) {
    add("tokenFile", "username/password or bearer token may be set, but not both");
  }
  if (!fits_header(user.token)) add("token", "has a line break or another control character");
  const bool more = !user.as_uid.empty() || !user.as_groups.empty() || !user.as_user_extra.empty();
  if (user.as.empty() && more) {
    add("as", fmt::format("requesting uid, groups or user-extra for {} without impersonating a "
                          "user",
                          user.name));
  }
  bool fit = fits_header(user.as) && fits_header(user.as_uid) &&
             std::all_of(user.as_groups.begin(), user.as_groups.end(), fits_header);
  for (const auto& [key, values] : user.as_user_extra) {
    fit = fit && !key.empty() && std::all_of(values.begin(), values.end(), fits_header);
  }
  if (!fit) add("as", "has an empty key, a line break or another control character");
}

// In the way of which a context is looked up; null when none is named.
const KubeconfigContext* chosen_context(const Kubeconfig& kubeconfig, bool needed,
                                        KubeconfigFindings& findings) {
  const std::string& name = kubeconfig.current_context;
  if (!name.empty()) {
    const KubeconfigContext* context = find(kubeconfig.contexts, name);
    if (context == nullptr) {
      findings.add(
          fmt::format("current-context: context was not found for specified context: {}", name));
    }
    return context;
  }
  if (needed) findings.add("current-context: no context chosen");
  return nullptr;
}

}  // namespace

Result<ChosenEntries> choose_entries(const Kubeconfig& kubeconfig, std::string_view master) {
  KubeconfigFindings findings(kubeconfig.file);
  ChosenEntries chosen;
  if (kubeconfig.empty() && master.empty()) {
    findings.add(
        "no configuration has been provided: no cluster, user and context in the kubeconfig, and "
        "no --master");
    return tl::unexpected<Error>(findings.result().error());
  }
  if (const auto* context = chosen_context(kubeconfig, master.empty(), findings)) {
    check_context(kubeconfig, *context, findings);
    chosen.context = context->name;
    if (const auto* user = find(kubeconfig.users, context->user)) chosen.user = *user;
    if (const auto* cluster = find(kubeconfig.clusters, context->cluster)) {
      chosen.cluster = *cluster;
    }
  }
  const bool has_cluster = !chosen.cluster.name.empty() || chosen.cluster.line > 0;
  if (!master.empty()) {
    chosen.cluster.server = master;
    chosen.cluster.tls_server_name.clear();
  }
  if (has_cluster || !master.empty()) check_cluster(chosen.cluster, findings);
  check_user(chosen.user, findings);
  if (const Result<> result = findings.result(); !result) {
    return tl::unexpected<Error>(result.error());
  }
  return chosen;
}

}  // namespace mkp
