#pragma once

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <functional>
#include <optional>
#include <string>

#include "runner/bounded_frequency_runner.h"
#include "runner/duration_text.h"
#include "tests/fakes/fake_clock.h"

namespace mkp {

using namespace std::chrono_literals;

// A runner on fake time. Each step answers what came of it: "run, " for each run that started, then
// "wait D", D being the time to the runner's deadline, or "running", or "ended" once its loop has
// returned.
class RunnerFixture : public testing::Test {
 protected:
  void make(BoundedFrequencyRunner::Limits limits) {
    runner_.emplace(
        "sync-runner", [this] { return work(); }, limits, clock_);
  }

  std::string start() {
    asio::co_spawn(loop_, runner_->loop(),
                   asio::bind_cancellation_slot(
                       cancel_.slot(), [this](const std::exception_ptr&) { ended_ = true; }));
    return settle();
  }

  std::string start(BoundedFrequencyRunner::Limits limits) {
    make(limits);
    return start();
  }

  std::string run() {
    runner_->run();
    return settle();
  }

  std::string retry_after(Duration delay) {
    runner_->retry_after(delay);
    return settle();
  }

  std::string stop() {
    runner_->stop();
    return settle();
  }

  std::string cancel() {
    cancel_.emit(asio::cancellation_type::terminal);
    return settle();
  }

  std::string pass(Duration time) {
    clock_.advance(time);
    return settle();
  }

  // Until every task waits for something.
  std::string settle() {
    loop_.restart();
    loop_.poll();
    std::string text;
    for (; seen_ < runner_->status().runs; ++seen_) text += "run, ";
    if (ended_) return text + "ended";
    if (runner_->status().running) return text + "running";
    return text + "wait " + to_text(*runner_->status().deadline - clock_.now());
  }

  // What the next runs do.
  bool fails_ = false;
  Duration takes_{};
  std::function<void()> within_ = [] {};

  FakeClock clock_;
  std::optional<BoundedFrequencyRunner> runner_;
  asio::cancellation_signal cancel_;
  asio::io_context loop_;  // last: dies first

 private:
  asio::awaitable<Result<>> work() {
    within_();
    if (takes_ > Duration::zero()) co_await clock_.sleep_until(later(clock_.now(), takes_));
    if (fails_) co_return fail(Errc::Unavailable, "commit table mini-kube-proxy: Resource busy");
    co_return Result<>();
  }

  std::uint64_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace mkp
