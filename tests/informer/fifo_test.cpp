#include "informer/fifo.h"

#include <gtest/gtest.h>

#include "tests/informer/queue_driver.h"

namespace mkp {
namespace {

// Case 30.
TEST(FifoTest, ADeletedObjectOfTheInitialListIsNotWaitedFor) {
  Fifo queue;
  ASSERT_TRUE(queue.replace({test_object("a", 1), test_object("b", 2)}, "0"));
  ASSERT_TRUE(queue.remove(test_object("a")));
  EXPECT_EQ(pop_text(queue), "b 2");
  EXPECT_TRUE(queue.has_synced());
}

// Case 36.
TEST(FifoTest, AnObjectWithoutKeyLeavesTheQueueUntouched) {
  Fifo queue;
  const Result<> added = queue.add(object_without_key());
  ASSERT_FALSE(added);
  EXPECT_TRUE(added.error().what.starts_with("couldn't create key for object"));
  EXPECT_FALSE(queue.remove(object_without_key()));
  EXPECT_FALSE(queue.add_if_not_present(object_without_key()));
  EXPECT_FALSE(queue.replace({test_object("a", 1), object_without_key()}, "0"));
  EXPECT_FALSE(queue.has_synced());
  EXPECT_TRUE(queue.empty());
}

// Case 37.
TEST(FifoTest, AnObjectDeletedAndAddedAgainIsPoppedOnce) {
  Fifo queue;
  ASSERT_TRUE(queue.add(test_object("x", 1)));
  ASSERT_TRUE(queue.remove(test_object("x")));
  ASSERT_TRUE(queue.add(test_object("x", 2)));
  EXPECT_EQ(pop_text(queue), "x 2");
  EXPECT_EQ(pop_text(queue), "empty");
}

TEST(FifoTest, ReplaceForgetsWhatWasQueued) {
  Fifo queue;
  ASSERT_TRUE(queue.add(test_object("old", 1)));
  ASSERT_TRUE(queue.replace({test_object("new", 2)}, "0"));
  EXPECT_EQ(sorted_text(queue.list()), "new 2");
  EXPECT_EQ(pop_text(queue), "new 2");
  EXPECT_EQ(pop_text(queue), "empty");
}

TEST(FifoTest, ResyncFindsNothingToQueue) {
  Fifo queue;
  ASSERT_TRUE(queue.add(test_object("a", 1)));
  ASSERT_TRUE(queue.resync());
  EXPECT_EQ(pop_text(queue), "a 1");
  EXPECT_EQ(pop_text(queue), "empty");
}

TEST(FifoTest, GetGivesWhatIsQueued) {
  Fifo queue;
  ASSERT_TRUE(queue.add(test_object("a", 1)));
  EXPECT_EQ(text(*queue.get(test_object("a"))), "a 1");
  EXPECT_EQ(*queue.get(test_object("b")), nullptr);
}

}  // namespace
}  // namespace mkp
