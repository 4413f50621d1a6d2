#include "informer/indexer.h"

#include <gtest/gtest.h>

#include "informer/undelta_store.h"
#include "tests/fakes/test_object.h"

namespace mkp {
namespace {

// Ten times the value, as a transformer that anybody can see at work.
Result<ObjectPtr> tenfold(const ObjectPtr& object) {
  const auto& plain = dynamic_cast<const TestObject&>(*object);
  return test_object(plain.metadata.name, plain.value * 10);
}

// Case 7.
TEST(StoreTest, HoldsTheLatestOfEachKeyUntilItIsDeleted) {
  Indexer store;
  ASSERT_TRUE(store.add(test_object("a", 1)));
  ASSERT_TRUE(store.update(test_object("a", 2)));
  EXPECT_EQ(text(*store.get(test_object("a"))), "a 2");
  ASSERT_TRUE(store.remove(test_object("a")));
  EXPECT_EQ(*store.get(test_object("a")), nullptr);
  EXPECT_TRUE(store.remove(test_object("a")));
}

TEST(StoreTest, DeletesByTombstone) {
  Indexer store;
  ASSERT_TRUE(store.add(test_object("a", 1)));
  ASSERT_TRUE(store.remove(tombstone("a")));
  EXPECT_EQ(store.size(), 0U);
}

TEST(StoreTest, RefusesWhatHasNoKey) {
  Indexer store;
  EXPECT_FALSE(store.add(object_without_key()));
  EXPECT_FALSE(store.remove(object_without_key()));
  EXPECT_FALSE(store.get(object_without_key()));
}

// Case 8.
TEST(StoreTest, ReplaceLeavesExactlyTheNewList) {
  Indexer store;
  ASSERT_TRUE(store.replace({test_object("a", 1), test_object("b", 1)}, "1"));
  ASSERT_TRUE(store.replace({test_object("b", 2), test_object("c", 2)}, "2"));
  EXPECT_EQ(sorted_text(store.list()), "b 2, c 2");
  EXPECT_EQ(sorted_text(store.list_keys()), "b, c");
}

// Case 9.
TEST(StoreTest, ReplaceWithAnObjectWithoutKeyChangesNothing) {
  Indexer store;
  ASSERT_TRUE(store.replace({test_object("a", 1)}, "1"));
  const Result<> replaced = store.replace({test_object("b", 2), object_without_key()}, "2");
  ASSERT_FALSE(replaced);
  EXPECT_TRUE(replaced.error().what.starts_with("couldn't create key for object"));
  EXPECT_EQ(sorted_text(store.list()), "a 1");
  EXPECT_EQ(store.last_store_sync_resource_version(), "1");
}

// Case 10.
TEST(StoreTest, StoresWhatTheTransformerMakesUnderTheKeyOfTheOriginal) {
  const Transformer renamed = [](const ObjectPtr& object) -> Result<ObjectPtr> {
    return test_object("transformed", dynamic_cast<const TestObject&>(*object).value * 10);
  };
  Indexer store(Indexer::Options{.transformer = renamed});
  ASSERT_TRUE(store.replace({test_object("a", 1)}, "1"));
  EXPECT_EQ(text(*store.get_by_key("a")), "transformed 10");
  ASSERT_TRUE(store.add(test_object("b", 2)));
  EXPECT_EQ(text(*store.get_by_key("b")), "transformed 20");
  ASSERT_TRUE(store.update(test_object("b", 3)));
  EXPECT_EQ(text(*store.get_by_key("b")), "transformed 30");
}

// Case 11.
TEST(StoreTest, AFailedTransformationLeavesTheStoreAsItWas) {
  const Transformer moody = [](const ObjectPtr& object) -> Result<ObjectPtr> {
    if (dynamic_cast<const TestObject&>(*object).value > 1) return fail(Errc::Invalid, "no");
    return tenfold(object);
  };
  Indexer store(Indexer::Options{.transformer = moody});
  ASSERT_TRUE(store.add(test_object("a", 1)));
  const Result<> updated = store.update(test_object("a", 2));
  ASSERT_FALSE(updated);
  EXPECT_EQ(updated.error(), (Error{Errc::Invalid, "transforming: no"}));
  EXPECT_EQ(sorted_text(store.list()), "a 10");
}

// Case 22.
TEST(StoreTest, ATransactionAppliesWhatHasAKeyAndNamesWhatWasApplied) {
  using Type = TransactionEntry::Type;
  Indexer store;
  const std::optional<TransactionError> error =
      store.transaction({TransactionEntry{Type::Add, test_object("a", 1)},
                         TransactionEntry{Type::Add, object_without_key()},
                         TransactionEntry{Type::Update, test_object("c", 3)}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->successful_indices, (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(to_text(*error).starts_with(
      "failed to execute (1/3) transactions failed due to: couldn't create key"));
  EXPECT_EQ(sorted_text(store.list()), "a 1, c 3");
}

TEST(StoreTest, ATransactionThatWentWellReportsNothing) {
  using Type = TransactionEntry::Type;
  Indexer store;
  EXPECT_FALSE(store.transaction({TransactionEntry{Type::Add, test_object("a", 1)},
                                  TransactionEntry{Type::Delete, test_object("a", 2)}}));
  EXPECT_EQ(store.size(), 0U);
  EXPECT_EQ(store.last_store_sync_resource_version(), "2");
}

// Case 23.
TEST(StoreTest, AnUndeltaStorePushesTheWholeContentOnceAChange) {
  std::vector<std::string> pushed;
  Indexer inner;
  UndeltaStore store(
      inner, [&](const std::vector<ObjectPtr>& all) { pushed.push_back(sorted_text(all)); });
  ASSERT_TRUE(store.add(test_object("a", 1)));
  ASSERT_TRUE(store.update(test_object("b", 2)));
  ASSERT_TRUE(store.remove(test_object("a")));
  ASSERT_TRUE(store.replace({test_object("c", 3), test_object("d", 4)}, "4"));
  EXPECT_EQ(pushed, (std::vector<std::string>{"a 1", "a 1, b 2", "b 2", "c 3, d 4"}));
}

// Case 23.
TEST(StoreTest, AnUndeltaStorePushesNothingForReadsAndFailures) {
  int pushes = 0;
  Indexer inner;
  ASSERT_TRUE(inner.add(test_object("a", 1)));
  UndeltaStore store(inner, [&](const std::vector<ObjectPtr>&) { ++pushes; });
  EXPECT_EQ(sorted_text(store.list()), "a 1");
  EXPECT_EQ(text(*store.get(test_object("a"))), "a 1");
  EXPECT_FALSE(store.add(object_without_key()));
  EXPECT_EQ(pushes, 0);
}

// Case 24.
TEST(StoreTest, KnowsThePositionThatItsLastChangeBroughtItTo) {
  Indexer store;
  ASSERT_TRUE(store.add(test_object("a", 1)));
  EXPECT_EQ(store.last_store_sync_resource_version(), "1");
  ASSERT_TRUE(store.update(test_object("a", 2)));
  EXPECT_EQ(store.last_store_sync_resource_version(), "2");
  ASSERT_TRUE(store.remove(test_object("a", 3)));
  EXPECT_EQ(store.last_store_sync_resource_version(), "3");
  ASSERT_TRUE(store.remove(tombstone("b")));
  EXPECT_EQ(store.last_store_sync_resource_version(), "3");
  ASSERT_TRUE(store.replace({}, "10"));
  EXPECT_EQ(store.last_store_sync_resource_version(), "10");
  store.bookmark("11");
  EXPECT_EQ(store.last_store_sync_resource_version(), "11");
}

}  // namespace
}  // namespace mkp
