#include "runner/bounded_frequency_runner.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cstdlib>
#include <memory>

#include "runner/duration_text.h"

namespace mkp {

Result<> BoundedFrequencyRunner::check(std::string_view name, const Limits& limits) {
  if (limits.max_interval < limits.min_interval) {
    return fail(Errc::Invalid,
                fmt::format("{}: maxInterval ({}) must be >= minInterval ({})", name,
                            to_text(limits.max_interval), to_text(limits.min_interval)));
  }
  if (limits.burst < 1) {
    return fail(Errc::Invalid, fmt::format("{}: burstRuns ({}) must be >= 1", name, limits.burst));
  }
  if (limits.min_interval < Duration::zero() || limits.first_retry <= Duration::zero() ||
      limits.retry_cap <= Duration::zero()) {
    return fail(Errc::Invalid,
                fmt::format("{}: minInterval must be >= 0 and the retry intervals > 0", name));
  }
  return {};
}

BoundedFrequencyRunner::BoundedFrequencyRunner(std::string name, Work work, Limits limits,
                                               Clock& clock)
    : name_(std::move(name)), work_(std::move(work)), limits_(limits), clock_(clock) {
  if (const Result<> checked = check(name_, limits_); !checked) {
    spdlog::critical("{}", checked.error().what);
    std::abort();
  }
  if (limits_.min_interval > Duration::zero()) {
    limiter_.emplace(limits_.min_interval, limits_.burst);
  }
}

asio::awaitable<void> BoundedFrequencyRunner::loop() {
  asio::steady_timer alarm(co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max());
  alarm_ = &alarm;
  // However the loop ends: cancellation unwinds it.
  const auto leave = [this](asio::steady_timer*) {
    alarm_ = nullptr;
    status_.running = false;
    status_.deadline.reset();
  };
  const std::unique_ptr<asio::steady_timer, decltype(leave)> inside(&alarm, leave);

  aim_at(later(clock_.now(), limits_.max_interval));
  while (!stopped_) {
    co_await until_called_or_due();
    if (stopped_) break;
    if (retry_at_) {
      aim_at(std::min(deadline_, *retry_at_));
      retry_at_.reset();
    }
    if (!requested_ && clock_.now() < deadline_) continue;
    requested_ = false;
    if (limiter_ && !limiter_->allow(clock_.now())) {
      defer();
    } else {
      co_await run_now();
    }
  }
}

void BoundedFrequencyRunner::run() {
  requested_ = true;
  wake();
}

void BoundedFrequencyRunner::retry_after(Duration delay) {
  const TimePoint at = later(clock_.now(), std::max(delay, Duration::zero()));
  if (retry_at_ && *retry_at_ <= at) return;
  retry_at_ = at;
  wake();
}

void BoundedFrequencyRunner::stop() {
  stopped_ = true;
  wake();
}

void BoundedFrequencyRunner::aim_at(TimePoint deadline) {
  deadline_ = deadline;
  status_.deadline = deadline;
}

void BoundedFrequencyRunner::wake() {
  if (alarm_ != nullptr) alarm_->cancel();
}

asio::awaitable<void> BoundedFrequencyRunner::until_called_or_due() {
  using namespace asio::experimental::awaitable_operators;
  if (called() || clock_.now() >= deadline_) co_return;
  co_await (until_called() || clock_.sleep_until(deadline_));
}

asio::awaitable<void> BoundedFrequencyRunner::until_called() {
  // What is called before the wait begins has nothing to cancel, hence the look at the flags first.
  while (!called()) co_await alarm_->async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> BoundedFrequencyRunner::run_now() {
  retry_at_.reset();
  status_.deadline.reset();
  status_.last_start = clock_.now();
  status_.running = true;
  ++status_.runs;

  const Result<> result = co_await work_();

  const TimePoint end = clock_.now();
  status_.running = false;
  status_.last_end = end;
  last_end_ = end;
  if (limiter_) limiter_->earn_from(end);
  aim_at(later(end, limits_.max_interval));
  note(result);
}

// The limiter refused: nothing was asked for that this deadline would not bring.
void BoundedFrequencyRunner::defer() {
  const TimePoint now = clock_.now();
  const TimePoint possible = later(last_end_, limits_.min_interval);
  aim_at(deadline_ > now ? std::min(deadline_, possible) : possible);
  spdlog::debug("{}: deferred by {}", name_, to_text(deadline_ - now));
}

void BoundedFrequencyRunner::note(const Result<>& result) {
  if (result) {
    status_.failures_in_a_row = 0;
    last_retry_ = Duration::zero();
    return;
  }
  ++status_.failures_in_a_row;
  const Duration doubled =
      last_retry_ > limits_.retry_cap / 2 ? limits_.retry_cap : last_retry_ * 2;
  last_retry_ = std::min(std::max(doubled, limits_.first_retry), limits_.retry_cap);
  aim_at(std::min(deadline_, later(last_end_, last_retry_)));
  spdlog::warn("{}: failed {} times in a row, next attempt in {} at the latest: {}", name_,
               status_.failures_in_a_row, to_text(deadline_ - last_end_), result.error().what);
}

}  // namespace mkp
