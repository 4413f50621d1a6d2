#pragma once

#include <boost/asio.hpp>
#include <exception>
#include <functional>
#include <utility>

#include "tests/fakes/fake_clock.h"

namespace mkp {

// A loop on fake time with one task to cancel. A fixture declares it last, so that it dies first.
class TestLoop {
 public:
  explicit TestLoop(FakeClock& clock) : clock_(clock) {}

  // Runs the task up to where it waits. stop() cancels the latest.
  void start(asio::awaitable<void> task) {
    ended_ = false;
    auto on_end = [this](const std::exception_ptr&) { ended_ = true; };
    asio::co_spawn(loop_, std::move(task),
                   asio::bind_cancellation_slot(stop_.slot(), std::move(on_end)));
    settle();
  }

  // What stop() does not reach.
  void start_aside(asio::awaitable<void> task) {
    asio::co_spawn(loop_, std::move(task), asio::detached);
    settle();
  }

  // Until every task waits for something.
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  void pass(Duration time) {
    clock_.advance(time);
    settle();
  }

  void stop() {
    stop_.emit(asio::cancellation_type::all);
    settle();
  }

  // The task is cancelled before it gets to look at what `event` did.
  void stop_right_after(std::function<void()> event) {
    asio::post(loop_, [this, event = std::move(event)] {
      event();
      stop_.emit(asio::cancellation_type::all);
    });
    settle();
  }

  bool ended() const { return ended_; }
  // No task is left.
  bool idle() {
    settle();
    return loop_.stopped();
  }

 private:
  FakeClock& clock_;
  asio::cancellation_signal stop_;
  bool ended_ = false;
  asio::io_context loop_;
};

}  // namespace mkp
