#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mkp {

// The parts of a URL that say where something is; query and fragment are left out.
struct Url {
  std::string scheme;  // in lower case
  std::string user;
  std::string password;
  std::string host;  // not empty; an IPv6 address without brackets
  std::optional<std::uint16_t> port;
  std::string path;  // empty, or begins with a slash and does not end with one

  bool operator==(const Url&) const = default;
};

// Nothing unless the text is "scheme://[user[:password]@]host[:port][/path]". Percent signs are
// decoded in user, password and an IPv6 zone; host and path have no blanks or control characters.
std::optional<Url> parse_url(std::string_view text);

// The text with *** in place of all that may be a user and a password, for messages; the text need
// not be a URL.
std::string without_user(std::string_view text);

}  // namespace mkp
