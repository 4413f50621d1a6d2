#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>

namespace mkp {

namespace asio = boost::asio;

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// The time, and waiting for it. Every wait of ours goes through one of these, so that no test
// sleeps.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual TimePoint now() const = 0;

  // Returns once now() >= deadline; at once when it already is. Cancellation unwinds the caller.
  virtual asio::awaitable<void> sleep_until(TimePoint deadline) = 0;
};

// The machine's monotonic clock, waiting on an Asio timer of the caller's executor.
class SteadyClock final : public Clock {
 public:
  TimePoint now() const override;
  asio::awaitable<void> sleep_until(TimePoint deadline) override;
};

// `start + span`, or TimePoint::max() when that would overflow; the longest Duration means "never".
TimePoint later(TimePoint start, Duration span);

}  // namespace mkp
