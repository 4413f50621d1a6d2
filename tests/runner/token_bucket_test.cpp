#include "runner/token_bucket.h"

#include <gtest/gtest.h>

#include <string>

namespace mkp {
namespace {

using namespace std::chrono_literals;

TimePoint at(Duration since_start) { return TimePoint(since_start); }

// T1, T17: the worked table of one token a second, burst 2, row by row.
TEST(TokenBucketTest, AcceptsWheneverAWholeTokenHasBeenEarned) {
  TokenBucket bucket(1s, 2);
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_TRUE(bucket.allow(at(1ms)));
  EXPECT_FALSE(bucket.allow(at(499ms)));
  EXPECT_FALSE(bucket.allow(at(500ms)));
  EXPECT_FALSE(bucket.allow(at(501ms)));
  // Where fractions of tokens come out a hair short of one.
  EXPECT_TRUE(bucket.allow(at(1000ms)));
  EXPECT_FALSE(bucket.allow(at(1001ms)));
  EXPECT_FALSE(bucket.allow(at(1999ms)));
  EXPECT_TRUE(bucket.allow(at(2000ms)));
  EXPECT_TRUE(bucket.allow(at(4000ms)));
  EXPECT_TRUE(bucket.allow(at(4000ms)));
  EXPECT_FALSE(bucket.allow(at(4000ms)));
  EXPECT_TRUE(bucket.allow(at(5000ms)));
  EXPECT_TRUE(bucket.allow(at(15000ms)));
}

// T17: intervals whose single-precision rate is short of a token after exactly one interval.
TEST(TokenBucketTest, ATokenIsThereAfterExactlyOneIntervalWhateverTheInterval) {
  TokenBucket slow(30s, 1);
  EXPECT_TRUE(slow.allow(at(0s)));
  EXPECT_FALSE(slow.allow(at(30s - 1ns)));
  EXPECT_TRUE(slow.allow(at(30s)));
  TokenBucket fast(30ms, 1);
  EXPECT_TRUE(fast.allow(at(0s)));
  EXPECT_FALSE(fast.allow(at(30ms - 1ns)));
  EXPECT_TRUE(fast.allow(at(30ms)));
}

// T6, T17
TEST(TokenBucketTest, WithBurstOneItAcceptsOnceAnInterval) {
  TokenBucket bucket(100ms, 1);
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_FALSE(bucket.allow(at(50ms)));
  EXPECT_TRUE(bucket.allow(at(100ms)));
}

// T7, T17
TEST(TokenBucketTest, ABurstIsSpentAtOnceAndEarnedBackTokenByToken) {
  TokenBucket bucket(100ms, 3);
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_FALSE(bucket.allow(at(0s)));
  EXPECT_TRUE(bucket.allow(at(100ms)));
  EXPECT_FALSE(bucket.allow(at(100ms)));
  EXPECT_TRUE(bucket.allow(at(300ms)));
  EXPECT_TRUE(bucket.allow(at(300ms)));
  EXPECT_FALSE(bucket.allow(at(300ms)));
}

// T8
TEST(TokenBucketTest, TimeThatGoesBackwardsEarnsNothing) {
  TokenBucket bucket(100ms, 1);
  EXPECT_TRUE(bucket.allow(at(1s)));
  EXPECT_FALSE(bucket.allow(at(900ms)));
  EXPECT_TRUE(bucket.allow(at(1100ms)));
}

TEST(TokenBucketTest, ATokenTakenAtAnEarlierTimeDoesNotEarnThatTimeTwice) {
  TokenBucket bucket(100ms, 2);
  EXPECT_TRUE(bucket.allow(at(1s)));
  EXPECT_TRUE(bucket.allow(at(900ms)));
  EXPECT_FALSE(bucket.allow(at(1s)));
  EXPECT_TRUE(bucket.allow(at(1100ms)));
}

// T9
TEST(TokenBucketTest, YearsOfIdlenessFillItToTheBurstAndNoFurther) {
  TokenBucket bucket(100ms, 2);
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_TRUE(bucket.allow(TimePoint::max()));
  EXPECT_TRUE(bucket.allow(TimePoint::max()));
  EXPECT_FALSE(bucket.allow(TimePoint::max()));
}

// T9
TEST(TokenBucketTest, IntervalsAndBurstsBeyondAllTimeDoNotOverflow) {
  TokenBucket bucket(Duration::max(), 1'000'000);
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_FALSE(bucket.allow(TimePoint::max() - 1ns));
  EXPECT_EQ(bucket.reserve(TimePoint::max() - 1ns), 1ns);
  EXPECT_EQ(bucket.reserve(TimePoint::max() - 1ns), Duration::max());
}

// T10
TEST(TokenBucketTest, ARefusalDelaysNothing) {
  TokenBucket bucket(100ms, 1);
  EXPECT_TRUE(bucket.allow(at(0s)));
  int accepted = 0;
  for (int i = 0; i < 1000; ++i) accepted += bucket.allow(at(i * 99us)) ? 1 : 0;
  EXPECT_EQ(accepted, 0);
  EXPECT_FALSE(bucket.allow(at(100ms - 1ns)));
  EXPECT_TRUE(bucket.allow(at(100ms)));
}

// T11
TEST(TokenBucketTest, ReservationsQueueUpAndAllowWaitsUntilTheirDebtIsPaid) {
  TokenBucket bucket(100ms, 2);
  EXPECT_EQ(bucket.reserve(at(0s)), 0ms);
  EXPECT_EQ(bucket.reserve(at(0s)), 0ms);
  EXPECT_EQ(bucket.reserve(at(0s)), 100ms);
  EXPECT_EQ(bucket.reserve(at(0s)), 200ms);
  EXPECT_FALSE(bucket.allow(at(300ms - 1ns)));
  EXPECT_TRUE(bucket.allow(at(300ms)));
}

TEST(TokenBucketTest, TimeGivenUpEarnsNothing) {
  TokenBucket bucket(1s, 2);
  EXPECT_TRUE(bucket.allow(at(0s)));
  EXPECT_TRUE(bucket.allow(at(0s)));
  bucket.earn_from(at(5s));
  EXPECT_FALSE(bucket.allow(at(6s - 1ns)));
  EXPECT_TRUE(bucket.allow(at(6s)));
}

}  // namespace
}  // namespace mkp
