#include <gtest/gtest.h>

#include "informer/reflector.h"
#include "tests/informer/reflector_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

class ReflectorRetryTest : public ReflectorTest {
 protected:
  void refuse_watches(int times) {
    for (int i = 0; i < times; ++i) api_.watch_fails(Errc::Unavailable, "connection refused");
  }
  // A random number that stretches each delay to just under twice its length, the longest that
  // jitter 1 allows.
  static double always_the_most() { return 0.999; }

  // Every watch ends with an internal error, a second after the one before, or after `pause` and a
  // second for the tenth. How many were followed by a watch at once until one was not.
  int internal_errors_followed_by_a_watch(Duration pause) {
    int followed = 0;
    for (;;) {
      loop_.pass(1s);
      if (followed == 9) loop_.pass(pause);
      api_.watch_returns({});
      api_.requests();
      watch_sends(fail(Errc::Internal, "internal error"));
      if (api_.requests().empty()) return followed;
      ++followed;
    }
  }
  void watch_with_retry_window(Duration window) {
    options_.max_internal_error_retry = window;
    list_returns({}, "1");
    api_.watch_returns({});
    start();
  }
};

// Case 103.
TEST_F(ReflectorRetryTest, ARefusedWatchIsTriedAgainWithGrowingDelaysAndWithoutAList) {
  options_.backoff =
      Backoff({.first = 1ms, .cap = 50ms, .factor = 2.0, .jitter = 1.0}, always_the_most);
  list_returns({}, "1");
  refuse_watches(5);
  start();
  count_watches();
  const int waited = milliseconds_until_watches(6);
  EXPECT_GE(waited, 32);
  EXPECT_LE(waited, 64);
  EXPECT_EQ(lists_, 1);
}

// Case 103.
TEST_F(ReflectorRetryTest, TheDelaysOfARefusedWatchStopGrowingAtTheCap) {
  options_.backoff =
      Backoff({.first = 1ms, .cap = 50ms, .factor = 2.0, .jitter = 1.0}, always_the_most);
  list_returns({}, "1");
  refuse_watches(40);
  start();
  count_watches();
  const int waited = milliseconds_until_watches(41);
  EXPECT_GE(waited, 35 * 100);
  EXPECT_LE(waited, 40 * 100);
  EXPECT_EQ(lists_, 1);
}

// Case 104.
TEST_F(ReflectorRetryTest, ABackoffOfOnesOwnIsKeptExactly) {
  options_.backoff = Backoff({.first = 10ms, .cap = 100ms});
  list_returns({}, "1");
  refuse_watches(5);
  start();
  count_watches();
  std::vector<int> delays;
  for (std::size_t watches = 2; watches <= 6; ++watches) {
    delays.push_back(milliseconds_until_watches(watches));
  }
  EXPECT_EQ(delays, (std::vector<int>{10, 20, 40, 80, 100}));
}

TEST_F(ReflectorRetryTest, ByDefaultTheDelaysGrowFrom800MillisecondsTo30Seconds) {
  Backoff backoff = Reflector::default_backoff();
  const Duration first = backoff.next();
  EXPECT_GE(first, 800ms);
  EXPECT_LT(first, 1600ms);
  for (int i = 0; i < 10; ++i) backoff.next();
  const Duration last = backoff.next();
  EXPECT_GE(last, 30s);
  EXPECT_LT(last, 60s);
}

TEST_F(ReflectorRetryTest, TheDelaysStartOverTwoMinutesAfterTheyStarted) {
  list_returns({}, "1");
  refuse_watches(2);
  start();
  loop_.pass(800ms);
  loop_.pass(1600ms);
  api_.watch_returns({});
  loop_.settle();
  loop_.pass(2min);
  api_.requests();
  watch_sends(fail(Errc::Invalid, "broken"));
  loop_.pass(799ms);
  EXPECT_EQ(api_.requests(), "");
  loop_.pass(1ms);
  EXPECT_EQ(api_.requests(), "list 1");
}

TEST_F(ReflectorRetryTest, AStreamOfABusySourceIsFollowedByAWatchAfterADelay) {
  list_returns({}, "1");
  api_.watch_returns({Source::bookmark("2"), fail(Errc::Unavailable, "too many requests")});
  start();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1");
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch 2");
}

// Case 105.
TEST_F(ReflectorRetryTest, ABusySourceCostsADelayForEachRequestAndEachStreamThatItRefuses) {
  list_returns({}, "1");
  api_.watch_fails(Errc::Unavailable, "too many requests");
  api_.watch_returns({fail(Errc::Unavailable, "too many requests")});
  api_.watch_returns({});
  start();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1");
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch 1");
  loop_.pass(1600ms);
  EXPECT_EQ(api_.requests(), "watch 1");
  watch_ends();
  EXPECT_EQ(api_.requests(), "watch 1");
}

// Case 106.
TEST_F(ReflectorRetryTest, AWatchThatIsRefusedFourTimesByABusySourceTakesOneList) {
  list_returns({}, "1");
  refuse_watches(4);
  api_.watch_returns({Source::added(test_object("a", 2))});
  start();
  loop_.pass(800ms);
  loop_.pass(1600ms);
  loop_.pass(3200ms);
  loop_.pass(6400ms);
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, watch 1, watch 1, watch 1, watch 1");
  EXPECT_EQ(store_.content(), "a 2");
}

// Case 107.
TEST_F(ReflectorRetryTest, AnInternalErrorIsFollowedByAListUnlessThereIsAWindow) {
  watch_with_retry_window(0s);
  EXPECT_EQ(internal_errors_followed_by_a_watch(0s), 0);
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "list 1");
  EXPECT_EQ(watch_error_, "");
}

// Case 107.
TEST_F(ReflectorRetryTest, InternalErrorsWithinTheWindowAreFollowedByAWatchAtOnce) {
  watch_with_retry_window(30s);
  EXPECT_EQ(internal_errors_followed_by_a_watch(0s), 31);
  EXPECT_EQ(watch_error_, "");
}

// Case 107.
TEST_F(ReflectorRetryTest, AQuietMinuteOpensANewWindowForInternalErrors) {
  watch_with_retry_window(30s);
  EXPECT_EQ(internal_errors_followed_by_a_watch(1min), 40);
}

// Case 112.
TEST_F(ReflectorRetryTest, AnExpiredWatchIsFollowedByAListFromWhereItWas) {
  list_returns({test_object("a", 1)}, "41");
  api_.watch_returns({fail(Errc::Expired, "410 Gone")});
  list_returns({test_object("b", 2)}, "57");
  start();
  loop_.pass(799ms);
  EXPECT_EQ(store_.content(), "a 1");
  loop_.pass(1ms);
  EXPECT_EQ(store_.content(), "b 2");
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 41, list 41, watch 57");
  EXPECT_EQ(watch_error_, "");
}

// Case 113.
TEST_F(ReflectorRetryTest, AnExpiredListIsFollowedByOneOfTheNewestAtOnce) {
  list_returns({}, "10");
  api_.watch_returns({fail(Errc::Expired, "410 Gone")});
  api_.list_returns(fail(Errc::Expired, "410 Gone"));
  list_returns({test_object("a", 20)}, "20");
  api_.watch_returns({fail(Errc::Expired, "410 Gone")});
  start();
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 10, list 10, list \"\", watch 20");
  loop_.pass(1600ms);
  EXPECT_EQ(api_.requests(), "list 20");
}

// Case 102.
struct Trouble {
  std::string what;
  std::function<void(ScriptedSource&)> happens;
};

class ReflectorTroubleTest : public ReflectorTest, public testing::WithParamInterface<Trouble> {};

std::vector<Trouble> troubles() {
  using Source = ScriptedSource;
  const auto list = [](Source& api) { api.list_returns(Listing{{test_object("a", 1)}, "1"}); };
  return {
      {"AListThatFails", [](Source& api) { api.list_returns(fail(Errc::Denied, "no")); }},
      {"AWatchThatIsRefused",
       [=](Source& api) {
         list(api);
         api.watch_fails(Errc::Denied, "no");
       }},
      {"AWatchThatEndsEmpty",
       [=](Source& api) {
         list(api);
         api.watch_returns({Source::end()});
       }},
      {"AWatchThatFailsAfterAnEvent",
       [=](Source& api) {
         list(api);
         api.watch_returns({Source::added(test_object("b", 2)), fail(Errc::Invalid, "broken")});
       }},
      {"AnEventOfAnotherKindAndAFailure",
       [=](Source& api) {
         list(api);
         api.watch_returns({WatchEvent{WatchEvent::Type::Added, object_without_key(), "2"},
                            fail(Errc::Invalid, "broken")});
       }},
  };
}

// Case 102.
TEST_P(ReflectorTroubleTest, IsOverWithTheNextListAndWatch) {
  GetParam().happens(api_);
  list_returns({test_object("b", 2), test_object("c", 3)}, "3");
  api_.watch_returns({Source::added(test_object("d", 4))});
  start();
  loop_.pass(800ms);
  EXPECT_EQ(store_.content(), "b 2, c 3, d 4");
  EXPECT_EQ(last_version(), "4");
}

INSTANTIATE_TEST_SUITE_P(Every, ReflectorTroubleTest, testing::ValuesIn(troubles()),
                         [](const auto& trouble) { return trouble.param.what; });

// Case 102.
TEST_F(ReflectorRetryTest, AWatchThatEndsAfterSomeEventsGoesOnWithoutMissingAny) {
  list_returns({}, "1");
  api_.watch_returns(
      {Source::added(test_object("a", 2)), Source::added(test_object("b", 3)), Source::end()});
  api_.watch_returns({Source::deleted(test_object("a", 4))});
  start();
  EXPECT_EQ(store_.content(), "b 3");
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, watch 3");
}

TEST_F(ReflectorRetryTest, TellsWhyAListOrARequestForAWatchFailed) {
  api_.list_returns(fail(Errc::Denied, "no"));
  list_returns({}, "1");
  api_.watch_fails(Errc::Expired, "gone");
  start();
  EXPECT_EQ(watch_error_, "failed to list reflector: no");
  loop_.pass(800ms);
  EXPECT_EQ(watch_error_, "failed to watch reflector: gone");
}

}  // namespace
}  // namespace mkp
