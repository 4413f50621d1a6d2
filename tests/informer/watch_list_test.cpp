#include "informer/watch_list.h"

#include <gtest/gtest.h>

#include "informer/initial_events_wait.h"
#include "informer/reflector.h"
#include "tests/fakes/captured_log.h"
#include "tests/informer/reflector_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// A reflector over a source that knows streaming lists.
class WatchListTest : public ReflectorTest {
 protected:
  WatchListTest() { stream_lists(); }

  // It starts with a streaming list that comes to nothing, and does without.
  void expect_a_list() {
    list_returns({test_object("a", 1)}, "10");
    api_.watch_returns({Source::added(test_object("b", 11))});
    start();
    EXPECT_EQ(api_.requests(), "watch \"\" initial, list 0 limit 500, watch 10");
    EXPECT_EQ(store_.content(), "a 1, b 11");
    EXPECT_EQ(watch_error_, "");
  }
};

// Case 101.
TEST_F(WatchListTest, TakesOneWatchAndNoList) {
  options_.random = [] { return 0.5; };
  api_.watch_returns({Source::added(test_object("a", 1)), Source::end_of_initial_events("1")});
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  EXPECT_EQ(api_.watch_timeouts(), (std::vector<std::chrono::seconds>{450s}));
  EXPECT_EQ(store_.content(), "a 1");
}

// Case 124.
TEST_F(WatchListTest, WithoutTheBookmarkNothingReachesTheStore) {
  api_.watch_returns({Source::added(test_object("a", 1))});
  start();
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  EXPECT_EQ(api_.open_streams(), 0);
  EXPECT_EQ(store_.content(), "");
  EXPECT_EQ(store_.versions, "");
}

// Case 125.
TEST_F(WatchListTest, IsNotAskedForWhenTurnedOff) {
  options_.streaming_lists = false;
  list_returns({test_object("a", 1)}, "10");
  start();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 10");
}

// What a source may say to a streaming list when it will not have it.
class WatchListFallbackTest : public WatchListTest, public testing::WithParamInterface<Errc> {};

// Cases 126 and 127.
TEST_P(WatchListFallbackTest, IsFollowedByAListWhenTheRequestIsRefused) {
  api_.watch_fails(GetParam(), "no");
  expect_a_list();
}

// Case 126.
TEST_P(WatchListFallbackTest, IsFollowedByAListWhenTheStreamFails) {
  api_.watch_returns({Source::added(test_object("z", 1)), fail(GetParam(), "no")});
  expect_a_list();
}

INSTANTIATE_TEST_SUITE_P(Every, WatchListFallbackTest,
                         testing::Values(Errc::Denied, Errc::Exists, Errc::Internal, Errc::Invalid,
                                         Errc::NotFound));

// Case 126.
TEST_F(WatchListTest, IsFollowedByAListWhenTheStreamEndsAtOnceAndEmpty) {
  api_.watch_returns({Source::end()});
  expect_a_list();
}

TEST_F(WatchListTest, IsTriedAgainByTheNextAttempt) {
  api_.watch_fails(Errc::Invalid, "no");
  list_returns({}, "10");
  api_.watch_returns({fail(Errc::Expired, "410 Gone")});
  start();
  api_.requests();
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch 10 initial");
}

// Case 128.
TEST_F(WatchListTest, FillsTheStoreWithTheBookmarkAndReadsOnFromTheSameStream) {
  api_.watch_returns({Source::added(test_object("p1", 1)), Source::added(test_object("p2", 2))});
  start();
  EXPECT_EQ(store_.content(), "");
  watch_sends(Source::end_of_initial_events("2"));
  EXPECT_EQ(store_.content(), "p1 1, p2 2");
  EXPECT_EQ(last_version(), "2");
  watch_sends(Source::added(test_object("p3", 3)));
  EXPECT_EQ(store_.content(), "p1 1, p2 2, p3 3");
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  EXPECT_EQ(api_.open_streams(), 1);
}

TEST_F(WatchListTest, TakesTheStoreFromOneContentToTheOtherInOneStep) {
  api_.watch_returns({Source::added(test_object("gone", 1)), Source::end_of_initial_events("1"),
                      fail(Errc::Expired, "410 Gone")});
  start();
  api_.watch_returns({Source::added(test_object("new", 2))});
  loop_.pass(800ms);
  EXPECT_EQ(store_.content(), "gone 1");
  watch_sends(Source::end_of_initial_events("2"));
  EXPECT_EQ(store_.content(), "new 2");
}

// Case 129.
TEST_F(WatchListTest, ChangesAndDeletionsBeforeTheBookmarkCount) {
  api_.watch_returns({Source::added(test_object("a", 1)), Source::added(test_object("b", 2)),
                      Source::modified(test_object("a", 3)), Source::deleted(test_object("b", 4)),
                      Source::end_of_initial_events("4")});
  start();
  EXPECT_EQ(store_.content(), "a 3");
  EXPECT_EQ(store_.versions, "4");
}

// Case 130.
TEST_F(WatchListTest, IsAskedForAgainAfterADelayWhenTheSourceIsBusy) {
  api_.watch_fails(Errc::Unavailable, "too many requests");
  api_.watch_fails(Errc::Unavailable, "too many requests");
  api_.watch_returns({Source::end_of_initial_events("1")});
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  loop_.pass(1600ms);
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  EXPECT_EQ(store_.versions, "1");
}

// Case 131.
TEST_F(WatchListTest, IsAskedForAgainAtOnceWhenTheStreamEndsBeforeTheBookmark) {
  api_.watch_returns({Source::added(test_object("a", 1))});
  start();
  api_.watch_returns({Source::added(test_object("b", 2)), Source::end_of_initial_events("2")});
  watch_ends();
  EXPECT_EQ(api_.requests(), "watch \"\" initial, watch \"\" initial");
  EXPECT_EQ(store_.content(), "b 2");
}

TEST_F(WatchListTest, IsAskedForAgainAfterADelayWhenItWasCutShort) {
  api_.watch_returns({Source::added(test_object("a", 1)), Source::end()});
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
}

// Case 132.
TEST_F(WatchListTest, IsFollowedByAPlainWatchWhenItsStreamEndsAfterTheBookmark) {
  api_.watch_returns(
      {Source::end_of_initial_events("2"), Source::added(test_object("a", 3)), Source::end()});
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial, watch 3");
}

// Case 133.
TEST_F(WatchListTest, AVersionThatIsGoneWhenTheStreamHasEndedIsAFailureThatKeepsTheContent) {
  api_.watch_returns({Source::added(test_object("a", 1)), Source::end_of_initial_events("2"),
                      Source::added(test_object("b", 3)), Source::end()});
  api_.watch_fails(Errc::Expired, "410 Gone");
  start();
  EXPECT_EQ(watch_error_, "failed to watch reflector: 410 Gone");
  EXPECT_EQ(store_.content(), "a 1, b 3");
  api_.requests();
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch 3 initial");
}

// Case 134.
TEST_F(WatchListTest, ABookmarkThatDoesNotEndTheInitialEventsFillsNothing) {
  api_.watch_returns({Source::added(test_object("a", 1)), Source::bookmark("1")});
  start();
  EXPECT_EQ(store_.content(), "");
  EXPECT_EQ(last_version(), "");
}

// Says nothing of streaming lists.
class SilentSource final : public ObjectSource {
 public:
  asio::awaitable<Result<Listing>> list(ListQuery) override {
    co_return fail(Errc::Unavailable, "not asked");
  }
  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery) override {
    co_return fail(Errc::Unavailable, "not asked");
  }
};

// Case 135.
TEST(WatchListChoiceTest, StreamsWhereItIsTurnedOnAndTheSourceDoesNotSayNo) {
  FakeClock clock;
  WatchedStore store;
  ScriptedSource able;
  able.support_initial_events();
  ScriptedSource unable;
  SilentSource silent;
  Reflector::Options on;
  Reflector::Options off;
  off.streaming_lists = false;
  EXPECT_FALSE(Reflector(able, store, clock, off).is_streaming_lists());
  EXPECT_TRUE(Reflector(able, store, clock, on).is_streaming_lists());
  EXPECT_FALSE(Reflector(unable, store, clock, on).is_streaming_lists());
  EXPECT_TRUE(Reflector(silent, store, clock, on).is_streaming_lists());
}

// Case 136.
TEST(InitialEventsWaitTest, SaysHowLongNothingHasCome) {
  const TimePoint start{};
  InitialEventsWait wait("Service", start);
  EXPECT_EQ(wait.warning(start + 1s, 1s),
            "Service: awaiting required bookmark event for initial events stream, no events "
            "received for 1s");
  EXPECT_EQ(wait.warning(start + 2s, 1s),
            "Service: awaiting required bookmark event for initial events stream, no events "
            "received for 2s");
  wait.saw_event(start + 2500ms);
  EXPECT_EQ(wait.warning(start + 3s, 1s), std::nullopt);
  wait.saw_event(start + 3s);
  EXPECT_EQ(wait.warning(start + 4s, 1s),
            "Service: hasn't received required bookmark event marking the end of initial events "
            "stream, received last event 1s ago");
}

// Case 136.
TEST_F(WatchListTest, WarnsEachTenSecondsUntilTheBookmarkComes) {
  CapturedLog log;
  options_.name = "Service";
  api_.watch_returns({});
  start();
  loop_.pass(10s);
  EXPECT_EQ(log.take(),
            "warning: Service: awaiting required bookmark event for initial events stream, no "
            "events received for 10s; what was known before stays in use\n");
  watch_sends(Source::end_of_initial_events("1"));
  log.take();
  loop_.pass(1min);
  EXPECT_EQ(log.take(), "");
}

// Case 137.
TEST_F(WatchListTest, OnlyTheBookmarkSaysHowFarItIs) {
  api_.watch_returns({});
  start();
  EXPECT_EQ(last_version(), "");
  watch_sends(Source::added(test_object("a", 1)));
  EXPECT_EQ(last_version(), "");
  watch_sends(Source::end_of_initial_events("2"));
  EXPECT_EQ(last_version(), "2");
}

TEST_F(WatchListTest, AVersionThatIsGoneIsFollowedByTheNewestAtOnceAndThenTheLastAgain) {
  api_.watch_returns({Source::end_of_initial_events("10"), fail(Errc::Expired, "410 Gone")});
  api_.watch_fails(Errc::Expired, "410 Gone");
  api_.watch_returns({Source::end_of_initial_events("20"), fail(Errc::Expired, "410 Gone")});
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch 10 initial, watch \"\" initial");
  loop_.pass(1600ms);
  EXPECT_EQ(api_.requests(), "watch 20 initial");
}

TEST_F(WatchListTest, ANewestThatIsGoneIsAskedForAgainAfterADelay) {
  api_.watch_fails(Errc::Expired, "410 Gone");
  api_.watch_fails(Errc::Expired, "410 Gone");
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial, watch \"\" initial");
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
}

}  // namespace
}  // namespace mkp
