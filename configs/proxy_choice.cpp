#include "configs/proxy_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "configs/text_values.h"
#include "configs/url.h"
#include "runner/ip_address.h"

namespace mkp {
namespace {

std::string trimmed_lower(std::string_view text) {
  const auto is_blank = [](char letter) { return letter == ' ' || letter == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

// "name", "name:80", "[::1]:80" or "::1" without its port, if that one is the server's.
std::optional<std::string> host_of(std::string entry, std::uint16_t port) {
  std::string port_text;
  const std::size_t colon = entry.rfind(':');
  const bool bracketed = entry.starts_with('[');
  if (colon != std::string::npos && !parse_ip_address(entry) &&
      (!bracketed || (colon > 0 && entry[colon - 1] == ']'))) {
    port_text = entry.substr(colon + 1);
    entry.resize(colon);
  }
  if (bracketed && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (!port_text.empty() && port_text != std::to_string(port)) return std::nullopt;
  return entry;
}

bool excepts_address(const std::string& entry, const IpAddress& address, std::uint16_t port) {
  if (const auto prefix = parse_ip_prefix(entry)) return contains(*prefix, address);
  const auto host = host_of(entry, port);
  return host && parse_ip_address(*host) == address;
}

bool excepts_name(const std::string& entry, const std::string& name, std::uint16_t port) {
  std::string host = host_of(entry, port).value_or("");
  if (host.starts_with("*.")) host.erase(0, 1);
  if (host.empty()) return false;
  if (host.starts_with('.')) return name.ends_with(host);
  return name == host || name.ends_with("." + host);
}

bool is_excepted(const ServerUrl& server, const std::string& no_proxy) {
  const std::string name = trimmed_lower(server.host);
  const auto address = parse_ip_address(name);
  if (name == "localhost" || (address && is_loopback(*address))) return true;
  const std::vector<std::string_view> entries = split_list(no_proxy);
  return std::any_of(entries.begin(), entries.end(), [&](std::string_view text) {
    const std::string entry = trimmed_lower(text);
    if (entry == "*") return true;
    return address ? excepts_address(entry, *address, server.port)
                   : excepts_name(entry, name, server.port);
  });
}

std::string variable_in_either_case(const Environment& environment, const std::string& name) {
  const std::string value = environment.variable(name);
  return value.empty() ? environment.variable(trimmed_lower(name)) : value;
}

}  // namespace

Result<ProxyServer> parse_proxy(std::string_view text) {
  const std::optional<Url> url = parse_url(text);
  if (!url) return fail(Errc::Invalid, fmt::format("could not parse: {}", without_user(text)));
  if (url->scheme == "https") {
    return fail(Errc::Invalid,
                "scheme \"https\", TLS on the way to a proxy, is not built; use http or socks5");
  }
  if (url->scheme != "http" && url->scheme != "socks5") {
    return fail(
        Errc::Invalid,
        fmt::format("unsupported scheme \"{}\", must be http, https, or socks5", url->scheme));
  }
  const bool socks = url->scheme == "socks5";
  ProxyServer proxy;
  proxy.scheme = socks ? ProxyServer::Scheme::Socks5 : ProxyServer::Scheme::Http;
  proxy.host = url->host;
  proxy.port = url->port.value_or(socks ? 1080 : 80);
  proxy.user = url->user;
  proxy.password = url->password;
  return proxy;
}

Result<std::optional<ProxyServer>> proxy_of(const ServerUrl& server,
                                            const Environment& environment) {
  const std::string name = server.tls ? "HTTPS_PROXY" : "HTTP_PROXY";
  const std::string text = variable_in_either_case(environment, name);
  if (text.empty()) return std::nullopt;
  if (is_excepted(server, variable_in_either_case(environment, "NO_PROXY"))) return std::nullopt;
  // As everywhere, a proxy without a scheme is an HTTP proxy.
  const bool has_scheme = text.find("://") != std::string::npos;
  Result<ProxyServer> proxy = parse_proxy(has_scheme ? text : "http://" + text);
  if (!proxy) return fail(proxy.error(), "environment variable " + name);
  return std::optional<ProxyServer>(std::move(*proxy));
}

}  // namespace mkp
