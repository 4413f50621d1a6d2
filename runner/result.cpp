#include "runner/result.h"

#include <cerrno>
#include <system_error>

namespace mkp {
namespace {

Errc code_of(int err) {
  switch (err) {
    case EPERM:
    case EACCES:
      return Errc::Denied;
    case EEXIST:
    case EADDRINUSE:
      return Errc::Exists;
    case ENOENT:
      return Errc::NotFound;
    case EINTR:
    case ENOBUFS:
    case ERESTART:
      return Errc::Expired;
    case EAGAIN:
    case EBUSY:
    case ENOMEM:
    case ETIMEDOUT:
    case ECONNREFUSED:
      return Errc::Unavailable;
    default:
      return Errc::Invalid;
  }
}

}  // namespace

tl::unexpected<Error> fail(Error cause, std::string_view doing) {
  cause.what.insert(0, std::string(doing) + ": ");
  return tl::unexpected<Error>(std::move(cause));
}

tl::unexpected<Error> fail_errno(int err, std::string_view doing) {
  return fail(code_of(err), std::string(doing) + ": " + std::generic_category().message(err));
}

}  // namespace mkp
