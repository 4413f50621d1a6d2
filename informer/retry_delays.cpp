#include "informer/retry_delays.h"

#include <spdlog/spdlog.h>

#include <chrono>

namespace mkp {

namespace {

using namespace std::chrono_literals;

// The long sequence starts over when its last start is longer ago than this.
constexpr Duration kBusyReset = 2min;

}  // namespace

asio::awaitable<void> RetryDelays::wait() {
  if (clock_.now() - busy_since_ > kBusyReset) start_over();
  co_await clock_.sleep_until(later(clock_.now(), busy_.next()));
}

asio::awaitable<void> RetryDelays::wait_after(const Error& error) {
  if (error.code == Errc::Unreachable) return wait_unreachable(error);
  if (error.code == Errc::Unavailable) {
    spdlog::warn(
        "{}: the source cannot answer now: {}; what is known stays in use, and it is asked again "
        "after a while",
        name_, error.what);
  }
  return wait();
}

asio::awaitable<void> RetryDelays::wait_unreachable(const Error& error) {
  if (!std::exchange(is_unreachable_, true)) {
    spdlog::debug("{}: the source cannot be reached, and is tried again about every second: {}",
                  name_, error.what);
  }
  co_await clock_.sleep_until(later(clock_.now(), unreachable_.next()));
}

void RetryDelays::note_answer() {
  if (!std::exchange(is_unreachable_, false)) return;
  spdlog::debug("{}: the source is reached again", name_);
  start_over();
}

void RetryDelays::start_over() {
  busy_.reset();
  busy_since_ = clock_.now();
}

}  // namespace mkp
