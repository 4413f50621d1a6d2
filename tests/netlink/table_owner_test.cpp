#include "netlink/table_owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

namespace mkp {
namespace {

// A name that no other run of this program has.
std::string name_of_test() {
  return std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(::getpid());
}

TEST(TableOwnerTest, TellsWhoOwnsTheTable) {
  const Result<TableOwner> first = TableOwner::acquire(name_of_test());
  ASSERT_TRUE(first);
  const Result<TableOwner> second = TableOwner::acquire(name_of_test());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(),
            (Error{Errc::Exists, "another mini-kube-proxy (pid " + std::to_string(::getpid()) +
                                     ") owns table " + name_of_test() +
                                     " in this network namespace; stop it first, its rules stay"}));
}

TEST(TableOwnerTest, GivesItBackWhenItDies) {
  std::optional<Result<TableOwner>> first(TableOwner::acquire(name_of_test()));
  ASSERT_TRUE(*first);
  first.reset();
  EXPECT_TRUE(TableOwner::acquire(name_of_test()));
}

TEST(TableOwnerTest, StaysOwnerWhenItIsMoved) {
  Result<TableOwner> first = TableOwner::acquire(name_of_test());
  ASSERT_TRUE(first);
  const TableOwner moved = std::move(*first);
  EXPECT_FALSE(TableOwner::acquire(name_of_test()));
}

TEST(TableOwnerTest, KeepsTablesApart) {
  const Result<TableOwner> one = TableOwner::acquire(name_of_test() + "-one");
  EXPECT_TRUE(one);
  EXPECT_TRUE(TableOwner::acquire(name_of_test() + "-two"));
}

}  // namespace
}  // namespace mkp
