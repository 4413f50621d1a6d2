#include "tests/cluster/admin_client.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <signal.h>
#include <sys/socket.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <map>

namespace mkp::cluster {
namespace {

namespace http = boost::beast::http;

constexpr timeval kPatience{60, 0};

std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> tls_settings(const std::string& authority) {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> settings(SSL_CTX_new(TLS_client_method()),
                                                        &SSL_CTX_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(authority.data(), static_cast<int>(authority.size())), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(settings.get()), certificate.get());
  SSL_CTX_set_verify(settings.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(settings.get(), SSL_MODE_AUTO_RETRY);
  return settings;
}

tl::unexpected<Error> unreachable(std::string_view doing) {
  std::array<char, 256> why{};
  ERR_error_string_n(ERR_get_error(), why.data(), why.size());
  return fail(Errc::Unreachable, fmt::format("{}: {}", doing, why.data()));
}

}  // namespace

AdminClient::AdminClient(const IsolatedNetwork& network, const std::string& authority,
                         std::string token)
    : network_(network), token_(std::move(token)), settings_(tls_settings(authority).release()) {
  // OpenSSL writes to connections that the server has closed.
  ::signal(SIGPIPE, SIG_IGN);
}

Result<> AdminClient::connect() {
  ERR_clear_error();
  std::unique_ptr<BIO, Free> connection(BIO_new_ssl_connect(settings_.get()));
  BIO_set_conn_hostname(connection.get(), "127.0.0.1:6443");
  {
    const IsolatedNetwork::Visit inside(network_);
    if (BIO_do_connect(connection.get()) <= 0) return unreachable("connect to the API server");
  }
  int descriptor = -1;
  BIO_get_fd(connection.get(), &descriptor);
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  if (BIO_do_handshake(connection.get()) <= 0) return unreachable("greet the API server");
  connection_ = std::move(connection);
  return {};
}

Result<std::string> AdminClient::exchange(const std::string& request) {
  std::size_t sent = 0;
  while (sent < request.size()) {
    const int written = BIO_write(connection_.get(), request.data() + sent,
                                  static_cast<int>(request.size() - sent));
    if (written <= 0) return unreachable("write to the API server");
    sent += static_cast<std::size_t>(written);
  }
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(boost::none);
  std::string unread;
  std::array<char, 65536> chunk{};
  while (!parser.is_done()) {
    const int got = BIO_read(connection_.get(), chunk.data(), static_cast<int>(chunk.size()));
    if (got <= 0) return unreachable("read from the API server");
    unread.append(chunk.data(), static_cast<std::size_t>(got));
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(unread), error);
    unread.erase(0, used);
    if (error && error != http::error::need_more) {
      return fail(Errc::Unreachable, "read from the API server: " + error.message());
    }
  }
  if (!parser.keep_alive()) connection_.reset();
  if (parser.get().result_int() / 100 == 2) return std::move(parser.get().body());
  return fail(Errc::Invalid, fmt::format("{} {}", parser.get().result_int(), parser.get().body()));
}

Result<std::string> AdminClient::request(std::string_view method, const std::string& path,
                                         std::string_view body, std::string_view content_type) {
  const std::string text = fmt::format(
      "{} {} HTTP/1.1\r\nHost: 127.0.0.1:6443\r\nAuthorization: Bearer {}\r\nAccept: "
      "application/json\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}",
      method, path, token_, content_type, body.size(), body);
  const bool reused = connection_ != nullptr;
  if (!reused) {
    if (const Result<> connected = connect(); !connected) return tl::unexpected(connected.error());
  }
  Result<std::string> answer = exchange(text);
  if (!answer && answer.error().code == Errc::Unreachable) {
    connection_.reset();
    // The server may have closed it since the last request.
    if (reused) return request(method, path, body, content_type);
  }
  if (!answer) return fail(answer.error(), fmt::format("{} {}", method, path));
  return answer;
}

Result<> AdminClient::apply(const std::string& manifest) {
  const YAML::Node object = YAML::Load(manifest);
  const YAML::Node metadata = object["metadata"];
  const std::string path = object_path(object["kind"].as<std::string>(),
                                       metadata["namespace"].as<std::string>("default"),
                                       metadata["name"].as<std::string>());
  if (path.empty()) return fail(Errc::Invalid, "no kind that this client knows: " + manifest);
  for (const char* part : {"", "/status"}) {
    if (*part != '\0' && !object["status"]) continue;
    const Result<std::string> applied =
        request("PATCH", path + part + "?fieldManager=test&force=true", manifest,
                "application/apply-patch+yaml");
    if (!applied) return tl::unexpected(applied.error());
  }
  return {};
}

Result<> AdminClient::patch(const std::string& path, std::string_view merge_patch) {
  const Result<std::string> patched =
      request("PATCH", path, merge_patch, "application/merge-patch+json");
  if (!patched) return tl::unexpected(patched.error());
  return {};
}

Result<> AdminClient::remove(const std::string& path) {
  const Result<std::string> removed = request("DELETE", path);
  if (!removed) return tl::unexpected(removed.error());
  return {};
}

std::string object_path(std::string_view kind, const std::string& name_space,
                        const std::string& name) {
  struct Place {
    std::string_view group;
    std::string_view resource;
    bool namespaced;
  };
  static const std::map<std::string_view, Place> places{
      {"Namespace", {"/api/v1", "namespaces", false}},
      {"Service", {"/api/v1", "services", true}},
      {"ServiceAccount", {"/api/v1", "serviceaccounts", true}},
      {"Node", {"/api/v1", "nodes", false}},
      {"EndpointSlice", {"/apis/discovery.k8s.io/v1", "endpointslices", true}},
      {"ServiceCIDR", {"/apis/networking.k8s.io/v1", "servicecidrs", false}},
      {"ClusterRoleBinding", {"/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", false}},
  };
  const auto found = places.find(kind);
  if (found == places.end()) return "";
  const Place& place = found->second;
  const std::string inside = place.namespaced ? fmt::format("namespaces/{}/", name_space) : "";
  return fmt::format("{}/{}{}/{}", place.group, inside, place.resource, name);
}

}  // namespace mkp::cluster
