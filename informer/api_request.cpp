#include "informer/api_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "informer/forward_proxy.h"

namespace mkp {
namespace {

// Keys in order, as servers' logs and caches like them.
std::string query_text(std::vector<std::pair<std::string, std::string>> query) {
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [key, value] : query) {
    text += (text.empty() ? '?' : '&') + form_encoded(key) + '=' + form_encoded(value);
  }
  return text;
}

}  // namespace

std::string form_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string to_http(const ApiRequest& request, const ApiServer& server,
                    const Credentials& credentials) {
  const std::string host = authority(server.host, server.port);
  std::string head = request.method + ' ';
  const bool by_proxy = server.proxy && !server.tls;
  const bool plain_proxy = by_proxy && server.proxy->scheme == ForwardProxy::Scheme::Http;
  if (plain_proxy) head += "http://" + host;
  head += server.base_path + request.path + query_text(request.query) + " HTTP/1.1\r\n";
  const auto add = [&head](std::string_view name, std::string_view value) {
    head += fmt::format("{}: {}\r\n", name, value);
  };
  add("Host", host);
  add("User-Agent", server.user_agent);
  add("Accept", server.accept);
  if (server.compression && request.compressible) add("Accept-Encoding", "gzip");
  if (!credentials.authorization.empty()) add("Authorization", credentials.authorization);
  if (plain_proxy && !server.proxy->user.empty()) {
    add("Proxy-Authorization", basic_authorization(server.proxy->user, server.proxy->password));
  }
  for (const auto& [name, value] : server.headers) add(name, value);
  if (!request.body.empty()) {
    add("Content-Type", request.content_type);
    add("Content-Length", std::to_string(request.body.size()));
  }
  return head + "\r\n" + request.body;
}

}  // namespace mkp
