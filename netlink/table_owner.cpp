#include "netlink/table_owner.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

namespace mkp {
namespace {

// An abstract address: a NUL, then the name.
struct Address {
  sockaddr_un address{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Address address_of(std::string_view name) {
  Address abstract;
  abstract.address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(abstract.address.sun_path) - 1);
  std::copy_n(name.begin(), length, abstract.address.sun_path + 1);
  abstract.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return abstract;
}

int open_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

// Of who listens there: " (pid 4711)", or nothing when the kernel doesn't tell us.
std::string owner_text(const Address& address) {
  const int fd = open_socket();
  if (fd < 0) return "";
  ucred owner{};
  socklen_t size = sizeof(owner);
  const bool told = ::connect(fd, address.get(), address.size) == 0 &&
                    ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0;
  ::close(fd);
  // The pid is 0 when the owner is in a pid namespace that we can't see into.
  return told && owner.pid > 0 ? " (pid " + std::to_string(owner.pid) + ")" : "";
}

}  // namespace

Result<TableOwner> TableOwner::acquire(std::string_view name) {
  const std::string doing = "own table " + std::string(name);
  const Address address = address_of(name);
  const int fd = open_socket();
  if (fd < 0) return fail_errno(errno, doing);
  TableOwner owner(fd);
  if (::bind(fd, address.get(), address.size) != 0) {
    if (errno != EADDRINUSE) return fail_errno(errno, doing);
    return fail(Errc::Exists, "another mini-kube-proxy" + owner_text(address) + " owns table " +
                                  std::string(name) +
                                  " in this network namespace; stop it first, its rules stay");
  }
  // Nobody is ever answered; to listen is what tells others our pid.
  if (::listen(fd, SOMAXCONN) != 0) return fail_errno(errno, doing);
  return owner;
}

TableOwner::TableOwner(TableOwner&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

TableOwner& TableOwner::operator=(TableOwner&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

TableOwner::~TableOwner() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace mkp
