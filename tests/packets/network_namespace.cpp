#include "tests/packets/network_namespace.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>

namespace mkp::packets {

Result<NetworkNamespace> NetworkNamespace::enter() {
  Descriptor before(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!before) return fail_errno(errno, "open the present network namespace");
  if (::unshare(CLONE_NEWNET) != 0) return fail_errno(errno, "make a network namespace (as root?)");
  return NetworkNamespace(std::move(before));
}

NetworkNamespace::~NetworkNamespace() {
  if (before_) ::setns(before_.get(), CLONE_NEWNET);
}

}  // namespace mkp::packets
