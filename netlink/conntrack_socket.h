#pragma once

#include <vector>

#include "netlink/conntrack.h"
#include "netlink/conntrack_messages.h"

namespace mkp {

// The kernel's connection tracking, over nfnetlink. Each call has a socket of its own, in the
// network namespace of the calling thread, so that one which was cancelled leaves nothing behind.
// Fails with Denied without CAP_NET_ADMIN, and with Unavailable where the kernel has no
// nf_conntrack_netlink.
class ConntrackSocket final : public Conntrack {
 public:
  asio::awaitable<Result<>> visit_udp(IpFamily family, Visit visit) override;
  asio::awaitable<Result<std::size_t>> forget(std::vector<UdpFlow> flows) override;

 private:
  // Until a kernel refuses it.
  ConntrackFilter filter_ = ConntrackFilter::Udp;
};

}  // namespace mkp
