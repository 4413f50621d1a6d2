#include "proxy/slot_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;

constexpr Endpoint kFree{};

Endpoint pod(int number) { return endpoint("10.180.0." + std::to_string(number) + ":80"); }

std::vector<Endpoint> pods(int first, int last) {
  std::vector<Endpoint> list;
  for (int i = first; i <= last; ++i) list.push_back(pod(i));
  return list;
}

// How many slots hold something else in `after` than in `before`.
std::size_t changed_slots(const SlotTable& before, const SlotTable& after) {
  std::size_t changed = 0;
  for (std::uint32_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const Endpoint was = i < before.size() ? before.slots[i] : kFree;
    const Endpoint is = i < after.size() ? after.slots[i] : kFree;
    changed += was != is ? 1 : 0;
  }
  return changed;
}

TEST(SlotTableTest, OneEndpointTakesOneSlotTwoToFourTakeFourThenEightAndSoOn) {
  EXPECT_EQ(slots_for(0), 0U);
  EXPECT_EQ(slots_for(1), 1U);
  EXPECT_EQ(slots_for(2), 4U);
  EXPECT_EQ(slots_for(4), 4U);
  EXPECT_EQ(slots_for(5), 8U);
  EXPECT_EQ(slots_for(50), 64U);
}

TEST(SlotTableTest, EndpointsAreSeatedInOrderAndTheRestStaysFree) {
  EXPECT_THAT(place({}, pods(1, 3)).slots, ElementsAre(pod(1), pod(2), pod(3), kFree));
}

TEST(SlotTableTest, OneThatComesTakesAFreeSlotAndNobodyElseMoves) {
  const SlotTable before = place({}, pods(2, 4));
  EXPECT_THAT(place(before, pods(1, 4)).slots, ElementsAre(pod(2), pod(3), pod(4), pod(1)));
}

TEST(SlotTableTest, OneThatReplacesAnotherTakesItsSlot) {
  const SlotTable before = place({}, pods(1, 3));
  EXPECT_THAT(place(before, {pod(1), pod(3), pod(9)}).slots,
              ElementsAre(pod(1), pod(9), pod(3), kFree));
}

TEST(SlotTableTest, SlotZeroIsFilledFromTheLastWhenItsEndpointGoes) {
  const SlotTable before = place({}, pods(1, 4));
  EXPECT_THAT(place(before, pods(2, 4)).slots, ElementsAre(pod(4), pod(2), pod(3), kFree));
}

TEST(SlotTableTest, NeverShrinksBelowFour) {
  const SlotTable before = place({}, pods(1, 4));
  EXPECT_THAT(place(before, pods(3, 3)).slots, ElementsAre(pod(3), kFree, kFree, kFree));
}

TEST(SlotTableTest, ShrinksOnlyWhenThreeEighthsOrLessAreTaken) {
  const SlotTable before = place({}, pods(1, 16));
  EXPECT_EQ(place(before, pods(1, 7)).size(), 16U);
  EXPECT_EQ(place(before, pods(1, 6)).size(), 8U);
  EXPECT_EQ(place(before, pods(1, 1)).size(), 4U);
}

TEST(SlotTableTest, NobodyLeftMeansNoSlots) {
  EXPECT_EQ(place(place({}, pods(1, 9)), {}).size(), 0U);
  EXPECT_EQ(place(place({}, pods(1, 1)), {}).size(), 0U);
}

TEST(SlotTableTest, ATableWithAHoleAtZeroOrAnEndpointTwiceOrAnOddSizeIsNotValid) {
  EXPECT_FALSE(SlotTable{}.valid());
  EXPECT_FALSE((SlotTable{{kFree, pod(1), kFree, kFree}}).valid());
  EXPECT_FALSE((SlotTable{{pod(1), pod(1), kFree, kFree}}).valid());
  EXPECT_FALSE((SlotTable{{pod(1), pod(2)}}).valid());
  EXPECT_FALSE((SlotTable{{pod(1), pod(2), pod(3)}}).valid());
  EXPECT_TRUE((SlotTable{{pod(1), kFree, pod(2), kFree}}).valid());
}

TEST(SlotTableTest, AnyWalkKeepsTheTableValidCompleteAndCheapToChange) {
  std::mt19937 random(7);  // a fixed seed: the same walk each time
  SlotTable table;
  std::vector<Endpoint> present;
  for (int step = 0; step < 5000; ++step) {
    const Endpoint who = pod(static_cast<int>(random() % 40));
    const auto at = std::lower_bound(present.begin(), present.end(), who);
    at != present.end() && *at == who ? present.erase(at) : present.insert(at, who);
    const SlotTable next = place(table, present);
    ASSERT_EQ(next.endpoints(), present);
    ASSERT_EQ(next.size() == 0, present.empty());
    ASSERT_TRUE(present.empty() || next.valid());
    ASSERT_TRUE(next.size() != table.size() || changed_slots(table, next) <= 2);
    table = next;
  }
}

}  // namespace
}  // namespace mkp
