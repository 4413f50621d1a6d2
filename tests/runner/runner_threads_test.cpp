#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio.hpp>
#include <thread>
#include <vector>

#include "runner/bounded_frequency_runner.h"

// Requests from many threads while the work is done on another one, as in the daemon, in real time.
namespace mkp {
namespace {

class RunnerThreadsTest : public testing::Test {
 protected:
  static constexpr int kThreads = 16;
  static constexpr int kRequests = 200;

  asio::awaitable<Result<>> work() {
    const bool last = all_asked_;
    co_await asio::co_spawn(sync_thread_, sync(), asio::use_awaitable);
    if (last) runner_.stop();
    co_return Result<>();
  }

  asio::awaitable<void> sync() {
    most_at_once_ = std::max(most_at_once_.load(), ++at_once_);
    co_await asio::post(sync_thread_, asio::use_awaitable);
    --at_once_;
  }

  void ask() {
    for (int i = 0; i < kRequests; ++i) asio::post(loop_, [this] { runner_.run(); });
  }

  void ask_a_last_time() {
    asio::post(loop_, [this] {
      all_asked_ = true;
      runner_.run();
    });
  }

  std::atomic<int> at_once_ = 0;
  std::atomic<int> most_at_once_ = 0;
  bool all_asked_ = false;
  bool ended_ = false;

  SteadyClock clock_;
  BoundedFrequencyRunner runner_{"sync-runner", [this] { return work(); },
                                 BoundedFrequencyRunner::Limits{}, clock_};
  asio::thread_pool sync_thread_{2};
  asio::io_context loop_;  // last: dies first
};

// A47
TEST_F(RunnerThreadsTest, RunsNeverOverlapAndTheLastRequestIsServed) {
  asio::co_spawn(loop_, runner_.loop(), [this](const std::exception_ptr&) { ended_ = true; });
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([this] { ask(); });
  std::thread last([this, &threads] {
    for (std::thread& thread : threads) thread.join();
    ask_a_last_time();
  });
  const auto guard = asio::make_work_guard(loop_);
  while (!ended_) loop_.run_one();
  last.join();
  EXPECT_EQ(most_at_once_, 1);
  EXPECT_GE(runner_.status().runs, 1U);
  EXPECT_LE(runner_.status().runs, 1U + kThreads * kRequests);
}

}  // namespace
}  // namespace mkp
