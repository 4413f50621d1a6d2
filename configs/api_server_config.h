#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mkp {

struct ServerUrl {
  bool tls = true;
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 443;
  std::string path;  // in front of every path; empty, or "/k8s" without a slash at the end

  bool operator==(const ServerUrl&) const = default;
};

// A proxy on the way to the API server.
struct ProxyServer {
  enum class Scheme : std::uint8_t { Http, Socks5 };
  Scheme scheme = Scheme::Http;
  std::string host;  // IPv6 without brackets
  std::uint16_t port = 0;
  std::string user;  // empty: none is sent
  std::string password;

  bool operator==(const ProxyServer&) const = default;
};

// PEM that the configuration holds, or the file that holds it and may be replaced at any time;
// neither: there is none.
struct PemSource {
  std::string data;
  std::string file;

  bool given() const { return !data.empty() || !file.empty(); }
  bool operator==(const PemSource&) const = default;
};

// A program that prints credentials (client.authentication.k8s.io).
struct ExecPluginConfig {
  struct Variable {
    std::string name;
    std::string value;

    bool operator==(const Variable&) const = default;
  };

  std::string command;  // with a slash a path, else looked up in PATH
  std::vector<std::string> args;
  std::vector<Variable> env;
  std::string api_version;
  std::string install_hint;
  std::string cluster_info;  // JSON; empty: the plugin does not get to know the cluster

  bool operator==(const ExecPluginConfig&) const = default;
};

// How the API server is reached, and who we are to it: what is left of a kubeconfig, --master or a
// pod's service account once all of it was read and checked. Without TLS there are no credentials
// in here. Holds secrets: never to be printed.
struct ApiServerConfig {
  ServerUrl server;
  std::string tls_server_name;  // what its certificate must name; empty: the host
  bool insecure_skip_tls_verify = false;
  PemSource certificate_authority;  // not given: the system's
  PemSource client_certificate;     // given together with client_key, or not
  PemSource client_key;
  // At most one of token and token file, user name and password, and plugin. A token beside a token
  // file is used as long as the file cannot be read.
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::optional<ExecPluginConfig> exec;
  std::vector<std::pair<std::string, std::string>> headers;  // such as Impersonate-User
  std::optional<ProxyServer> proxy;
  bool disable_compression = false;

  std::string origin;  // for messages: "kubeconfig /etc/kubeconfig, context \"node\""
  std::vector<std::string> warnings;

  bool operator==(const ApiServerConfig&) const = default;
};

}  // namespace mkp
