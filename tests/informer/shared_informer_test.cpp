#include "informer/shared_informer.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "informer/controller.h"
#include "tests/informer/informer_fixture.h"

namespace mkp {
namespace {

using SharedInformerTest = InformerTest;

// Case 138.
TEST_F(SharedInformerTest, TellsAdditionsUpdatesAndDeletionsAndEndsUpEmpty) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  start();
  cluster_.put("ns/a", 1);
  cluster_.put("ns/a", 2);
  cluster_.remove("ns/a");
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "add ns/a 1, update ns/a 1 -> ns/a 2, delete ns/a 2");
  EXPECT_EQ(informer_.indexer().size(), 0U);
}

// Case 139.
TEST_F(SharedInformerTest, CallsInitialOnlyWhatTheFirstListHeld) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  start();
  EXPECT_EQ(handler_.heard(), "add a 1 initial, add b 2 initial");
  cluster_.put("c", 3);
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "add c 3");
  cluster_.put("d", 4, Heard::No);
  cluster_.reset_watches();
  loop_.settle();
  pass_backoff();
  // A handler counts as syncing until the first resync, so it hears of what stayed the same, too.
  EXPECT_EQ(handler_.heard(), "update a 1 -> a 1, update b 2 -> b 2, update c 3 -> c 3, add d 4");
}

// Case 140.
TEST(ProcessDeltasTest, TheStoreDecidesBetweenAdditionAndUpdate) {
  Indexer store;
  ASSERT_TRUE(store.add(test_object("known", 1)));
  std::string told;
  const Notify notify = [&](const Notification& what, DeltaType) {
    told += what.type == Notification::Type::Add ? "add " : "update ";
    told += text(what.object) + "\n";
  };
  Deltas unknown;
  unknown.deltas.push_back(Delta{DeltaType::Updated, test_object("unknown", 2)});
  Deltas known;
  known.deltas.push_back(Delta{DeltaType::Added, test_object("known", 3)});
  ASSERT_TRUE(process_deltas(store, unknown, false, notify));
  ASSERT_TRUE(process_deltas(store, known, false, notify));
  EXPECT_EQ(told, "add unknown 2\nupdate known 3\n");
  EXPECT_EQ(sorted_text(store.list()), "known 3, unknown 2");
}

// Case 140.
TEST(ProcessDeltasTest, AStoreThatRefusesADeltaEndsItThere) {
  Indexer store;
  int told = 0;
  Deltas deltas;
  deltas.deltas.push_back(Delta{DeltaType::Added, object_without_key()});
  deltas.deltas.push_back(Delta{DeltaType::Added, test_object("a", 1)});
  EXPECT_FALSE(
      process_deltas(store, deltas, false, [&](const Notification&, DeltaType) { ++told; }));
  EXPECT_EQ(told, 0);
}

// Case 142.
TEST_F(SharedInformerTest, LearnsFromAListWhatTheWatchDidNotTell) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  cluster_.put("c", 3);
  start();
  handler_.heard();
  cluster_.put("b", 20, Heard::No);
  cluster_.put("d", 4, Heard::No);
  cluster_.remove("c", Heard::No);
  cluster_.reset_watches();
  loop_.settle();
  pass_backoff();
  EXPECT_EQ(handler_.heard(),
            "update a 1 -> a 1, update b 2 -> b 20, add d 4, delete tombstone c 3");
}

// Case 149.
TEST_F(SharedInformerTest, TellsTheWatchErrorHandlerWhyAListFailed) {
  std::string told;
  ASSERT_TRUE(informer_.set_watch_error_handler([&](const Error& error) { told = error.what; }));
  cluster_.list_fails(Error{Errc::Denied, "Access Denied"});
  start();
  EXPECT_EQ(told, "failed to list object: Access Denied");
}

// Case 157.
TEST_F(SharedInformerTest, AStopLeavesNoTaskBehindWhetherAnybodyListenedOrNot) {
  start();
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_TRUE(loop_.idle());
  EXPECT_TRUE(informer_.is_stopped());

  SharedInformer heard(cluster_, clock_, SharedInformer::Options{});
  const SharedInformer::Registration registration = heard.add_event_handler(handler_).value();
  loop_.start(heard.run());
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_TRUE(loop_.idle());
  EXPECT_TRUE(registration->is_removed());
}

// Case 160.
TEST_F(SharedInformerTest, AnIndexAddedWhileRunningAnswersAtOnce) {
  cluster_.put("ns/a", 1);
  start();
  ASSERT_TRUE(informer_.add_indexers({{kNamespaceIndex, meta_namespace_index}}));
  EXPECT_EQ(sorted_text(*informer_.indexer().by_index(kNamespaceIndex, "ns")), "ns/a 1");
}

TEST_F(SharedInformerTest, NoIndexIsAddedAfterTheStop) {
  start();
  loop_.stop();
  EXPECT_EQ(informer_.add_indexers({{kNamespaceIndex, meta_namespace_index}}).error().what,
            "indexer was not added because it has stopped already");
}

TEST_F(SharedInformerTest, HasSyncedOnceTheFirstListIsWithTheHandlers) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  cluster_.put("a", 1);
  EXPECT_FALSE(informer_.has_synced());
  start();
  EXPECT_TRUE(informer_.has_synced());
  EXPECT_EQ(informer_.last_sync_resource_version(), "1");
}

TEST_F(SharedInformerTest, AnEmptyClusterIsSyncedToo) {
  start();
  EXPECT_TRUE(informer_.has_synced());
}

// Case 163.
TEST_F(SharedInformerTest, WhoWaitsForTheSyncOfAnInformerThatStopsLearnsThatThereIsNone) {
  std::optional<bool> synced;
  std::vector<const SyncLatch*> latches = {&informer_.synced()};
  const auto wait = [](std::vector<const SyncLatch*> of,
                       std::optional<bool>* answer) -> asio::awaitable<void> {
    *answer = co_await wait_for_cache_sync(std::move(of));
  };
  cluster_.list_fails(Error{Errc::Denied, "no"});
  loop_.start_aside(wait(latches, &synced));
  start();
  EXPECT_EQ(synced, std::nullopt);
  loop_.stop();
  EXPECT_EQ(synced, false);
}

TEST_F(SharedInformerTest, HasSomethingPendingUntilTheHandlersKnowIt) {
  std::vector<bool> pending;
  ResourceEventHandlerFuncs::Functions functions;
  functions.add = [&](const ObjectPtr&, bool) { pending.push_back(informer_.has_pending()); };
  ResourceEventHandlerFuncs handler(std::move(functions));
  ASSERT_TRUE(informer_.add_event_handler(handler));
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  start();
  EXPECT_EQ(pending, (std::vector<bool>{true, false}));
  EXPECT_FALSE(informer_.has_pending());
}

TEST_F(SharedInformerTest, ASecondRunReturnsAtOnce) {
  start();
  TestLoop second(clock_);
  second.start(informer_.run());
  EXPECT_TRUE(second.ended());
  EXPECT_FALSE(informer_.is_stopped());
}

TEST_F(SharedInformerTest, StoresAndTellsWhatTheTransformerMakes) {
  ASSERT_TRUE(informer_.set_transform([](const ObjectPtr& object) -> Result<ObjectPtr> {
    return test_object(object->meta()->name, 100);
  }));
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  cluster_.put("a", 1);
  start();
  EXPECT_EQ(handler_.heard(), "add a 100 initial");
  EXPECT_EQ(sorted_text(informer_.indexer().list()), "a 100");
}

TEST_F(SharedInformerTest, TakesNoTransformerAndNoErrorHandlerOnceStarted) {
  start();
  EXPECT_EQ(informer_.set_transform(nullptr).error().what, "informer has already started");
  EXPECT_EQ(informer_.set_watch_error_handler(nullptr).error().what,
            "informer has already started");
}

}  // namespace
}  // namespace mkp
