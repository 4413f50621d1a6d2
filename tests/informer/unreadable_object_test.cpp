#include <gtest/gtest.h>

#include "informer/shared_informer.h"
#include "tests/informer/delta_fifo_fixture.h"
#include "tests/informer/recording_handler.h"
#include "tests/informer/reflector_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

ObjectPtr unreadable(const std::string& key) { return std::make_shared<UnreadableObject>(key); }

TEST(UnreadableObjectTest, HasTheKeyThatCouldBeRead) {
  EXPECT_EQ(meta_namespace_key(unreadable("ns/a")), "ns/a");
  EXPECT_EQ(deletion_handling_meta_namespace_key(unreadable("ns/a")), "ns/a");
}

TEST(UnreadableObjectTest, LeavesInAStoreWhatIsKnown) {
  Indexer store;
  ASSERT_TRUE(store.replace({test_object("a", 1), test_object("b", 1)}, "1"));
  ASSERT_TRUE(store.replace({unreadable("a"), unreadable("new"), test_object("c", 2)}, "2"));
  EXPECT_EQ(sorted_text(store.list()), "a 1, c 2");
}

TEST(UnreadableObjectTest, StaysInTheIndicesOfAStore) {
  Indexer::Options options;
  options.indexers = {{kNamespaceIndex, meta_namespace_index}};
  Indexer store(options);
  ASSERT_TRUE(store.add(test_object("ns/a", 1)));
  ASSERT_TRUE(store.replace({unreadable("ns/a")}, "2"));
  EXPECT_EQ(sorted_text(*store.by_index(kNamespaceIndex, "ns")), "ns/a 1");
}

TEST(UnreadableObjectTest, ItsDeletionTakesItOutOfAStore) {
  Indexer store;
  ASSERT_TRUE(store.add(test_object("a", 1)));
  ASSERT_TRUE(store.remove(unreadable("a")));
  EXPECT_EQ(sorted_text(store.list()), "");
}

class UnreadableInQueueTest : public DeltaFifoTest {
 protected:
  void remove_unreadable(const std::string& key) { remove_object(unreadable(key)); }
};

TEST_F(UnreadableInQueueTest, IsNeitherQueuedNorTakenForADeletion) {
  known({{"a", 1}, {"gone", 1}});
  replace({unreadable("a"), unreadable("new"), test_object("b", 2)});
  EXPECT_EQ(pop_all(), "Sync b 2\nDeleted tombstone gone 1\n");
}

TEST_F(UnreadableInQueueTest, LeavesWhatIsQueued) {
  add("a", 1);
  replace({unreadable("a")});
  EXPECT_EQ(pop_all(), "Added a 1\n");
}

TEST_F(UnreadableInQueueTest, IsNotWaitedForInAnInitialList) {
  replace({unreadable("a"), test_object("b", 2)});
  EXPECT_FALSE(has_synced());
  pop();
  EXPECT_TRUE(has_synced());
}

TEST_F(UnreadableInQueueTest, AnInitialListOfNothingElseHasSyncedAtOnce) {
  replace({unreadable("a")});
  EXPECT_TRUE(has_synced());
}

TEST_F(UnreadableInQueueTest, ItsDeletionIsATombstoneOfWhatIsKnown) {
  known({{"a", 1}});
  remove_unreadable("a");
  EXPECT_EQ(pop_all(), "Deleted tombstone a 1\n");
}

TEST_F(UnreadableInQueueTest, ItsDeletionIsATombstoneOfWhatIsQueuedRatherThanKnown) {
  known({{"a", 1}});
  update("a", 2);
  remove_unreadable("a");
  EXPECT_EQ(pop_all(), "Updated a 2, Deleted tombstone a 2\n");
}

TEST_F(UnreadableInQueueTest, TheDeletionOfOneThatNobodyKnowsIsNoNews) {
  known({{"a", 1}});
  remove_unreadable("b");
  EXPECT_EQ(pop_all(), "");
}

class UnreadableEventTest : public ReflectorTest {
 protected:
  static Source::Step event(WatchEvent::Type type, const std::string& key, std::string version) {
    return std::optional(WatchEvent{type, unreadable(key), std::move(version)});
  }
};

TEST_F(UnreadableEventTest, KeepsWhatIsKnownAndMovesTheVersion) {
  list_returns({test_object("a", 1)}, "1");
  api_.watch_returns({event(WatchEvent::Type::Modified, "a", "2"),
                      event(WatchEvent::Type::Added, "b", "3"), Source::end()});
  start();
  EXPECT_EQ(store_.content(), "a 1");
  EXPECT_EQ(api_.requests(), "list 0 limit 500, watch 1, watch 3");
}

TEST_F(UnreadableEventTest, ADeletionTakesAwayWhatIsKnown) {
  options_.expects = [](const Object& object) { return object.meta() != nullptr; };
  list_returns({test_object("a", 1)}, "1");
  api_.watch_returns({event(WatchEvent::Type::Deleted, "a", "2")});
  start();
  EXPECT_EQ(store_.content(), "");
  EXPECT_EQ(last_version(), "2");
}

TEST_F(UnreadableEventTest, InAStreamingListKeepsWhatWasKnownBefore) {
  stream_lists();
  api_.watch_returns({Source::added(test_object("a", 1)), Source::added(test_object("b", 1)),
                      Source::end_of_initial_events("1"), fail(Errc::Expired, "410 Gone")});
  api_.watch_returns(
      {event(WatchEvent::Type::Added, "a", "1"), event(WatchEvent::Type::Added, "b", "1"),
       event(WatchEvent::Type::Deleted, "b", "2"), Source::added(test_object("c", 1)),
       event(WatchEvent::Type::Modified, "c", "3"), Source::end_of_initial_events("3")});
  start();
  loop_.pass(800ms);
  EXPECT_EQ(store_.content(), "a 1, c 1");
}

TEST_F(UnreadableEventTest, HandlersHearOfItsDeletionOnly) {
  RecordingHandler handler;
  SharedInformer informer(api_, clock_, SharedInformer::Options{});
  ASSERT_TRUE(informer.add_event_handler(handler));
  list_returns({test_object("a", 1), unreadable("b")}, "1");
  api_.watch_returns({event(WatchEvent::Type::Modified, "a", "2")});
  loop_.start(informer.run());
  EXPECT_TRUE(informer.has_synced());
  EXPECT_EQ(handler.heard(), "add a 1 initial");
  watch_sends(event(WatchEvent::Type::Deleted, "a", "3"));
  EXPECT_EQ(handler.heard(), "delete tombstone a 1");
  loop_.stop();
}

}  // namespace
}  // namespace mkp
