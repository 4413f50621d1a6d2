#pragma once

#include <boost/asio.hpp>
#include <memory>
#include <set>

#include "runner/clock.h"

namespace mkp {

// Time that passes only when a test says so.
class FakeClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }

  asio::awaitable<void> sleep_until(TimePoint deadline) override {
    asio::steady_timer alarm(co_await asio::this_coro::executor, TimePoint::max());
    const auto forget = [this](asio::steady_timer* woken) { sleepers_.erase(woken); };
    const std::unique_ptr<asio::steady_timer, decltype(forget)> asleep(&alarm, forget);
    sleepers_.insert(&alarm);
    while (now_ < deadline) co_await alarm.async_wait(asio::as_tuple(asio::use_awaitable));
  }

  // Wakes every sleeper to look at the new time; those with time left sleep on.
  void advance(Duration by) {
    now_ += by;
    for (asio::steady_timer* alarm : sleepers_) alarm->cancel();
  }

 private:
  TimePoint now_{};
  std::set<asio::steady_timer*> sleepers_;
};

}  // namespace mkp
