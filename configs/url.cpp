#include "configs/url.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "runner/ip_address.h"

namespace mkp {
namespace {

constexpr std::string_view kAfterScheme = "://";

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

bool is_scheme(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '+' || letter == '-' || letter == '.';
         });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char letter) { return letter > ' ' && letter != 0x7f; });
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const std::string_view digits = text.substr(at + 1, 2);
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() < 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(value);
    at += 2;
  }
  return decoded;
}

bool read_user(std::string_view text, Url& url) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto user = percent_decoded(text.substr(0, colon));
  const auto password = percent_decoded(text.substr(std::min(colon + 1, text.size())));
  if (!user || !password) return false;
  url.user = *user;
  url.password = *password;
  return true;
}

bool read_port(std::string_view text, Url& url) {
  if (text.empty()) return true;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return false;
  url.port = port;
  return true;
}

// "[address]" or "[address%25zone]", and what follows it.
bool read_bracketed(std::string_view text, Url& url) {
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return false;
  const auto host = percent_decoded(text.substr(1, end - 1));
  if (!host) return false;
  const auto address = parse_ip_address(std::string_view(*host).substr(0, host->find('%')));
  if (!address || host->find(':') == std::string::npos) return false;
  url.host = *host;
  const std::string_view rest = text.substr(end + 1);
  return rest.empty() || (rest.front() == ':' && read_port(rest.substr(1), url));
}

bool read_host(std::string_view text, Url& url) {
  if (text.starts_with('[')) return read_bracketed(text, url);
  const std::size_t colon = std::min(text.find(':'), text.size());
  url.host = text.substr(0, colon);
  return !url.host.empty() && url.host.find_first_of("\"<>\\^`{|}%@[]") == std::string::npos &&
         read_port(text.substr(std::min(colon + 1, text.size())), url);
}

}  // namespace

std::optional<Url> parse_url(std::string_view text) {
  const std::size_t colon = text.find(kAfterScheme);
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) return std::nullopt;
  if (!is_printable(text)) return std::nullopt;
  Url url;
  std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon),
                 std::back_inserter(url.scheme), lower);
  text.remove_prefix(colon + kAfterScheme.size());
  text = text.substr(0, text.find_first_of("?#"));
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view authority = text.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (!read_user(authority.substr(0, at), url)) return std::nullopt;
    authority.remove_prefix(at + 1);
  }
  if (!read_host(authority, url)) return std::nullopt;
  url.path = text.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

std::string without_user(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::string(text);
  const std::size_t colon = text.find(kAfterScheme);
  const std::size_t begin =
      colon == std::string_view::npos || colon > at ? 0 : colon + kAfterScheme.size();
  return std::string(text.substr(0, begin)) + "***" + std::string(text.substr(at));
}

}  // namespace mkp
