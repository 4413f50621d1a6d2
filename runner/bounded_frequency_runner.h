#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runner/clock.h"
#include "runner/result.h"
#include "runner/token_bucket.h"

namespace mkp {

// Runs one function often enough, not too often, and again after a failure. After Kubernetes'
// BoundedFrequencyRunner (pkg/util/async), on an Asio loop:
//
// - run() asks for a run as soon as the limiter allows. Requests made before it starts fold into
//   it; a request made during a run brings exactly one more.
// - The limiter is a token bucket: on average one run each `min_interval`, with up to `burst` saved
//   up. It stands still during a run, so that the interval counts from the run's end: with burst 1
//   there is never less than `min_interval` between the end of one run and the start of the next.
//   (In the original the token counted from the start, so a slow function could run again too
//   soon.) A request that the limiter refuses waits for the end of the last run plus
//   `min_interval`, and not for the next token, as in the original.
// - At the latest `max_interval` after the end of a run, or after the start of the loop, it runs
//   unasked.
// - A failed run is repeated: after `first_retry`, then twice that and so on up to `retry_cap`,
//   until a run succeeds. A retry goes through the limiter and never comes later than
//   `max_interval`.
// - retry_after() asks for a run no later than a given time. A run before that cancels it.
// - One run at a time. Nothing polls: it sleeps until its deadline, on the injected clock, or until
//   it is called.
//
// Everything is called on the loop thread; other threads use asio::post.
class BoundedFrequencyRunner {
 public:
  // What is to be done. May take long and wait; it must end, also when stop() was called meanwhile.
  using Work = std::function<asio::awaitable<Result<>>()>;

  struct Limits {
    Duration min_interval{};                  // 0: no limiter
    Duration max_interval = Duration::max();  // the longest Duration: never unasked
    int burst = 1;
    Duration first_retry = std::chrono::seconds(1);
    Duration retry_cap = std::chrono::seconds(30);
  };

  // For tests, logs and the status page.
  struct Status {
    bool running = false;
    std::uint64_t runs = 0;               // started so far
    std::uint64_t failures_in_a_row = 0;  // up to the last run that ended
    std::optional<TimePoint> last_start;
    std::optional<TimePoint> last_end;
    // When it next runs, or asks the limiter, of its own accord; nothing while it runs and outside
    // of loop().
    std::optional<TimePoint> deadline;
  };

  // What is wrong with the limits, in words that start with `name`. For those who take them from a
  // user.
  static Result<> check(std::string_view name, const Limits& limits);

  // Limits that check() refuses are a programming error: the process ends with check()'s words.
  BoundedFrequencyRunner(std::string name, Work work, Limits limits, Clock& clock);
  BoundedFrequencyRunner(const BoundedFrequencyRunner&) = delete;
  BoundedFrequencyRunner& operator=(const BoundedFrequencyRunner&) = delete;

  // Runs until stop(). Once only. A failure of the work is logged here and nowhere else.
  asio::awaitable<void> loop();

  // Before loop() it is kept until then; after stop() it does nothing. Never waits.
  void run();

  // Runs again no later than `delay` from now: at once, if the limiter allows, when it is not
  // positive. Of several the earliest counts. Called during a run it counts from now, and from the
  // run's end on.
  void retry_after(Duration delay);

  // Ends loop(): at once, or when the run in progress has completed.
  void stop();

  const Status& status() const { return status_; }

 private:
  asio::awaitable<void> until_called_or_due();
  asio::awaitable<void> until_called();
  asio::awaitable<void> run_now();
  bool called() const { return stopped_ || requested_ || retry_at_; }
  void aim_at(TimePoint deadline);
  void wake();
  void defer();
  void note(const Result<>& result);

  const std::string name_;
  const Work work_;
  const Limits limits_;
  Clock& clock_;

  std::optional<TokenBucket> limiter_;
  Status status_;
  TimePoint deadline_;  // of the present or last wait
  TimePoint last_end_;
  bool stopped_ = false;
  bool requested_ = false;
  std::optional<TimePoint> retry_at_;    // asked for, not yet a deadline
  Duration last_retry_{};                // zero after a success
  asio::steady_timer* alarm_ = nullptr;  // lives in loop(); to cancel it ends the present wait
};

}  // namespace mkp
