#include <gtest/gtest.h>

#include "informer/delta_fifo.h"
#include "tests/informer/delta_fifo_fixture.h"

namespace mkp {
namespace {

using DeltaFifoReplaceTest = DeltaFifoTest;

// Case 39.
TEST_F(DeltaFifoReplaceTest, AnObjectListedAgainAfterItsDeletionComesAfterTheDeletion) {
  known({{"foo", 1}});
  remove("foo", 1);
  replace({test_object("foo", 2)});
  EXPECT_EQ(pop_all(), "Deleted foo 1, Sync foo 2\n");
}

// Case 40.
TEST_F(DeltaFifoReplaceTest, WhatIsQueuedAndNotListedIsDeletedAlthoughNothingIsKnown) {
  known({});
  add("foo", 2);
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 2, Deleted tombstone foo 2\n");
}

// Case 40.
TEST_F(DeltaFifoReplaceTest, WhatIsQueuedAndNotListedIsDeletedWithoutKnownObjects) {
  add("foo", 2);
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 2, Deleted tombstone foo 2\n");
}

// Case 41.
TEST_F(DeltaFifoReplaceTest, SaysReplacedWhenToldTo) {
  emit_replaced();
  add("foo", 1);
  replace({test_object("foo", 2)});
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 1, Replaced foo 2, Deleted tombstone foo 2\n");
}

// Case 43.
TEST_F(DeltaFifoReplaceTest, EachListLeavesItsDelta) {
  add("foo", 1);
  replace({test_object("foo", 2)});
  replace({test_object("foo", 3)});
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 1, Sync foo 2, Sync foo 3, Deleted tombstone foo 3\n");
}

// Case 44.
TEST_F(DeltaFifoReplaceTest, TwoEmptyListsLeaveOneTombstoneThatHoldsNoOther) {
  add("foo", 1);
  replace({});
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 1, Deleted tombstone foo 1\n");
}

// Case 45.
TEST_F(DeltaFifoReplaceTest, ATombstoneHoldsTheStateAfterTheLastReturn) {
  add("foo", 2);
  remove("foo", 2);
  add("foo", 3);
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 2, Deleted foo 2, Added foo 3, Deleted tombstone foo 3\n");
}

// Case 58.
TEST_F(DeltaFifoReplaceTest, KnownObjectsThatAreNotListedAreDeletedOnce) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  remove("baz", 10);
  replace({test_object("foo", 5)});
  EXPECT_EQ(pop_all(), "Deleted baz 10\nSync foo 5\nDeleted tombstone bar 6\n");
}

// Case 59.
TEST_F(DeltaFifoReplaceTest, ATombstoneHoldsWhatIsQueuedRatherThanWhatIsKnown) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  add("baz", 10);
  replace({test_object("foo", 5)});
  EXPECT_EQ(pop_all(),
            "Added baz 10, Deleted tombstone baz 10\n"
            "Sync foo 5\n"
            "Deleted tombstone bar 6\n");
}

// Case 60.
TEST_F(DeltaFifoReplaceTest, AnObjectThatCameBackAndIsNotListedIsDeletedAgain) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  remove("bar", 6);
  add("bar", 100);
  replace({test_object("foo", 5)});
  EXPECT_EQ(pop_all(),
            "Deleted bar 6, Added bar 100, Deleted tombstone bar 100\n"
            "Sync foo 5\n"
            "Deleted tombstone baz 7\n");
}

// Case 61.
TEST_F(DeltaFifoReplaceTest, WhatOnlyTheEarlierListHeldIsDeleted) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  replace({test_object("bar", 100), test_object("foo", 5)});
  replace({test_object("foo", 5)});
  EXPECT_EQ(pop_all(),
            "Sync bar 100, Deleted tombstone bar 100\n"
            "Sync foo 5, Sync foo 5\n"
            "Deleted tombstone baz 7\n");
}

// Case 62.
TEST_F(DeltaFifoReplaceTest, WithoutKnownObjectsOnlyWhatIsQueuedCanBeMissing) {
  add("baz", 10);
  replace({test_object("foo", 5)});
  EXPECT_EQ(pop_all(), "Added baz 10, Deleted tombstone baz 10\nSync foo 5\n");
}

// Case 63.
TEST_F(DeltaFifoReplaceTest, KnownObjectsAreReplacedWhenToldToSaySo) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  emit_replaced();
  remove("baz", 10);
  replace({test_object("foo", 6)});
  EXPECT_EQ(pop_all(), "Deleted baz 10\nReplaced foo 6\nDeleted tombstone bar 6\n");
}

// Case 64.
TEST_F(DeltaFifoReplaceTest, AKnownObjectThatCannotBeLookedUpLeavesAnEmptyTombstone) {
  known({});
  known_.fail_on("bar");
  known_.deny("foo");
  replace({});
  EXPECT_EQ(pop_all(), "Deleted tombstone bar null\nDeleted tombstone foo null\n");
}

// Case 66.
TEST_F(DeltaFifoReplaceTest, HasSyncedOnceTheListAndItsDeletionsArePopped) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  replace({test_object("foo", 5)});
  std::vector<bool> initial;
  std::vector<bool> synced_before;
  const DeltaFifo::Process process = [&](const Deltas&, bool is_in_initial_list) -> Processed {
    initial.push_back(is_in_initial_list);
    return Result<>();
  };
  for (int i = 0; i < 3; ++i) {
    synced_before.push_back(queue_->has_synced());
    ASSERT_TRUE(queue_->try_pop(process));
  }
  EXPECT_EQ(initial, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(synced_before, (std::vector<bool>{false, false, false}));
  EXPECT_TRUE(queue_->has_synced());
}

// Case 75.
TEST_F(DeltaFifoReplaceTest, AnObjectWithoutKeyEndsTheListThere) {
  const Result<> replaced =
      queue_->replace({test_object("a", 1), object_without_key(), test_object("c", 3)}, "0");
  ASSERT_FALSE(replaced);
  EXPECT_TRUE(replaced.error().what.starts_with("couldn't create key for object"));
  EXPECT_FALSE(queue_->has_synced());
  EXPECT_EQ(pop_all(), "Sync a 1\n");
}

using DeltaFifoResyncTest = DeltaFifoTest;

// Case 53.
TEST_F(DeltaFifoResyncTest, DoesNotBringBackWhatIsBeingDeleted) {
  known({{"foo", 5}});
  remove("foo", 10);
  ASSERT_TRUE(queue_->resync());
  EXPECT_EQ(pop_all(), "Deleted foo 10\n");
}

// Case 54.
TEST_F(DeltaFifoResyncTest, QueuesWhatIsKnown) {
  known({{"foo", 5}});
  ASSERT_TRUE(queue_->resync());
  EXPECT_EQ(pop_all(), "Sync foo 5\n");
}

// Case 55.
TEST_F(DeltaFifoResyncTest, PassesOverWhatCannotBeLookedUp) {
  known({{"foo", 5}});
  known_.deny("denied");
  known_.fail_on("failing");
  ASSERT_TRUE(queue_->resync());
  EXPECT_EQ(pop_all(), "Sync foo 5\n");
}

// Case 56.
TEST_F(DeltaFifoResyncTest, DoesNothingWithoutKnownObjects) {
  ASSERT_TRUE(queue_->resync());
  EXPECT_TRUE(queue_->empty());
}

// Case 65.
TEST_F(DeltaFifoResyncTest, LeavesAloneWhatHasNewerDeltas) {
  known({{"foo", 5}});
  update("foo", 6);
  ASSERT_TRUE(queue_->resync());
  EXPECT_EQ(pop_all(), "Updated foo 6\n");
}

}  // namespace
}  // namespace mkp
