#include "runner/clock.h"

#include <boost/asio.hpp>

namespace mkp {

TimePoint SteadyClock::now() const { return std::chrono::steady_clock::now(); }

asio::awaitable<void> SteadyClock::sleep_until(TimePoint deadline) {
  asio::steady_timer alarm(co_await asio::this_coro::executor, deadline);
  // A timer that nobody else holds ends early only by cancellation, which the next co_await
  // reports.
  co_await alarm.async_wait(asio::as_tuple(asio::use_awaitable));
}

TimePoint later(TimePoint start, Duration span) {
  if (span > Duration::zero() && start > TimePoint::max() - span) return TimePoint::max();
  return start + span;
}

}  // namespace mkp
