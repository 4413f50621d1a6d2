#include "tests/cluster/isolated_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "tests/packets/network_namespace.h"
#include "tests/packets/program.h"

namespace mkp::cluster {
namespace {

packets::Descriptor present_network() {
  return packets::Descriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
}

// A thread in the wrong network would touch what is not the test's.
void move_to(const packets::Descriptor& network) {
  if (::setns(network.get(), CLONE_NEWNET) == 0) return;
  std::perror("enter a network namespace");
  std::abort();
}

}  // namespace

Result<IsolatedNetwork> IsolatedNetwork::make() {
  Result<packets::NetworkNamespace> inside = packets::NetworkNamespace::enter();
  if (!inside) return tl::unexpected(inside.error());
  packets::Descriptor network = present_network();
  if (!network) return fail_errno(errno, "open a network namespace");
  const Result<std::string> up = packets::run_program({"ip", "link", "set", "lo", "up"});
  if (!up) return tl::unexpected(up.error());
  return IsolatedNetwork(std::move(network));
}

IsolatedNetwork::Visit::Visit(const IsolatedNetwork& network) : before_(present_network()) {
  move_to(network.network_);
}

IsolatedNetwork::Visit::~Visit() { move_to(before_); }

std::string IsolatedNetwork::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), network_.get());
}

}  // namespace mkp::cluster
