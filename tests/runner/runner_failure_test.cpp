#include <gtest/gtest.h>

#include "tests/runner/runner_fixture.h"

// What the runner does after a failure, and when it is stopped. The numbers in comments are
// explained in CASES.md.
namespace mkp {
namespace {

using Limits = BoundedFrequencyRunner::Limits;

constexpr Limits kRetryEach5s{
    .min_interval = 1s, .max_interval = 10s, .first_retry = 5s, .retry_cap = 5s};
constexpr Limits kDoubling{
    .min_interval = 0s, .max_interval = 1h, .first_retry = 1s, .retry_cap = 5s};

class RunnerFailureTest : public RunnerFixture {};

// B9-B13
TEST_F(RunnerFailureTest, AFailureIsRetriedAndASuccessCancelsTheRetry) {
  start(kRetryEach5s);
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 5s");  // B9
  fails_ = false;
  EXPECT_EQ(pass(1s), "wait 4s");
  EXPECT_EQ(pass(4s), "run, wait 10s");
  pass(499ms);
  fails_ = true;
  EXPECT_EQ(run(), "wait 501ms");  // B10
  EXPECT_EQ(pass(501ms), "run, wait 5s");
  fails_ = false;
  EXPECT_EQ(pass(1s), "wait 4s");
  EXPECT_EQ(run(), "run, wait 10s");  // B11
  EXPECT_EQ(pass(4s), "wait 6s");
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 5s");  // B12
  fails_ = false;
  pass(100ms);
  EXPECT_EQ(run(), "wait 900ms");
  EXPECT_EQ(pass(900ms), "run, wait 10s");
  EXPECT_EQ(pass(4s), "wait 6s");  // B13
  EXPECT_EQ(pass(5s), "wait 1s");
  EXPECT_EQ(pass(1s), "run, wait 10s");
}

// B14
TEST_F(RunnerFailureTest, ARetrySoonerThanTheMinimumWaitsForTheLimiter) {
  start({.min_interval = 5s, .max_interval = 10s, .first_retry = 1s, .retry_cap = 1s});
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 1s");
  fails_ = false;
  EXPECT_EQ(pass(1s), "wait 4s");
  EXPECT_EQ(pass(3999ms), "wait 1ms");
  EXPECT_EQ(pass(1ms), "run, wait 10s");
  EXPECT_EQ(pass(10s), "run, wait 10s");
}

// B15
TEST_F(RunnerFailureTest, ARetryNeverComesLaterThanTheMaximum) {
  start({.min_interval = 1s, .max_interval = 10s, .first_retry = 30s, .retry_cap = 30s});
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 10s");
  EXPECT_EQ(pass(10s), "run, wait 10s");
}

// B16
TEST_F(RunnerFailureTest, WhatKeepsFailingIsRetriedForEver) {
  start(kRetryEach5s);
  fails_ = true;
  run();
  EXPECT_EQ(pass(5s), "run, wait 5s");
  EXPECT_EQ(pass(5s), "run, wait 5s");
  EXPECT_EQ(pass(5s), "run, wait 5s");
  EXPECT_EQ(runner_->status().failures_in_a_row, 4U);
}

TEST_F(RunnerFailureTest, TheDelayDoublesUpToItsCapAndStartsAgainAfterASuccess) {
  start(kDoubling);
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 1s");
  EXPECT_EQ(pass(1s), "run, wait 2s");
  EXPECT_EQ(pass(2s), "run, wait 4s");
  EXPECT_EQ(pass(4s), "run, wait 5s");
  EXPECT_EQ(pass(5s), "run, wait 5s");
  fails_ = false;
  EXPECT_EQ(pass(5s), "run, wait 1h0m0s");
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 1s");
}

TEST_F(RunnerFailureTest, AFirstDelayOverTheCapIsTheCap) {
  start({.max_interval = 1h, .first_retry = 9s, .retry_cap = 5s});
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 5s");
}

TEST_F(RunnerFailureTest, DelaysBeyondAllTimeDoNotOverflow) {
  start({.max_interval = 1h, .first_retry = Duration::max(), .retry_cap = Duration::max()});
  fails_ = true;
  EXPECT_EQ(run(), "run, wait 1h0m0s");
  EXPECT_EQ(run(), "run, wait 1h0m0s");
}

TEST_F(RunnerFailureTest, ARetryAskedForByAFailingRunCountsIfItIsTheEarlier) {
  start(kRetryEach5s);
  fails_ = true;
  within_ = [this] { runner_->retry_after(2s); };
  EXPECT_EQ(run(), "run, wait 2s");
}

// B17
TEST_F(RunnerFailureTest, StopEndsAnIdleLoop) {
  start(kRetryEach5s);
  EXPECT_EQ(stop(), "ended");
}

// B17
TEST_F(RunnerFailureTest, StopEndsALoopThatWaitsForTheLimiter) {
  start(kRetryEach5s);
  run();
  EXPECT_EQ(run(), "wait 1s");
  EXPECT_EQ(stop(), "ended");
}

// B17
TEST_F(RunnerFailureTest, StopLetsTheRunInProgressComplete) {
  start(kRetryEach5s);
  takes_ = 100ms;
  run();
  EXPECT_EQ(run(), "running");
  EXPECT_EQ(stop(), "running");
  EXPECT_EQ(pass(100ms), "ended");
}

// B18
TEST_F(RunnerFailureTest, ARequestAfterStopDoesNothing) {
  start(kRetryEach5s);
  stop();
  EXPECT_EQ(run(), "ended");
  EXPECT_EQ(retry_after(0s), "ended");
  EXPECT_EQ(pass(10s), "ended");
}

TEST_F(RunnerFailureTest, CancellationEndsALoopThatWaits) {
  start(kRetryEach5s);
  EXPECT_EQ(cancel(), "ended");
  EXPECT_EQ(runner_->status().deadline, std::nullopt);
  EXPECT_EQ(run(), "ended");
}

TEST_F(RunnerFailureTest, CancellationEndsTheRunInProgressToo) {
  start(kRetryEach5s);
  takes_ = 100ms;
  run();
  EXPECT_EQ(cancel(), "ended");
  EXPECT_FALSE(runner_->status().running);
}

TEST_F(RunnerFailureTest, ALoopStoppedBeforeItBeginsEndsAtOnce) {
  make(kRetryEach5s);
  runner_->run();
  runner_->stop();
  EXPECT_EQ(start(), "ended");
}

}  // namespace
}  // namespace mkp
