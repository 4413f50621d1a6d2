#include "informer/retry_window.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{};

// Case 162.
TEST(RetryWindowTest, AWindowWithoutLengthAllowsNothing) {
  RetryWindow window(0s, 1min);
  EXPECT_FALSE(window.allows_retry(kStart));
}

// Case 162.
TEST(RetryWindowTest, AllowsWhatHappensUpToItsEndAndThenOpensAnew) {
  RetryWindow window(30s, 1min);
  EXPECT_TRUE(window.allows_retry(kStart));
  EXPECT_TRUE(window.allows_retry(kStart + 30s));
  EXPECT_FALSE(window.allows_retry(kStart + 31s));
  EXPECT_TRUE(window.allows_retry(kStart + 32s));
  EXPECT_TRUE(window.allows_retry(kStart + 62s));
  EXPECT_FALSE(window.allows_retry(kStart + 63s));
}

// Case 162.
TEST(RetryWindowTest, AFailureAfterAQuietTimeOpensANewWindow) {
  RetryWindow window(90s, 1min);
  EXPECT_TRUE(window.allows_retry(kStart));
  EXPECT_TRUE(window.allows_retry(kStart + 59s));
  EXPECT_TRUE(window.allows_retry(kStart + 119s));
  EXPECT_TRUE(window.allows_retry(kStart + 178s));
  EXPECT_FALSE(window.allows_retry(kStart + 210s));
}

}  // namespace
}  // namespace mkp
