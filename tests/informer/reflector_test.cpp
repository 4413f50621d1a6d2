#include "informer/reflector.h"

#include <gtest/gtest.h>

#include "tests/informer/reflector_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// Case 94.
TEST_F(ReflectorTest, AStopDuringTheFirstListCancelsItAndEndsTheRun) {
  start();
  EXPECT_EQ(api_.waiting_requests(), 1);
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(api_.waiting_requests(), 0);
  EXPECT_EQ(store_.versions, "");
}

// Case 95.
TEST_F(ReflectorTest, AStreamThatFailsIsClosed) {
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  EXPECT_EQ(api_.open_streams(), 1);
  watch_sends(fail(Errc::Invalid, "broken"));
  EXPECT_EQ(api_.open_streams(), 0);
}

// Case 97.
TEST_F(ReflectorTest, AStopThatComesWithTheListOpensNoWatch) {
  start();
  loop_.stop_right_after([this] { list_returns({}, "1"); });
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(api_.requests(), "list 0 limit 500");
}

// Case 97.
TEST_F(ReflectorTest, AStopWhileAWatchIsRequestedLeavesNoStreamOpen) {
  list_returns({}, "1");
  start();
  EXPECT_EQ(api_.waiting_requests(), 1);
  api_.watch_returns({});
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(api_.waiting_requests(), 0);
  EXPECT_EQ(api_.open_streams(), 0);
}

// Case 98.
TEST_F(ReflectorTest, AStopBeforeAnyEventLeavesWhatWasListed) {
  list_returns({test_object("a", 1)}, "1");
  api_.watch_returns({});
  start();
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(api_.open_streams(), 0);
  EXPECT_EQ(store_.content(), "a 1");
}

// Case 98.
TEST_F(ReflectorTest, AStopAfterEventsKeepsThem) {
  list_returns({}, "1");
  api_.watch_returns({Source::added(test_object("a", 2))});
  start();
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(store_.content(), "a 2");
}

// Case 98.
TEST_F(ReflectorTest, AWatchThatEndsAtOnceAndEmptyIsFollowedByAListAfterADelay) {
  list_returns({}, "1");
  api_.watch_returns({Source::end()});
  start();
  loop_.pass(799ms);
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1");
  loop_.pass(1ms);
  EXPECT_EQ(api_.requests(), "list 1");
}

// Case 98.
TEST_F(ReflectorTest, AWatchThatEndsAtOnceButAfterAnEventIsFollowedByAWatch) {
  list_returns({}, "1");
  api_.watch_returns({Source::added(test_object("a", 2)), Source::end()});
  start();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, watch 2");
  EXPECT_EQ(store_.content(), "a 2");
}

// Case 98.
TEST_F(ReflectorTest, AnEmptyWatchThatEndsAfterASecondIsFollowedByAWatch) {
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  watch_ends();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, watch 1");
}

// Case 99.
TEST_F(ReflectorTest, BringsWatchedChangesIntoTheStoreAndPassesOverStrangers) {
  options_.expects = [](const Object& object) {
    return dynamic_cast<const TestObject*>(&object) != nullptr;
  };
  list_returns({test_object("foo", 1), test_object("zed", 2)}, "2");
  auto stranger = std::make_shared<Node>();
  stranger->metadata.name = "node";
  stranger->metadata.resource_version = "33";
  api_.watch_returns({Source::modified(test_object("foo", 10)),
                      Source::added(test_object("bar", 20)),
                      Source::deleted(test_object("zed", 32)), Source::added(stranger)});
  start();
  EXPECT_EQ(store_.content(), "bar 20, foo 10");
  EXPECT_EQ(last_version(), "32");
}

// Case 99.
TEST_F(ReflectorTest, AnEventWithoutMetadataIsPassedOver) {
  list_returns({}, "2");
  api_.watch_returns({WatchEvent{WatchEvent::Type::Added, object_without_key(), "3"},
                      WatchEvent{WatchEvent::Type::Added, nullptr, "4"}});
  start();
  EXPECT_EQ(last_version(), "2");
  EXPECT_EQ(store_.content(), "");
}

// Case 118.
TEST_F(ReflectorTest, AdditionsOfAWatchFromNowhereSayNothingOfHowFarItIs) {
  list_returns({}, "");
  api_.watch_returns({Source::added(test_object("a", 7)), Source::added(test_object("b", 5))});
  start();
  EXPECT_EQ(last_version(), "");
  watch_sends(Source::modified(test_object("a", 8)));
  EXPECT_EQ(last_version(), "8");
  watch_sends(Source::added(test_object("c", 9)));
  EXPECT_EQ(last_version(), "9");
}

// Case 118.
TEST_F(ReflectorTest, ADeletionMovesTheVersionOfAWatchFromNowhere) {
  list_returns({}, "");
  api_.watch_returns({Source::deleted(test_object("a", 7))});
  start();
  EXPECT_EQ(last_version(), "7");
}

// Case 118.
TEST_F(ReflectorTest, ABookmarkMovesTheVersionOfAWatchFromNowhere) {
  list_returns({}, "");
  api_.watch_returns({Source::bookmark("12")});
  start();
  EXPECT_EQ(last_version(), "12");
  EXPECT_EQ(store_.content(), "");
}

// Case 118.
TEST_F(ReflectorTest, AnAdditionMovesTheVersionOfAWatchFromSomewhere) {
  list_returns({}, "10");
  api_.watch_returns({Source::added(test_object("a", 11))});
  start();
  EXPECT_EQ(last_version(), "11");
}

// Case 119.
TEST_F(ReflectorTest, TellsTheStoreEachVersionThatItSaw) {
  list_returns({}, "10");
  api_.watch_returns({Source::added(test_object("a", 20)), Source::modified(test_object("a", 30)),
                      Source::bookmark("40")});
  start();
  EXPECT_EQ(store_.versions, "10, 20, 30, 40");
}

TEST_F(ReflectorTest, AnEventThatTheStoreRefusesDoesNotEndTheWatch) {
  list_returns({}, "1");
  auto nameless = std::make_shared<TestObject>();
  api_.watch_returns({Source::added(nameless), Source::added(test_object("a", 2))});
  start();
  EXPECT_EQ(api_.open_streams(), 1);
  EXPECT_EQ(last_version(), "2");
}

// Case 96.
TEST_F(ReflectorTest, WithoutAPeriodItNeverResyncs) {
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  loop_.pass(24h);
  EXPECT_EQ(store_.resyncs, 0);
}

// Case 96.
TEST_F(ReflectorTest, ResyncsEachPeriodHoweverShort) {
  options_.resync_period = 1us;
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  EXPECT_EQ(store_.resyncs, 0);
  loop_.pass(1us);
  EXPECT_EQ(store_.resyncs, 1);
  loop_.pass(1us);
  EXPECT_EQ(store_.resyncs, 2);
}

TEST_F(ReflectorTest, ResyncsOnlyWhenSomebodyWantsIt) {
  bool wanted = false;
  options_.resync_period = 1s;
  options_.should_resync = [&] { return wanted; };
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  loop_.pass(1s);
  EXPECT_EQ(store_.resyncs, 0);
  wanted = true;
  loop_.pass(1s);
  EXPECT_EQ(store_.resyncs, 1);
}

TEST_F(ReflectorTest, AFailedResyncIsFollowedByAList) {
  options_.resync_period = 1s;
  store_.resync_error = Error{Errc::Invalid, "broken"};
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  api_.requests();
  loop_.pass(1s);
  EXPECT_EQ(api_.open_streams(), 0);
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "list 1");
}

}  // namespace
}  // namespace mkp
