#include "netlink/route_addresses.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/addr.h>
#include <netlink/cache.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mkp {
namespace {

struct FreeCache {
  void operator()(nl_cache* cache) const noexcept { nl_cache_free(cache); }
};

// `err` as libnl returns it, negative.
tl::unexpected<Error> fail_libnl(int err, std::string_view doing) {
  const Errc code = err == -NLE_PERM || err == -NLE_NOACCESS ? Errc::Denied : Errc::Unavailable;
  return fail(code, std::string(doing) + ": " + nl_geterror(err));
}

// Of an entry, the address that is this node's own; of a point-to-point link not the other end's.
std::optional<IpAddress> own_address(rtnl_addr* entry) {
  const nl_addr* local = rtnl_addr_get_local(entry);
  if (local == nullptr) return std::nullopt;
  const int family = nl_addr_get_family(local);
  IpAddress ip{family == AF_INET ? IpFamily::Ipv4 : IpFamily::Ipv6, {}};
  if ((family != AF_INET && family != AF_INET6) || nl_addr_get_len(local) != ip.size()) {
    return std::nullopt;
  }
  std::copy_n(static_cast<const std::uint8_t*>(nl_addr_get_binary_addr(local)), ip.size(),
              ip.bytes.begin());
  return ip;
}

}  // namespace

void RouteAddresses::Free::operator()(nl_sock* socket) const noexcept { nl_socket_free(socket); }

Result<std::unique_ptr<RouteAddresses>> RouteAddresses::open() {
  constexpr std::string_view kDoing = "watch this node's addresses";
  Socket requests(nl_socket_alloc());
  Socket events(nl_socket_alloc());
  if (!requests || !events) return fail_errno(ENOMEM, kDoing);
  for (nl_sock* socket : {requests.get(), events.get()}) {
    if (const int err = nl_connect(socket, NETLINK_ROUTE); err < 0) return fail_libnl(err, kDoing);
  }
  if (const int err = nl_socket_set_nonblocking(events.get()); err < 0) {
    return fail_libnl(err, kDoing);
  }
  if (const int err = nl_socket_add_memberships(events.get(), RTNLGRP_IPV4_IFADDR,
                                                RTNLGRP_IPV6_IFADDR, RTNLGRP_NONE);
      err < 0) {
    return fail_libnl(err, kDoing);
  }
  return std::unique_ptr<RouteAddresses>(
      new RouteAddresses(std::move(requests), std::move(events)));
}

Result<std::vector<IpAddress>> RouteAddresses::list() {
  // What these told happened before the list, which therefore shows it.
  drop_events();
  nl_cache* listed = nullptr;
  // The kernel has answered when the request is sent; libnl asks again when it was disturbed.
  if (const int err = rtnl_addr_alloc_cache(requests_.get(), &listed); err < 0) {
    lost_ = true;
    return fail_libnl(err, "list this node's addresses");
  }
  const std::unique_ptr<nl_cache, FreeCache> cache(listed);
  std::vector<IpAddress> addresses;
  for (nl_object* entry = nl_cache_get_first(listed); entry != nullptr;
       entry = nl_cache_get_next(entry)) {
    const auto ip = own_address(reinterpret_cast<rtnl_addr*>(entry));
    if (ip) addresses.push_back(*ip);
  }
  std::ranges::sort(addresses);
  const auto repeated = std::ranges::unique(addresses);
  addresses.erase(repeated.begin(), repeated.end());
  return addresses;
}

asio::awaitable<Result<>> RouteAddresses::changed() {
  asio::posix::stream_descriptor events(co_await asio::this_coro::executor);
  boost::system::error_code failed;
  events.assign(::fcntl(nl_socket_get_fd(events_.get()), F_DUPFD_CLOEXEC, 0), failed);
  for (;;) {
    if (failed && failed != asio::error::operation_aborted) {
      co_return fail(Errc::Unavailable,
                     "watch this node's addresses: wait for events: " + failed.message());
    }
    Result<bool> event = has_event();
    if (!event) co_return fail(std::move(event.error()), "watch this node's addresses");
    if (*event) co_return Result<>();
    const auto waited = co_await events.async_wait(asio::posix::stream_descriptor::wait_read,
                                                   asio::as_tuple(asio::use_awaitable));
    // An aborted wait is our cancellation, of which the next one tells.
    failed = std::get<0>(waited);
  }
}

// Whether something was told since the last list. Leaves it to list() to take it away.
Result<bool> RouteAddresses::has_event() {
  while (!lost_) {
    char byte = 0;
    const ssize_t size =
        ::recv(nl_socket_get_fd(events_.get()), &byte, sizeof(byte), MSG_DONTWAIT | MSG_PEEK);
    if (size >= 0) return true;
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return false;
    if (errno != ENOBUFS) return fail_errno(errno, "read events");
    lost_ = true;
  }
  return true;
}

void RouteAddresses::drop_events() {
  for (;;) {
    char byte = 0;
    const ssize_t size = ::recv(nl_socket_get_fd(events_.get()), &byte, sizeof(byte), MSG_DONTWAIT);
    // To be told that some were lost is as good as the events themselves.
    if (size < 0 && errno != EINTR && errno != ENOBUFS) break;
  }
  lost_ = false;
}

}  // namespace mkp
