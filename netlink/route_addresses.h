#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "netlink/addresses.h"

struct nl_sock;

namespace mkp {

// The addresses that the kernel tells over rtnetlink, of the network namespace of the thread that
// opened it. It is told of changes before it lists for the first time, so that none is missed.
class RouteAddresses final : public Addresses {
 public:
  static Result<std::unique_ptr<RouteAddresses>> open();

  Result<std::vector<IpAddress>> list() override;
  asio::awaitable<Result<>> changed() override;

 private:
  struct Free {
    void operator()(nl_sock* socket) const noexcept;
  };
  using Socket = std::unique_ptr<nl_sock, Free>;

  RouteAddresses(Socket requests, Socket events)
      : requests_(std::move(requests)), events_(std::move(events)) {}

  Result<bool> has_event();
  void drop_events();

  Socket requests_;
  Socket events_;
  bool lost_ = false;  // events, since the last list
};

}  // namespace mkp
