#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/api_server_config.h"
#include "runner/result.h"

namespace mkp {

// What a kubeconfig says, before anybody asks whether it makes sense. Paths are as they are to be
// opened, *-data is decoded. `line` is where an entry begins, counted from 1. Empty is absent.
struct KubeconfigCluster {
  std::string name;
  int line = 0;
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  PemSource certificate_authority;
  std::string proxy_url;
  bool disable_compression = false;
  std::string exec_extension;  // JSON, for plugins

  bool operator==(const KubeconfigCluster&) const = default;
};

struct KubeconfigExec {
  std::string command;
  std::vector<std::string> args;
  std::vector<ExecPluginConfig::Variable> env;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;

  bool operator==(const KubeconfigExec&) const = default;
};

struct KubeconfigUser {
  std::string name;
  int line = 0;
  PemSource client_certificate;
  PemSource client_key;
  std::string token;
  std::string token_file;
  std::string as;
  std::string as_uid;
  std::vector<std::string> as_groups;
  std::map<std::string, std::vector<std::string>> as_user_extra;
  std::string username;
  std::string password;
  std::optional<std::string> auth_provider;  // its name
  std::optional<KubeconfigExec> exec;

  bool operator==(const KubeconfigUser&) const = default;
};

struct KubeconfigContext {
  std::string name;
  int line = 0;
  std::string cluster;
  std::string user;
  std::string name_space;

  bool operator==(const KubeconfigContext&) const = default;
};

struct Kubeconfig {
  std::string file;
  std::vector<KubeconfigCluster> clusters;
  std::vector<KubeconfigUser> users;
  std::vector<KubeconfigContext> contexts;
  std::string current_context;

  // Nothing is configured at all.
  bool empty() const {
    return clusters.empty() && users.empty() && contexts.empty() && current_context.empty();
  }
};

// Reads the text of a kubeconfig, YAML or JSON, `file` being its path. Relative paths in it are
// taken to start at the file's folder; a plugin's command only if it has a slash. Unknown keys are
// passed over. Every wrong type, bad base64 and name given twice is reported at once, a line each,
// and never with a value:
//   error loading config file "/etc/kubeconfig": line 7: user "node": token: expected text, ...
Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& file);

Result<Kubeconfig> load_kubeconfig(const std::string& path);

}  // namespace mkp
