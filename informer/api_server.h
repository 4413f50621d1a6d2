#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mkp {

// A proxy between us and the API server.
struct ForwardProxy {
  enum class Scheme : std::uint8_t { Http, Socks5 };
  Scheme scheme = Scheme::Http;
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;
  std::string user;  // empty: none is sent
  std::string password;

  bool operator==(const ForwardProxy&) const = default;
};

// Where the API server is, and what is said to it in every request.
struct ApiServer {
  bool tls = true;
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 443;
  std::string base_path;  // in front of every path; empty, or "/k8s" without a slash at the end
  std::string tls_server_name;  // what its certificate must name; empty: `host`
  bool verify_certificate = true;
  std::optional<ForwardProxy> proxy;
  bool compression = true;  // whether gzip is offered
  std::string accept = "application/vnd.kubernetes.protobuf, */*";
  std::string user_agent = "mini-kube-proxy";
  std::vector<std::pair<std::string, std::string>> headers;  // such as Impersonate-User
  double qps = 5;  // requests a second; negative: no limit
  int burst = 10;

  bool operator==(const ApiServer&) const = default;
};

// "https://[fd20::11]:6443": how it is named in messages and metrics.
std::string to_text(const ApiServer& server);

// The value of the Host header, and of a CONNECT: "[fd20::11]:6443".
std::string authority(const std::string& host, std::uint16_t port);

}  // namespace mkp
