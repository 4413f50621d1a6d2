#include "informer/keys.h"

#include <gtest/gtest.h>

#include "tests/fakes/test_object.h"

namespace mkp {
namespace {

// Case 1.
TEST(KeysTest, AKeyIsNamespaceAndNameOrTheNameAlone) {
  EXPECT_EQ(meta_namespace_key(test_object("ns/name")), "ns/name");
  EXPECT_EQ(meta_namespace_key(test_object("name")), "name");
}

// Case 2.
TEST(KeysTest, AnExplicitKeyIsItsOwnKey) {
  EXPECT_EQ(meta_namespace_key(std::make_shared<ExplicitKey>("x/y/z")), "x/y/z");
}

// Case 3.
TEST(KeysTest, WhatHasNoMetadataHasNoKey) {
  const Result<std::string> key = meta_namespace_key(object_without_key());
  ASSERT_FALSE(key);
  EXPECT_TRUE(key.error().what.starts_with("object has no meta"));
  EXPECT_FALSE(meta_namespace_key(nullptr));
}

// Case 4.
TEST(KeysTest, AKeySplitsAtItsOnlySlash) {
  EXPECT_EQ(split_meta_namespace_key("a"), (ObjectName{"", "a"}));
  EXPECT_EQ(split_meta_namespace_key("a/b"), (ObjectName{"a", "b"}));
  EXPECT_EQ(split_meta_namespace_key("/x"), (ObjectName{"", "x"}));
  EXPECT_EQ(split_meta_namespace_key("a/"), (ObjectName{"a", ""}));
  EXPECT_EQ(split_meta_namespace_key(""), (ObjectName{"", ""}));
}

// Case 4.
TEST(KeysTest, AKeyWithTwoSlashesIsNone) {
  const Result<ObjectName> name = split_meta_namespace_key("a/b/c");
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().what, "unexpected key format: \"a/b/c\"");
}

TEST(KeysTest, ANameBecomesTheKeyThatItCameFrom) {
  EXPECT_EQ(to_text(*split_meta_namespace_key("ns/name")), "ns/name");
  EXPECT_EQ(to_text(*split_meta_namespace_key("name")), "name");
}

// Case 5.
TEST(KeysTest, AKeyErrorKeepsItsCausesCodeAndSaysWhoseKeyItWas) {
  const Error error = key_error(test_object("ns/a"), Error{Errc::Denied, "no"}).value();
  EXPECT_EQ(error.code, Errc::Denied);
  EXPECT_EQ(error.what, "couldn't create key for object ns/a: no");
}

// Case 6.
TEST(KeysTest, ATombstoneHasTheKeyOfWhatIsGone) {
  EXPECT_EQ(deletion_handling_meta_namespace_key(tombstone("ns/n")), "ns/n");
  EXPECT_EQ(deletion_handling_meta_namespace_key(test_object("ns/n")), "ns/n");
  EXPECT_EQ(deletion_handling_object_name(tombstone("ns/n")), (ObjectName{"ns", "n"}));
  EXPECT_FALSE(meta_namespace_key(tombstone("ns/n")));
}

}  // namespace
}  // namespace mkp
