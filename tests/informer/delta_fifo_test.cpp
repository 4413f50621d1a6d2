#include "informer/delta_fifo.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/informer/delta_fifo_fixture.h"

namespace mkp {
namespace {

// Case 42.
TEST_F(DeltaFifoTest, AnObservedDeletionNeedsNoTombstone) {
  add("foo", 1);
  remove("foo", 1);
  replace({});
  EXPECT_EQ(pop_all(), "Added foo 1, Deleted foo 1\n");
}

// Case 46.
TEST_F(DeltaFifoTest, ListsTheNewestOfEachKeyUntilItIsPopped) {
  add("foo", 10);
  update("foo", 12);
  remove("foo", 15);
  EXPECT_EQ(sorted_text(queue_->list()), "foo 15");
  EXPECT_EQ(sorted_text(queue_->list_keys()), "foo");
  EXPECT_EQ(pop_newest(*queue_), "foo 15");
  EXPECT_FALSE(queue_->get(test_object("foo")));
}

// Case 47.
TEST_F(DeltaFifoTest, TransformsEachObjectOnceAndTombstonesNever) {
  std::map<ObjectPtr, int> transformations;
  transform([&](const ObjectPtr& object) -> Result<ObjectPtr> {
    ++transformations[object];
    return object;
  });
  add("foo", 10);
  add("bar", 11);
  update("foo", 12);
  remove("foo", 15);
  replace({});
  add("bar", 16);
  replace({});
  EXPECT_EQ(queue_->list_keys(), (std::vector<std::string>{"foo", "bar"}));
  const ObjectPtr foo = queue_->get_by_key("foo")->newest()->object;
  const ObjectPtr bar = queue_->get_by_key("bar")->newest()->object;
  EXPECT_EQ(text(foo), "foo 15");
  EXPECT_EQ(transformations[foo], 1);
  EXPECT_EQ(text(bar), "tombstone bar 16");
  EXPECT_EQ(transformations[dynamic_cast<const DeletedFinalStateUnknown&>(*bar).object], 1);
  EXPECT_FALSE(transformations.contains(bar));
}

TEST_F(DeltaFifoTest, QueuesWhatTheTransformerMakes) {
  transform([](const ObjectPtr& object) -> Result<ObjectPtr> {
    return test_object("foo", dynamic_cast<const TestObject&>(*object).value * 10);
  });
  known({{"foo", 5}});
  add("foo", 1);
  replace({test_object("foo", 2)});
  EXPECT_EQ(pop_all(), "Added foo 10, Sync foo 20\n");
  // What the consumer has was transformed on its way there.
  ASSERT_TRUE(queue_->resync());
  EXPECT_EQ(pop_all(), "Sync foo 5\n");
}

// Case 48.
TEST_F(DeltaFifoTest, AFailedTransformationQueuesNothing) {
  transform([](const ObjectPtr&) -> Result<ObjectPtr> { return fail(Errc::Invalid, "no"); });
  EXPECT_EQ(queue_->add(test_object("foo")).error(), (Error{Errc::Invalid, "no"}));
  EXPECT_TRUE(queue_->empty());
}

// Case 49.
TEST_F(DeltaFifoTest, WithoutKnownObjectsADeletionIsNewsOnlyOfWhatIsQueued) {
  add("foo", 10);
  update("bar", 15);
  add("qux", 17);
  remove("qux", 18);
  remove("baz", 20);
  EXPECT_EQ(pop_newest(*queue_), "foo 10");
  EXPECT_EQ(pop_newest(*queue_), "bar 15");
  EXPECT_EQ(pop_newest(*queue_), "qux 18");
  EXPECT_EQ(pop_newest(*queue_), "empty");
}

// Case 50.
TEST_F(DeltaFifoTest, TheDeletionOfAKnownObjectIsNews) {
  known({{"foo", 5}, {"bar", 6}, {"baz", 7}});
  add("foo", 10);
  update("bar", 15);
  remove("baz", 20);
  EXPECT_EQ(pop_newest(*queue_), "foo 10");
  EXPECT_EQ(pop_newest(*queue_), "bar 15");
  EXPECT_EQ(pop_newest(*queue_), "baz 20");
}

TEST_F(DeltaFifoTest, TheDeletionOfWhatNobodyKnowsIsNoNews) {
  known({{"foo", 5}});
  remove("bar", 6);
  EXPECT_TRUE(queue_->empty());
}

// Case 51.
TEST_F(DeltaFifoTest, ADeletionIsQueuedWhenTheKnownObjectsCannotSay) {
  known({});
  known_.fail_on("x");
  remove("x", 1);
  EXPECT_EQ(pop_all(), "Deleted x 1\n");
}

// Case 57.
TEST_F(DeltaFifoTest, ADeletionComesAfterAnAdditionThatNobodyPopped) {
  known({});
  add("foo", 5);
  remove("foo", 6);
  EXPECT_EQ(pop_all(), "Added foo 5, Deleted foo 6\n");
}

// Case 68.
TEST_F(DeltaFifoTest, TheKeyOfDeltasIsThatOfTheNewest) {
  const auto deltas_of = [](ObjectPtr object) {
    auto deltas = std::make_shared<Deltas>();
    deltas->deltas.push_back(Delta{DeltaType::Added, test_object("older")});
    deltas->deltas.push_back(Delta{DeltaType::Deleted, std::move(object)});
    return deltas;
  };
  EXPECT_EQ(queue_->key_of(test_object("a")), "a");
  EXPECT_EQ(queue_->key_of(tombstone("b")), "b");
  EXPECT_EQ(queue_->key_of(deltas_of(test_object("c"))), "c");
  EXPECT_EQ(queue_->key_of(deltas_of(tombstone("d"))), "d");
}

// Case 68.
TEST_F(DeltaFifoTest, EmptyDeltasHaveNoKey) {
  const Result<std::string> key = queue_->key_of(std::make_shared<Deltas>());
  ASSERT_FALSE(key);
  EXPECT_TRUE(key.error().what.ends_with("0 length Deltas object; can't get key"));
}

// Case 71.
TEST_F(DeltaFifoTest, OfTwoObservedDeletionsTheFirstStays) {
  known({{"foo", 1}});
  remove("foo", 1);
  remove("foo", 2);
  EXPECT_EQ(pop_all(), "Deleted foo 1\n");
}

// Case 71.
TEST_F(DeltaFifoTest, AnObservedDeletionReplacesATombstone) {
  known({{"foo", 1}});
  ASSERT_TRUE(queue_->remove(tombstone("foo")));
  remove("foo", 2);
  EXPECT_EQ(pop_all(), "Deleted foo 2\n");
}

// Case 71.
TEST_F(DeltaFifoTest, ATombstoneDoesNotReplaceAnObservedDeletion) {
  known({{"foo", 1}});
  remove("foo", 2);
  ASSERT_TRUE(queue_->remove(tombstone("foo")));
  EXPECT_EQ(pop_all(), "Deleted foo 2\n");
}

// Case 73.
TEST_F(DeltaFifoTest, AddIfNotPresentTakesDeltasOnly) {
  EXPECT_EQ(queue_->add_if_not_present(test_object("a")).error().what,
            "object must be of type deltas, but got: a");
  EXPECT_FALSE(queue_->add_if_not_present(std::make_shared<Deltas>()));
  EXPECT_FALSE(queue_->has_synced());
}

// Case 73.
TEST_F(DeltaFifoTest, AddIfNotPresentMakesAQueueThatHasBegun) {
  auto deltas = std::make_shared<Deltas>();
  deltas->deltas.push_back(Delta{DeltaType::Added, test_object("a", 1)});
  ASSERT_TRUE(queue_->add_if_not_present(deltas));
  EXPECT_TRUE(queue_->has_synced());
  EXPECT_EQ(pop_all(), "Added a 1\n");
}

// Case 74.
TEST_F(DeltaFifoTest, WhatWasGotDoesNotChangeWithTheQueue) {
  add("foo", 1);
  const std::optional<Deltas> by_key = queue_->get_by_key("foo");
  const std::optional<Deltas> by_object = queue_->get(test_object("foo"));
  add("foo", 2);
  EXPECT_EQ(text(*by_key), "Added foo 1");
  EXPECT_EQ(text(*by_object), "Added foo 1");
}

// Case 76.
TEST_F(DeltaFifoTest, EmptyDeltasHaveNeitherOldestNorNewest) {
  const Deltas none;
  EXPECT_EQ(none.oldest(), nullptr);
  EXPECT_EQ(none.newest(), nullptr);
}

TEST_F(DeltaFifoTest, AnObjectWithoutKeyIsRefused) {
  EXPECT_FALSE(queue_->remove(object_without_key()));
  EXPECT_FALSE(queue_->has_synced());
  EXPECT_FALSE(queue_->add(object_without_key()));
  EXPECT_TRUE(queue_->empty());
}

}  // namespace
}  // namespace mkp
