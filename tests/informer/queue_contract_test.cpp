#include "informer/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/informer/queue_driver.h"

namespace mkp {
namespace {

// What holds for a queue whether it keeps the latest object of each key or all of its deltas.
template <class Q>
class QueueContractTest : public testing::Test {
 protected:
  using QueueItem = std::conditional_t<std::is_same_v<Q, Fifo>, ObjectPtr, Deltas>;

  void add(const std::string& key, int value) { ASSERT_TRUE(queue_.add(test_object(key, value))); }
  void replace(std::vector<ObjectPtr> objects) {
    ASSERT_TRUE(queue_.replace(std::move(objects), "0"));
  }
  std::string pop() { return pop_newest<QueueItem>(queue_); }
  ObjectPtr as_item(const std::string& key, int value);

  Q queue_;
};

template <>
ObjectPtr QueueContractTest<Fifo>::as_item(const std::string& key, int value) {
  return test_object(key, value);
}

template <>
ObjectPtr QueueContractTest<DeltaFifo>::as_item(const std::string& key, int value) {
  auto deltas = std::make_shared<Deltas>();
  deltas->deltas.push_back(Delta{DeltaType::Added, test_object(key, value)});
  return deltas;
}

using Queues = testing::Types<Fifo, DeltaFifo>;
TYPED_TEST_SUITE(QueueContractTest, Queues);

// Cases 25 and 38.
TYPED_TEST(QueueContractTest, TwoProducersObjectsArriveInTheOrderOfEach) {
  using Item = typename TestFixture::QueueItem;
  constexpr int kEach = 500;
  const auto produce = [this](std::string prefix) {
    for (int i = 0; i < kEach; ++i) this->add(prefix + std::to_string(i), i);
  };
  std::thread first(produce, "a");
  std::thread second(produce, "b");
  std::map<char, std::vector<int>> arrived;
  for (int i = 0; i < 2 * kEach; ++i) {
    const auto popped = this->queue_.pop(done<Item>);
    const ObjectPtr object = newest_of(popped->item);
    arrived[object->meta()->name.front()].push_back(dynamic_cast<const TestObject&>(*object).value);
  }
  first.join();
  second.join();
  EXPECT_EQ(arrived['a'].size() + arrived['b'].size(), 2U * kEach);
  EXPECT_TRUE(std::is_sorted(arrived['a'].begin(), arrived['a'].end()));
  EXPECT_TRUE(std::is_sorted(arrived['b'].begin(), arrived['b'].end()));
}

// Case 26.
TYPED_TEST(QueueContractTest, AnUpdateBeforeThePopIsWhatThePopGives) {
  this->add("foo", 10);
  ASSERT_TRUE(this->queue_.update(test_object("foo", 15)));
  EXPECT_EQ(this->pop(), "foo 15");
  EXPECT_EQ(this->pop(), "empty");
  EXPECT_FALSE(this->queue_.get_by_key("foo"));
}

// Cases 27 and 52.
TYPED_TEST(QueueContractTest, AReplacementBeforeThePopIsWhatThePopGives) {
  this->add("foo", 10);
  this->replace({test_object("foo", 15)});
  EXPECT_EQ(this->pop(), "foo 15");
  EXPECT_EQ(this->pop(), "empty");
}

// Cases 28 and 67.
TYPED_TEST(QueueContractTest, NobodyJumpsTheLine) {
  this->add("foo", 10);
  this->add("bar", 1);
  this->add("foo", 11);
  this->add("foo", 13);
  this->add("zab", 30);
  EXPECT_EQ(this->pop(), "foo 13");
  this->add("foo", 14);
  EXPECT_EQ(this->pop(), "bar 1");
  EXPECT_EQ(this->pop(), "zab 30");
  EXPECT_EQ(this->pop(), "foo 14");
}

// Cases 29 and 69.
TYPED_TEST(QueueContractTest, AQueueThatNothingCameToHasNotSynced) {
  EXPECT_FALSE(this->queue_.has_synced());
}

// Cases 29 and 69.
TYPED_TEST(QueueContractTest, AQueueThatBeginsWithAnAdditionHasSynced) {
  this->add("a", 1);
  EXPECT_TRUE(this->queue_.has_synced());
}

// Cases 29 and 69.
TYPED_TEST(QueueContractTest, AnEmptyInitialListHasSyncedAtOnce) {
  this->replace({});
  EXPECT_TRUE(this->queue_.has_synced());
}

// Cases 29 and 69.
TYPED_TEST(QueueContractTest, AnInitialListOfTwoHasSyncedAfterTwoPops) {
  this->replace({test_object("a", 1), test_object("b", 2)});
  EXPECT_FALSE(this->queue_.has_synced());
  this->pop();
  EXPECT_FALSE(this->queue_.has_synced());
  this->pop();
  EXPECT_TRUE(this->queue_.has_synced());
}

// Case 69.
TYPED_TEST(QueueContractTest, AKeyListedTwiceIsWaitedForOnce) {
  this->replace({test_object("a", 1), test_object("a", 2)});
  EXPECT_FALSE(this->queue_.has_synced());
  EXPECT_EQ(this->pop(), "a 2");
  EXPECT_TRUE(this->queue_.has_synced());
}

// Cases 31 and 70.
TYPED_TEST(QueueContractTest, ClosingSendsAllWaitingPopsHome) {
  using Item = typename TestFixture::QueueItem;
  std::vector<std::string> ends(10);
  std::vector<std::thread> consumers;
  for (std::string& end : ends) {
    consumers.emplace_back([&] { end = this->queue_.pop(done<Item>).error().what; });
  }
  this->queue_.close();
  for (std::thread& consumer : consumers) consumer.join();
  EXPECT_THAT(ends, testing::Each(std::string(kFifoClosed)));
}

// Case 32.
TYPED_TEST(QueueContractTest, AClosedQueueStillGivesWhatItHolds) {
  this->add("a", 1);
  this->queue_.close();
  EXPECT_TRUE(this->queue_.is_closed());
  this->add("b", 2);
  EXPECT_EQ(this->pop(), "a 1");
  EXPECT_EQ(this->pop(), "b 2");
  EXPECT_EQ(this->pop(), kFifoClosed);
}

// Cases 33 and 72.
TYPED_TEST(QueueContractTest, ARequeuedItemComesAgainAtTheTail) {
  using Item = typename TestFixture::QueueItem;
  this->add("a", 1);
  ASSERT_TRUE(this->queue_.update(test_object("a", 2)));
  this->add("b", 3);
  const std::string whole = text_of(*this->queue_.get_by_key("a"));
  const auto popped =
      this->queue_.try_pop([](const Item&, bool) -> Processed { return Requeue(); });
  EXPECT_TRUE((*popped)->outcome);
  EXPECT_EQ(this->pop(), "b 3");
  EXPECT_EQ(pop_text<Item>(this->queue_), whole);
  EXPECT_EQ(this->pop(), "empty");
}

// Case 34.
TYPED_TEST(QueueContractTest, ARequeueWithACauseFailsWithIt) {
  using Item = typename TestFixture::QueueItem;
  this->add("a", 1);
  const Error cause{Errc::Unavailable, "later"};
  const auto popped =
      this->queue_.try_pop([&](const Item&, bool) -> Processed { return Requeue(cause); });
  EXPECT_EQ((*popped)->outcome.error(), cause);
  EXPECT_EQ(this->pop(), "a 1");
}

// Cases 33 and 34.
TYPED_TEST(QueueContractTest, ARequeueSaysWhyAsItsCauseDoes) {
  EXPECT_EQ(to_text(Requeue(Error{Errc::Invalid, "later"})), "later");
  EXPECT_EQ(to_text(Requeue()), "the popped item should be requeued without returning an error");
}

// Cases 35 and 73.
TYPED_TEST(QueueContractTest, AddIfNotPresentLeavesAloneWhatIsQueued) {
  this->add("a", 1);
  this->add("b", 2);
  ASSERT_TRUE(this->queue_.add_if_not_present(this->as_item("a", 3)));
  ASSERT_TRUE(this->queue_.add_if_not_present(this->as_item("c", 4)));
  EXPECT_EQ(this->pop(), "a 1");
  EXPECT_EQ(this->pop(), "b 2");
  EXPECT_EQ(this->pop(), "c 4");
}

TYPED_TEST(QueueContractTest, AnItemThatCouldNotBeProcessedIsGone) {
  using Item = typename TestFixture::QueueItem;
  this->add("a", 1);
  const auto popped = this->queue_.try_pop(
      [](const Item&, bool) -> Processed { return fail(Errc::Invalid, "broken"); });
  EXPECT_EQ((*popped)->outcome.error().what, "broken");
  EXPECT_EQ(this->pop(), "empty");
}

TYPED_TEST(QueueContractTest, TellsItsConsumerOutsideTheLockThatSomethingWasQueued) {
  std::vector<std::string> queued;
  this->queue_.on_queued([&] { queued.push_back(sorted_text(this->queue_.list_keys())); });
  this->add("a", 1);
  this->replace({test_object("a", 1), test_object("b", 2)});
  EXPECT_EQ(queued, (std::vector<std::string>{"a", "a, b"}));
}

TYPED_TEST(QueueContractTest, IsEmptyOnceAllIsPopped) {
  EXPECT_TRUE(this->queue_.empty());
  this->add("a", 1);
  EXPECT_FALSE(this->queue_.empty());
  this->pop();
  EXPECT_TRUE(this->queue_.empty());
}

}  // namespace
}  // namespace mkp
