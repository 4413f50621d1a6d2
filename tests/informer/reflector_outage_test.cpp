#include <gtest/gtest.h>

#include "informer/reflector.h"
#include "tests/fakes/captured_log.h"
#include "tests/informer/reflector_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// A source that nobody answers for, for a while.
class ReflectorOutageTest : public ReflectorTest {
 protected:
  void cut_off_watches(int times) {
    for (int i = 0; i < times; ++i) api_.watch_fails(Errc::Unreachable, "connection refused");
  }
  void list_and_watch_from_1() {
    list_returns({test_object("a", 1)}, "1");
    api_.watch_returns({});
    start();
    loop_.pass(1s);
    api_.requests();
  }
  void connection_breaks() { watch_sends(fail(Errc::Unreachable, "connection reset by peer")); }
};

TEST_F(ReflectorOutageTest, AConnectionThatBreaksIsFollowedByAWatchAtOnceFromWhereItWas) {
  list_and_watch_from_1();
  watch_sends(Source::added(test_object("b", 2)));
  api_.watch_returns({Source::added(test_object("c", 3))});
  connection_breaks();
  EXPECT_EQ(api_.requests(), "watch 2");
  EXPECT_EQ(store_.content(), "a 1, b 2, c 3");
}

TEST_F(ReflectorOutageTest, AConnectionThatBreaksAtOnceAndEmptyIsFollowedByAWatchAfterAShortDelay) {
  list_returns({}, "1");
  api_.watch_returns({fail(Errc::Unreachable, "connection reset by peer")});
  start();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1");
  loop_.pass(99ms);
  EXPECT_EQ(api_.requests(), "");
  loop_.pass(1ms);
  EXPECT_EQ(api_.requests(), "watch 1");
}

TEST_F(ReflectorOutageTest, WatchesAreTriedAgainAfterShortDelaysAndWithoutAList) {
  list_returns({}, "1");
  cut_off_watches(6);
  start();
  count_watches();
  std::vector<int> delays;
  for (std::size_t watches = 2; watches <= 7; ++watches) {
    delays.push_back(milliseconds_until_watches(watches));
  }
  EXPECT_EQ(delays, (std::vector<int>{100, 200, 400, 800, 1000, 1000}));
  EXPECT_EQ(lists_, 1);
}

TEST_F(ReflectorOutageTest, EachOutageStartsWithTheShortestDelay) {
  list_returns({}, "1");
  cut_off_watches(3);
  api_.watch_returns({});
  start();
  loop_.pass(100ms);
  loop_.pass(200ms);
  loop_.pass(400ms);
  cut_off_watches(1);
  loop_.pass(1s);
  connection_breaks();
  api_.requests();
  loop_.pass(100ms);
  EXPECT_EQ(api_.requests(), "watch 1");
}

TEST_F(ReflectorOutageTest, AListIsTriedAgainAfterAShortDelayAndToldOf) {
  api_.list_returns(fail(Errc::Unreachable, "no route to host"));
  list_returns({test_object("a", 1)}, "1");
  start();
  EXPECT_EQ(watch_error_, "failed to list reflector: no route to host");
  loop_.pass(100ms);
  EXPECT_EQ(store_.content(), "a 1");
}

TEST_F(ReflectorOutageTest, AStreamingListIsTriedAgainAfterAShortDelay) {
  stream_lists();
  cut_off_watches(1);
  api_.watch_returns(
      {Source::added(test_object("half", 1)), fail(Errc::Unreachable, "connection reset by peer")});
  api_.watch_returns({Source::added(test_object("whole", 2)), Source::end_of_initial_events("2")});
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  loop_.pass(100ms);
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  loop_.pass(200ms);
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  EXPECT_EQ(store_.content(), "whole 2");
}

TEST_F(ReflectorOutageTest, ABusySourceIsNotGivenShortDelays) {
  api_.list_returns(fail(Errc::Unavailable, "too many requests"));
  start();
  api_.requests();
  loop_.pass(799ms);
  EXPECT_EQ(api_.requests(), "");
  loop_.pass(1ms);
  EXPECT_EQ(api_.requests(), "list 0 limit 500");
}

TEST_F(ReflectorOutageTest, TheFirstAnswerStartsTheLongDelaysAnew) {
  list_returns({}, "1");
  api_.watch_fails(Errc::Unavailable, "too many requests");
  api_.watch_fails(Errc::Unavailable, "too many requests");
  cut_off_watches(1);
  api_.watch_fails(Errc::Expired, "410 Gone");
  start();
  loop_.pass(800ms);
  loop_.pass(1600ms);
  loop_.pass(100ms);
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, watch 1, watch 1, watch 1");
  loop_.pass(799ms);
  EXPECT_EQ(api_.requests(), "");
  loop_.pass(1ms);
  EXPECT_EQ(api_.requests(), "list 1");
}

TEST_F(ReflectorOutageTest, ByDefaultTheDelaysGrowFrom100MillisecondsToLittleMoreThanASecond) {
  Backoff backoff = Reflector::default_unreachable_backoff();
  const Duration first = backoff.next();
  EXPECT_GE(first, 100ms);
  EXPECT_LT(first, 150ms);
  for (int i = 0; i < 10; ++i) backoff.next();
  const Duration last = backoff.next();
  EXPECT_GE(last, 800ms);
  EXPECT_LT(last, 1200ms);
}

TEST_F(ReflectorOutageTest, OfAnOutageWhoeverHasTheSourceTellsAndNotEachWhoReadsFromIt) {
  CapturedLog log;
  options_.name = "Service";
  list_and_watch_from_1();
  cut_off_watches(3);
  api_.watch_returns({});
  connection_breaks();
  loop_.pass(100ms);
  loop_.pass(200ms);
  loop_.pass(400ms);
  EXPECT_EQ(log.take(), "");
}

}  // namespace
}  // namespace mkp
