#include <gtest/gtest.h>

#include "informer/indexer.h"
#include "tests/fakes/test_object.h"

namespace mkp {
namespace {

Result<std::vector<std::string>> labels_of(const ObjectPtr& object) {
  return dynamic_cast<const TestObject&>(*object).labels;
}

Result<std::vector<std::string>> failing(const ObjectPtr&) {
  return fail(Errc::Invalid, "no index for you");
}

class IndexTest : public testing::Test {
 protected:
  void put(const std::string& key, std::vector<std::string> labels) {
    ASSERT_TRUE(store_.add(test_object(key, 0, std::move(labels))));
  }
  std::string under(const std::string& label) {
    return sorted_text(*store_.by_index("label", label));
  }
  std::string values() { return sorted_text(store_.list_index_func_values("label")); }

  Indexer store_{Indexer::Options{.indexers = {{"label", labels_of}}}};
};

// Case 12.
TEST_F(IndexTest, ListsWhatHasALabelUntilItIsGone) {
  put("p1", {"a", "b"});
  put("p2", {"b"});
  EXPECT_EQ(under("b"), "p1 0, p2 0");
  EXPECT_EQ(values(), "a, b");
  ASSERT_TRUE(store_.remove(test_object("p1")));
  EXPECT_EQ(under("b"), "p2 0");
  EXPECT_EQ(values(), "b");
}

// Case 13.
TEST_F(IndexTest, AnObjectThatChangedItsLabelIsUnderTheNewOneOnly) {
  put("p1", {"x"});
  put("p1", {"y"});
  EXPECT_EQ(under("x"), "");
  EXPECT_EQ(under("y"), "p1 0");
  EXPECT_EQ(values(), "y");
}

// Case 14.
TEST_F(IndexTest, ALabelKeepsThoseWhoDidNotLeaveIt) {
  put("p1", {"x"});
  put("p2", {"x"});
  put("p1", {"y"});
  EXPECT_EQ(under("x"), "p2 0");
}

// Case 15.
TEST_F(IndexTest, OfSeveralLabelsSomeMayStayWhenOthersChange) {
  put("p1", {"a", "b"});
  put("p1", {"b", "c"});
  EXPECT_EQ(under("a"), "");
  EXPECT_EQ(under("b"), "p1 0");
  EXPECT_EQ(under("c"), "p1 0");
}

// Case 16.
TEST_F(IndexTest, AnObjectThatSharesTwoLabelsIsFoundOnce) {
  put("p1", {"a", "b"});
  put("p2", {"c"});
  EXPECT_EQ(sorted_text(*store_.index("label", test_object("p3", 0, {"a", "b"}))), "p1 0");
}

// Case 17.
TEST_F(IndexTest, AnUnknownIndexIsAnError) {
  const std::string what = "Index with name colour does not exist";
  EXPECT_EQ(store_.index("colour", test_object("a")).error().what, what);
  EXPECT_EQ(store_.by_index("colour", "red").error().what, what);
  EXPECT_EQ(store_.index_keys("colour", "red").error().what, what);
  EXPECT_TRUE(store_.list_index_func_values("colour").empty());
}

// Case 18.
TEST_F(IndexTest, AnIndexAddedLaterKnowsWhatIsThereAlready) {
  put("ns/p1", {"a"});
  ASSERT_TRUE(store_.add_indexers({{kNamespaceIndex, meta_namespace_index}}));
  EXPECT_EQ(sorted_text(*store_.by_index(kNamespaceIndex, "ns")), "ns/p1 0");
}

// Case 19.
TEST_F(IndexTest, AnIndexNameThatIsTakenKeepsTheOthersOut) {
  const Result<> added = store_.add_indexers({{"label", labels_of}, {"other", labels_of}});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().what, "indexer conflict: label");
  EXPECT_FALSE(store_.indexers().contains("other"));
}

// Case 20.
TEST_F(IndexTest, KeysUnderALabelAscend) {
  put("c", {"x"});
  put("a", {"x"});
  put("b", {"x"});
  EXPECT_EQ(*store_.index_keys("label", "x"), (std::vector<std::string>{"a", "b", "c"}));
}

// Case 21.
TEST_F(IndexTest, AnIndexFunctionThatFailsOnAnAdditionIsFatal) {
  Indexer store(Indexer::Options{.indexers = {{"broken", failing}}});
  EXPECT_DEATH((void)store.add(test_object("ns/a")),
               "unable to calculate an index entry for key \"ns/a\" on index \"broken\": "
               "no index for you");
}

// Case 21.
TEST_F(IndexTest, AnIndexFunctionThatFailsOnAQuestionIsAnError) {
  Indexer store(Indexer::Options{.indexers = {{"broken", failing}}});
  EXPECT_EQ(store.index("broken", test_object("a")).error().what, "no index for you");
}

TEST_F(IndexTest, ReplaceIndexesTheNewListOnly) {
  put("p1", {"a"});
  ASSERT_TRUE(store_.replace({test_object("p2", 0, {"b"})}, "1"));
  EXPECT_EQ(values(), "b");
  EXPECT_EQ(under("b"), "p2 0");
}

TEST_F(IndexTest, AnIndexOfExactlyOneValueMakesAKeyFunction) {
  const KeyFunc key = index_func_to_key_func(labels_of);
  EXPECT_EQ(key(test_object("a", 0, {"x"})), "x");
  EXPECT_EQ(key(test_object("a", 0, {"x", "y"})).error().what, "too many keys: x, y");
  EXPECT_EQ(key(test_object("a")).error().what, "unexpected empty indexKeys");
}

}  // namespace
}  // namespace mkp
