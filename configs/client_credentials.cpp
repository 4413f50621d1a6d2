#include "configs/client_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "configs/certificates.h"
#include "configs/file_text.h"
#include "configs/json_text.h"
#include "runner/base64.h"

namespace mkp {
namespace {

// RFC 9110's tchar, less the percent sign that is used to encode the others.
bool is_header_letter(unsigned char letter) {
  return std::isalnum(letter) != 0 ||
         std::string_view("!#$&'*+-.^_`|~").find(static_cast<char>(letter)) !=
             std::string_view::npos;
}

std::string header_name_of(std::string_view key) {
  std::string name;
  for (const char letter : key) {
    const auto byte = static_cast<unsigned char>(letter);
    if (is_header_letter(byte)) {
      name += letter;
    } else {
      name += fmt::format("%{:02X}", byte);
    }
  }
  return name;
}

// What is wrong with `entry` goes to the findings, under its kind.
template <class Entry>
struct EntryFindings {
  std::string_view kind;
  const Entry& entry;
  KubeconfigFindings& findings;

  void add(std::string_view field, std::string_view what) const {
    findings.add(kind, entry, field, what);
  }

  // The PEM itself; nothing, and a finding, when its file cannot be read.
  std::optional<std::string> pem_of(const PemSource& source, std::string_view field,
                                    std::string_view what) const {
    if (source.file.empty()) return source.data;
    Result<std::string> text = read_file(source.file);
    if (text) return std::move(*text);
    add(field, fmt::format("unable to read {} {} for {} due to {}", what, source.file, entry.name,
                           text.error().what));
    return std::nullopt;
  }
};

// Of the cluster, as a plugin gets to know it.
std::string cluster_info_of(const KubeconfigCluster& cluster, const std::string& roots) {
  std::string json = "{\"server\":" + json_quoted(cluster.server);
  const auto add = [&json](std::string_view name, const std::string& value) {
    if (!value.empty()) json += fmt::format(",\"{}\":{}", name, value);
  };
  const auto add_text = [&add](std::string_view name, const std::string& text) {
    add(name, text.empty() ? "" : json_quoted(text));
  };
  add_text("tls-server-name", cluster.tls_server_name);
  add("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify ? "true" : "");
  add_text("certificate-authority-data", to_base64(roots));
  add_text("proxy-url", cluster.proxy_url);
  add("disable-compression", cluster.disable_compression ? "true" : "");
  add("config", cluster.exec_extension);
  return json + "}";
}

// Returns the PEM that the CA is by now.
std::string add_roots(const KubeconfigCluster& cluster, ApiServerConfig& config,
                      KubeconfigFindings& findings) {
  config.certificate_authority = cluster.certificate_authority;
  if (!cluster.certificate_authority.given()) return "";
  const EntryFindings<KubeconfigCluster> found{"cluster", cluster, findings};
  const bool in_file = !cluster.certificate_authority.file.empty();
  const std::string field = in_file ? "certificate-authority" : "certificate-authority-data";
  const auto pem = found.pem_of(cluster.certificate_authority, field, "certificate-authority");
  if (!pem || (in_file && pem->empty())) return "";
  if (const Result<> roots = check_roots(*pem); !roots) {
    found.add(field, "unable to load root certificates: " + roots.error().what);
  }
  return *pem;
}

void add_client_certificate(const KubeconfigUser& user, ApiServerConfig& config,
                            KubeconfigFindings& findings) {
  config.client_certificate = user.client_certificate;
  config.client_key = user.client_key;
  if (!user.client_certificate.given()) return;
  const EntryFindings<KubeconfigUser> found{"user", user, findings};
  const auto certificate =
      found.pem_of(user.client_certificate, "client-certificate", "client-cert");
  const auto key = found.pem_of(user.client_key, "client-key", "client-key");
  if (!certificate || !key) return;
  if (const Result<> fit = check_key_pair(*certificate, *key); !fit) {
    found.add("client-certificate", "cannot be used with its key: " + fit.error().what);
  }
}

void add_token(const KubeconfigUser& user, ApiServerConfig& config, KubeconfigFindings& findings) {
  config.token = user.token;
  config.token_file = user.token_file;
  if (user.token_file.empty() || !user.token.empty()) return;
  const EntryFindings<KubeconfigUser> found{"user", user, findings};
  const Result<std::string> text = read_file(user.token_file);
  if (!text) {
    found.add("tokenFile", fmt::format("failed to read token file \"{}\": {}", user.token_file,
                                       text.error().what));
  } else if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    found.add("tokenFile", fmt::format("read empty token from file \"{}\"", user.token_file));
  }
}

// A plugin is for those who have no other credentials.
void add_exec(const ChosenEntries& chosen, const std::string& roots, ApiServerConfig& config) {
  const KubeconfigUser& user = chosen.user;
  if (!user.exec) return;
  if (!user.token.empty() || !user.token_file.empty() || !user.username.empty() ||
      !user.password.empty() || user.client_certificate.given()) {
    config.warnings.push_back(
        fmt::format("{}: user \"{}\": exec: the plugin is not used, as there are other credentials",
                    config.origin, user.name));
    return;
  }
  ExecPluginConfig plugin;
  plugin.command = user.exec->command;
  plugin.args = user.exec->args;
  plugin.env = user.exec->env;
  plugin.api_version = user.exec->api_version;
  plugin.install_hint = user.exec->install_hint;
  if (user.exec->provide_cluster_info) plugin.cluster_info = cluster_info_of(chosen.cluster, roots);
  config.exec = std::move(plugin);
}

void add_file_warnings(const std::string& file, const KubeconfigUser& user,
                       ApiServerConfig& config) {
  const auto add = [&config](const std::string& path, const std::string& secret) {
    std::string warning = path.empty() ? "" : warning_if_others_read(path, secret);
    if (!warning.empty()) config.warnings.push_back(std::move(warning));
  };
  add(user.client_key.file, fmt::format("the key of user \"{}\"", user.name));
  const bool holds_secret =
      !user.token.empty() || !user.password.empty() || !user.client_key.data.empty();
  if (holds_secret) add(file, fmt::format("the credentials of user \"{}\"", user.name));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> impersonation_headers(const KubeconfigUser& user) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (user.as.empty()) return headers;
  headers.emplace_back("Impersonate-User", user.as);
  if (!user.as_uid.empty()) headers.emplace_back("Impersonate-Uid", user.as_uid);
  for (const std::string& group : user.as_groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, values] : user.as_user_extra) {
    const std::string name = "Impersonate-Extra-" + header_name_of(key);
    for (const std::string& value : values) headers.emplace_back(name, value);
  }
  return headers;
}

void add_credentials(const std::string& file, const ChosenEntries& chosen, ApiServerConfig& config,
                     KubeconfigFindings& findings) {
  const std::string roots = add_roots(chosen.cluster, config, findings);
  add_client_certificate(chosen.user, config, findings);
  add_token(chosen.user, config, findings);
  config.username = chosen.user.username;
  config.password = chosen.user.password;
  if (chosen.user.auth_provider && !chosen.user.exec) {
    findings.add("user", chosen.user, "auth-provider",
                 fmt::format("no Auth Provider found for name \"{}\"; use an exec plugin",
                             *chosen.user.auth_provider));
  }
  add_exec(chosen, roots, config);
  add_file_warnings(file, chosen.user, config);
}

}  // namespace mkp
