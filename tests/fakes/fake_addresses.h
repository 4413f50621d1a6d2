#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "informer/signal.h"
#include "netlink/addresses.h"

namespace mkp {

// The addresses that a test says.
class FakeAddresses final : public Addresses {
 public:
  Result<std::vector<IpAddress>> list() override {
    news_ = false;
    if (list_failure_) {
      news_ = true;
      return tl::unexpected<Error>(*std::exchange(list_failure_, std::nullopt));
    }
    return addresses_;
  }

  asio::awaitable<Result<>> changed() override {
    while (!news_ && !failure_) co_await told_.wait();
    if (failure_) co_return tl::unexpected<Error>(*failure_);
    co_return Result<>();
  }

  void set(std::vector<IpAddress> addresses) {
    std::ranges::sort(addresses);
    const auto repeated = std::ranges::unique(addresses);
    addresses.erase(repeated.begin(), repeated.end());
    addresses_ = std::move(addresses);
    news_ = true;
    told_.notify();
  }
  // The next list() fails with that.
  void fail_next_list(Error error) { list_failure_ = std::move(error); }
  // From now on changed() fails with that.
  void fail(Error error) {
    failure_ = std::move(error);
    told_.notify();
  }

 private:
  std::vector<IpAddress> addresses_;
  bool news_ = false;
  std::optional<Error> list_failure_;
  std::optional<Error> failure_;
  Signal told_;
};

}  // namespace mkp
