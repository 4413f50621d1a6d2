#include <gtest/gtest.h>

#include "informer/delta_fifo.h"
#include "informer/reflector.h"
#include "tests/informer/queue_driver.h"
#include "tests/informer/reflector_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// How the reflector lists from a source that knows no streaming lists.
class ReflectorListTest : public ReflectorTest {
 protected:
  static ObjectPtr numbered(int number) {
    return test_object("p" + std::to_string(number), number);
  }
  void watch_expires() { api_.watch_returns({fail(Errc::Expired, "410 Gone")}); }
};

// Case 100.
TEST_F(ReflectorListTest, WhatIsListedAndWatchedReachesAQueueInOrder) {
  DeltaFifo queue;
  target_ = &queue;
  list_returns({test_object("b", 1), test_object("a", 2)}, "2");
  api_.watch_returns({Source::added(test_object("c", 3)), Source::modified(test_object("d", 4))});
  start();
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 2");
  EXPECT_EQ(pop_text(queue), "Sync b 1");
  EXPECT_EQ(pop_text(queue), "Sync a 2");
  EXPECT_EQ(pop_text(queue), "Added c 3");
  EXPECT_EQ(pop_text(queue), "Updated d 4");
}

// Case 109.
TEST_F(ReflectorListTest, APageSizeOfOnesOwnHolds) {
  options_.page_size = 4;
  page_returns({numbered(0), numbered(1), numbered(2), numbered(3)}, "10", "C1");
  page_returns({numbered(4), numbered(5), numbered(6), numbered(7)}, "10", "C2");
  page_returns({numbered(8), numbered(9)}, "10", "");
  start();
  EXPECT_EQ(api_.requests(),
            "list 0 limit 4, list \"\" limit 4 continue C1, list \"\" limit 4 continue C2, "
            "watch 10");
  EXPECT_EQ(store_.content(), "p0 0, p1 1, p2 2, p3 3, p4 4, p5 5, p6 6, p7 7, p8 8, p9 9");
}

// Case 110.
TEST_F(ReflectorListTest, ListsInOnePieceFromAVersion) {
  list_returns({}, "10");
  watch_expires();
  start();
  api_.requests();
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "list 10");
}

TEST_F(ReflectorListTest, TellsOfEveryListButTheFirst) {
  int relists = 0;
  options_.on_relist = [&] { ++relists; };
  list_returns({}, "10");
  watch_expires();
  list_returns({}, "20");
  watch_expires();
  start();
  EXPECT_EQ(relists, 0);
  loop_.pass(800ms);
  EXPECT_EQ(relists, 1);
}

// Case 111.
TEST_F(ReflectorListTest, ListsInPagesForGoodFromASourceThatPagesWhatACacheCouldAnswer) {
  page_returns({numbered(1)}, "10", "C1");
  page_returns({numbered(2)}, "10", "");
  watch_expires();
  list_returns({}, "20");
  watch_expires();
  start();
  api_.requests();
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "list 10 limit 500, watch 20");
  loop_.pass(1600ms);
  EXPECT_EQ(api_.requests(), "list 20 limit 500");
}

TEST_F(ReflectorListTest, PagesOfTheNewestSayNothingOfACache) {
  list_returns({}, "10");
  watch_expires();
  api_.list_returns(fail(Errc::Expired, "410 Gone"));
  page_returns({numbered(1)}, "20", "C1");
  page_returns({numbered(2)}, "20", "");
  watch_expires();
  start();
  loop_.pass(800ms);
  api_.requests();
  loop_.pass(1600ms);
  EXPECT_EQ(api_.requests(), "list 20");
}

// Case 115.
TEST_F(ReflectorListTest, PagesThatExpireAreFollowedByAFullListOfTheSameVersion) {
  options_.page_size = 4;
  list_returns({}, "10");
  watch_expires();
  page_returns({numbered(1)}, "10", "C1");
  api_.list_returns(fail(Errc::Expired, "410 Gone"));
  list_returns({numbered(2)}, "11");
  start();
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(),
            "list 0 limit 4, watch 10, list 10 limit 4, list \"\" limit 4 continue C1, list 10, "
            "watch 11");
  EXPECT_EQ(store_.content(), "p2 2");
}

// Case 116.
TEST_F(ReflectorListTest, AVersionThatIsNotThereYetIsFollowedByAListOfTheNewest) {
  list_returns({}, "20");
  watch_expires();
  api_.list_returns(fail(Errc::Expired, "a cause says ResourceVersionTooLarge"));
  list_returns({}, "30");
  watch_expires();
  api_.list_returns(fail(Errc::Expired, "a cause says Too large resource version"));
  list_returns({}, "40");
  watch_expires();
  api_.list_returns(fail(Errc::Expired, "Timeout: Too large resource version: 40, current: 3"));
  start();
  loop_.pass(800ms);
  loop_.pass(1600ms);
  loop_.pass(3200ms);
  EXPECT_EQ(api_.requests(),
            "list 0 limit 500, watch 20, list 20, list \"\", watch 30, list 30, list \"\", "
            "watch 40, list 40, list \"\"");
}

// Case 117.
TEST_F(ReflectorListTest, WatchesLastBetweenFiveAndTenMinutes) {
  double random = 0.0;
  options_.random = [&] { return random; };
  list_returns({}, "1");
  api_.watch_returns({});
  start();
  random = 0.9999;
  api_.watch_returns({});
  watch_ends();
  EXPECT_EQ(api_.watch_timeouts(), (std::vector<std::chrono::seconds>{300s, 599s}));
}

// Case 117.
TEST_F(ReflectorListTest, WatchesLastAtLeastAsLongAsToldAndUpToTwiceThat) {
  options_.min_watch_timeout = 10min;
  options_.random = [] { return 0.5; };
  list_returns({}, "1");
  start();
  EXPECT_EQ(api_.watch_timeouts(), (std::vector<std::chrono::seconds>{900s}));
}

// Case 117.
TEST_F(ReflectorListTest, WatchesOfLessThanFiveMinutesAreNotAskedFor) {
  options_.min_watch_timeout = 1min;
  options_.random = [] { return 0.0; };
  list_returns({}, "1");
  start();
  EXPECT_EQ(api_.watch_timeouts(), (std::vector<std::chrono::seconds>{300s}));
}

// Case 120.
TEST_F(ReflectorListTest, WhatTheStorageLostIsGoneAfterTheListThatFollowsAReadError) {
  list_returns({test_object("lost", 1), test_object("kept", 1)}, "1");
  api_.watch_returns({fail(Errc::Invalid, "StorageReadError: data from the storage is invalid")});
  list_returns({test_object("kept", 1)}, "2");
  start();
  EXPECT_EQ(store_.content(), "kept 1, lost 1");
  loop_.pass(800ms);
  EXPECT_EQ(store_.content(), "kept 1");
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, list 1, watch 2");
}

// A store with a transformer: case 121.
class ReflectorTransformTest : public ReflectorTest {
 protected:
  void transform(Transformer transformer) {
    Indexer::Options options;
    options.transformer = std::move(transformer);
    indexer_ = std::make_unique<Indexer>(std::move(options));
    target_ = indexer_.get();
  }
  static Result<ObjectPtr> hundredfold(const ObjectPtr& object) {
    return test_object(object->meta()->name, 100);
  }
  static Result<ObjectPtr> refuse(const ObjectPtr&) { return fail(Errc::Invalid, "cannot"); }

  std::string content() const { return sorted_text(indexer_->list()); }

  std::unique_ptr<Indexer> indexer_;
};

// Case 121.
TEST_F(ReflectorTransformTest, StoresWhatItMakesOfAList) {
  transform(hundredfold);
  list_returns({test_object("a", 1)}, "1");
  start();
  EXPECT_EQ(content(), "a 100");
}

// Case 121.
TEST_F(ReflectorTransformTest, StoresWhatItMakesOfAStreamingList) {
  transform(hundredfold);
  stream_lists();
  api_.watch_returns({Source::added(test_object("a", 1)), Source::end_of_initial_events("2")});
  start();
  EXPECT_EQ(content(), "a 100");
  EXPECT_EQ(api_.requests(), "watch \"\" initial");
}

// Case 121.
TEST_F(ReflectorTransformTest, AFailureOfItIsThatOfTheList) {
  transform(refuse);
  list_returns({test_object("a", 1)}, "1");
  start();
  EXPECT_EQ(watch_error_, "unable to sync list result: transforming: cannot");
}

// Case 121.
TEST_F(ReflectorTransformTest, AFailureOfItIsThatOfTheStreamingListAndOfTheListAfterIt) {
  transform(refuse);
  stream_lists();
  api_.watch_returns({Source::added(test_object("a", 1)), Source::end_of_initial_events("2")});
  list_returns({test_object("a", 1)}, "2");
  start();
  EXPECT_EQ(api_.requests(), "watch \"\" initial, list 0 limit 500");
  EXPECT_EQ(watch_error_, "unable to sync list result: transforming: cannot");
}

// Case 108.
TEST_F(ReflectorListTest, EachAttemptResyncsAgainUntilAResyncFails) {
  options_.resync_period = 1s;
  store_.resync_error = Error{Errc::Invalid, "broken"};
  list_returns({}, "1");
  api_.watch_returns({});
  list_returns({}, "2");
  api_.watch_returns({});
  start();
  loop_.pass(1s);
  EXPECT_EQ(store_.resyncs, 1);
  loop_.pass(800ms);
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, list 1, watch 2");
  loop_.pass(1s);
  EXPECT_EQ(store_.resyncs, 2);
  EXPECT_EQ(api_.open_streams(), 0);
}

}  // namespace
}  // namespace mkp
