#include "runner/bounded_frequency_runner.h"

#include <gtest/gtest.h>

#include "runner/log.h"
#include "tests/runner/runner_fixture.h"

// The numbers in comments are explained in CASES.md.
namespace mkp {
namespace {

using Limits = BoundedFrequencyRunner::Limits;

constexpr Limits kBurstOne{.min_interval = 1s, .max_interval = 10s, .burst = 1};
constexpr Limits kBurstTwo{.min_interval = 1s, .max_interval = 10s, .burst = 2};

class BoundedFrequencyRunnerTest : public RunnerFixture {};

// A1
TEST(BoundedFrequencyRunnerLimitsTest, TheLongestIntervalMustNotBeShorterThanTheShortest) {
  const Result<> refused =
      BoundedFrequencyRunner::check("sync-runner", {.min_interval = 10s, .max_interval = 1s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(),
            (Error{Errc::Invalid, "sync-runner: maxInterval (1s) must be >= minInterval (10s)"}));
  EXPECT_TRUE(
      BoundedFrequencyRunner::check("sync-runner", {.min_interval = 1s, .max_interval = 1s}));
}

// A1
TEST(BoundedFrequencyRunnerLimitsTest, ABurstBelowOneAndIntervalsThatAreNoneAreRefused) {
  EXPECT_EQ(BoundedFrequencyRunner::check("sync-runner", {.burst = 0}).error().what,
            "sync-runner: burstRuns (0) must be >= 1");
  EXPECT_FALSE(BoundedFrequencyRunner::check("sync-runner", {.min_interval = -1s}));
  EXPECT_FALSE(BoundedFrequencyRunner::check("sync-runner", {.first_retry = 0s}));
}

// A1
TEST(BoundedFrequencyRunnerDeathTest, ToBuildOneWithSuchLimitsEndsTheProcessWithTheReason) {
  const auto build = [] {
    set_up_logging({});
    FakeClock clock;
    const BoundedFrequencyRunner runner("sync-runner", {},
                                        {.min_interval = 10s, .max_interval = 1s}, clock);
  };
  EXPECT_DEATH(build(), "sync-runner: maxInterval \\(1s\\) must be >= minInterval \\(10s\\)");
}

// A2
TEST_F(BoundedFrequencyRunnerTest, NothingRunsAtTheStartByItself) {
  EXPECT_EQ(start(kBurstOne), "wait 10s");
}

// A3-A15
TEST_F(BoundedFrequencyRunnerTest, WithBurstOneRunsAreNeverLessThanTheMinimumApart) {
  start(kBurstOne);
  EXPECT_EQ(run(), "run, wait 10s");  // A3
  EXPECT_EQ(pass(500ms), "wait 9.5s");
  EXPECT_EQ(run(), "wait 500ms");  // A4
  EXPECT_EQ(pass(499ms), "wait 1ms");
  EXPECT_EQ(run(), "wait 1ms");           // A5
  EXPECT_EQ(pass(1ms), "run, wait 10s");  // A6
  EXPECT_EQ(run(), "wait 1s");            // A7
  EXPECT_EQ(pass(1ms), "wait 999ms");
  EXPECT_EQ(run(), "wait 999ms");         // A8
  EXPECT_EQ(pass(998ms), "wait 1ms");     // A9
  EXPECT_EQ(pass(1ms), "run, wait 10s");  // A10
  EXPECT_EQ(pass(1s), "wait 9s");         // A11
  EXPECT_EQ(pass(9s), "run, wait 10s");   // A12
  EXPECT_EQ(pass(1ms), "wait 9.999s");
  EXPECT_EQ(run(), "wait 999ms");           // A13
  EXPECT_EQ(pass(999ms), "run, wait 10s");  // A14
  EXPECT_EQ(stop(), "ended");               // A15
}

// A16-A27
TEST_F(BoundedFrequencyRunnerTest, WithBurstTwoASavedUpRunComesAtOnce) {
  start(kBurstTwo);
  EXPECT_EQ(run(), "run, wait 10s");  // A16
  pass(1ms);
  EXPECT_EQ(run(), "run, wait 10s");  // A17
  pass(498ms);
  EXPECT_EQ(run(), "wait 502ms");  // A18
  pass(1ms);
  EXPECT_EQ(run(), "wait 501ms");  // A19
  pass(1ms);
  EXPECT_EQ(run(), "wait 500ms");      // A20
  EXPECT_EQ(pass(499ms), "wait 1ms");  // A21
  EXPECT_EQ(run(), "run, wait 10s");
  pass(1ms);
  EXPECT_EQ(run(), "wait 999ms");  // A22
  pass(998ms);
  EXPECT_EQ(run(), "wait 1ms");           // A23
  EXPECT_EQ(pass(1ms), "run, wait 10s");  // A24
  pass(2s);
  EXPECT_EQ(run(), "run, wait 10s");  // A25
  EXPECT_EQ(run(), "run, wait 10s");
  EXPECT_EQ(run(), "wait 1s");
  EXPECT_EQ(pass(1s), "run, wait 10s");   // A26
  EXPECT_EQ(pass(10s), "run, wait 10s");  // A27
}

// A28-A31
TEST_F(BoundedFrequencyRunnerTest, ARunMayAskToBeRepeated) {
  start(kBurstOne);
  within_ = [this] { runner_->retry_after(5s); };
  EXPECT_EQ(run(), "run, wait 5s");  // A28
  within_ = [] {};
  EXPECT_EQ(pass(1s), "wait 4s");        // A29
  EXPECT_EQ(pass(4s), "run, wait 10s");  // A30
  pass(499ms);
  EXPECT_EQ(run(), "wait 501ms");  // A31
}

// A31-A34
TEST_F(BoundedFrequencyRunnerTest, ARunCancelsTheRetryThatWasAskedForBefore) {
  start(kBurstOne);
  run();
  pass(499ms);
  EXPECT_EQ(run(), "wait 501ms");           // A31
  EXPECT_EQ(pass(501ms), "run, wait 10s");  // A32
  EXPECT_EQ(retry_after(5s), "wait 5s");
  EXPECT_EQ(pass(1s), "wait 4s");  // A33
  EXPECT_EQ(run(), "run, wait 10s");
  EXPECT_EQ(pass(4s), "wait 6s");  // A34
}

asio::awaitable<void> retry_later(Clock& clock, BoundedFrequencyRunner& runner) {
  co_await clock.sleep_until(clock.now() + 100ms);
  runner.retry_after(5s);
}

// A35-A40
TEST_F(BoundedFrequencyRunnerTest, ARetryMayBeAskedForAfterTheRunByWhatItStarted) {
  start(kBurstOne);
  within_ = [this] { asio::co_spawn(loop_, retry_later(clock_, *runner_), asio::detached); };
  EXPECT_EQ(run(), "run, wait 10s");  // A35
  within_ = [] {};
  EXPECT_EQ(pass(100ms), "wait 5s");
  EXPECT_EQ(run(), "wait 900ms");           // A36
  EXPECT_EQ(pass(900ms), "run, wait 10s");  // A37
  EXPECT_EQ(pass(4s), "wait 6s");           // A38
  EXPECT_EQ(pass(5s), "wait 1s");           // A39
  EXPECT_EQ(pass(1s), "run, wait 10s");     // A40
}

// A41
TEST_F(BoundedFrequencyRunnerTest, OfTwoRetriesTheEarlierCounts) {
  start(kBurstOne);
  runner_->retry_after(5s);
  EXPECT_EQ(retry_after(3s), "wait 3s");
}

// A41
TEST_F(BoundedFrequencyRunnerTest, ALaterRetryDoesNotPutOffAnEarlierOne) {
  start(kBurstOne);
  runner_->retry_after(3s);
  EXPECT_EQ(retry_after(5s), "wait 3s");
}

// A42
TEST_F(BoundedFrequencyRunnerTest, ARetryAfterTheDeadlineIsIgnored) {
  start(kBurstOne);
  EXPECT_EQ(retry_after(20s), "wait 10s");
}

// A43
TEST_F(BoundedFrequencyRunnerTest, ARetryWithoutDelayComesAtOnceIfTheLimiterAllows) {
  start(kBurstOne);
  EXPECT_EQ(retry_after(0s), "run, wait 10s");
  pass(400ms);
  EXPECT_EQ(retry_after(-1s), "wait 600ms");
  EXPECT_EQ(pass(600ms), "run, wait 10s");
  EXPECT_EQ(retry_after(Duration::min()), "wait 1s");
}

// A44
TEST_F(BoundedFrequencyRunnerTest, WithoutAMinimumEveryRequestRunsAtOnce) {
  start({.min_interval = 0s, .max_interval = 10s});
  EXPECT_EQ(run(), "run, wait 10s");
  EXPECT_EQ(run(), "run, wait 10s");
  EXPECT_EQ(run(), "run, wait 10s");
}

// A45
TEST_F(BoundedFrequencyRunnerTest, AThousandRequestsDuringARunBringExactlyOneMore) {
  start(kBurstOne);
  takes_ = 100ms;
  EXPECT_EQ(run(), "run, running");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(run(), "running");
  EXPECT_EQ(pass(100ms), "wait 1s");
  EXPECT_EQ(pass(1s), "run, running");
  EXPECT_EQ(pass(100ms), "wait 10s");
}

// A46
TEST_F(BoundedFrequencyRunnerTest, ARequestBeforeTheLoopIsKeptUntilItStarts) {
  make(kBurstOne);
  runner_->run();
  EXPECT_EQ(start(), "run, wait 10s");
}

// The rule, where the original counts from the start of the run.
TEST_F(BoundedFrequencyRunnerTest, TheMinimumCountsFromTheEndOfARun) {
  start(kBurstOne);
  takes_ = 3s;
  run();
  EXPECT_EQ(pass(3s), "wait 10s");
  EXPECT_EQ(run(), "wait 1s");
  EXPECT_EQ(pass(1s - 1ns), "wait 1ns");
  EXPECT_EQ(pass(1ns), "run, running");
}

TEST_F(BoundedFrequencyRunnerTest, ALongRunDoesNotFillTheBurst) {
  start(kBurstTwo);
  run();
  takes_ = 30s;
  run();
  takes_ = 0s;
  pass(30s);
  EXPECT_EQ(run(), "wait 1s");
}

TEST_F(BoundedFrequencyRunnerTest, TheMaximumCountsFromTheEndOfARun) {
  start(kBurstOne);
  takes_ = 3s;
  run();
  EXPECT_EQ(pass(3s), "wait 10s");
}

TEST_F(BoundedFrequencyRunnerTest, IntervalsBeyondAllTimeMeanNever) {
  clock_.advance(1h);
  EXPECT_EQ(start({.min_interval = Duration::max()}), "wait 2562046h47m16.854775807s");
  EXPECT_EQ(run(), "run, wait 2562046h47m16.854775807s");
  EXPECT_EQ(retry_after(Duration::max()), "wait 2562046h47m16.854775807s");
  EXPECT_EQ(run(), "wait 2562046h47m16.854775807s");
}

TEST_F(BoundedFrequencyRunnerTest, ItsStatusTellsWhenItRuns) {
  start(kBurstOne);
  takes_ = 100ms;
  run();
  EXPECT_TRUE(runner_->status().running);
  EXPECT_EQ(runner_->status().deadline, std::nullopt);
  EXPECT_EQ(runner_->status().last_start, clock_.now());
  pass(100ms);
  EXPECT_FALSE(runner_->status().running);
  EXPECT_EQ(runner_->status().last_end, clock_.now());
  EXPECT_EQ(runner_->status().deadline, clock_.now() + 10s);
  EXPECT_EQ(runner_->status().runs, 1U);
}

}  // namespace
}  // namespace mkp
