#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace mkp {

// What a caller may branch on. Everything else about a failure is prose, in Error::what.
enum class Errc {
  Denied,
  Exists,
  Expired,
  Internal,  // the other side failed in itself; what it was asked for may be fine
  Invalid,
  NotFound,
  Unavailable,  // the other side is there, and says that it is too busy
  Unreachable,  // nobody answered
};

struct Error {
  Errc code = Errc::Invalid;
  std::string what;  // reads outside in: "commit table mini-kube-proxy: Operation not permitted"

  bool operator==(const Error&) const = default;
};

// std::expected, which GCC 12 does not have; and to ignore one does not compile.
template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(Errc code, std::string what) {
  return tl::unexpected<Error>(Error{code, std::move(what)});
}

// The same failure, with what the caller was doing in front: "doing: what".
tl::unexpected<Error> fail(Error cause, std::string_view doing);

// `err` is positive, as errno is. Netlink refusals come negated: netlink/netlink_socket.cpp flips
// them.
tl::unexpected<Error> fail_errno(int err, std::string_view doing);

}  // namespace mkp
