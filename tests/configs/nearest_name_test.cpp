#include "configs/nearest_name.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

const std::vector<std::string> kNames{"syncPeriod", "minSyncPeriod", "masqueradeBit",
                                      "masqueradeAll"};

TEST(NearestNameTest, FindsTheNameWithFewestWrongLetters) {
  EXPECT_EQ(nearest_name("minSyncPeriode", kNames), "minSyncPeriod");
  EXPECT_EQ(nearest_name("masqueradeBits", kNames), "masqueradeBit");
  EXPECT_EQ(nearest_name("syncPeroid", kNames), "syncPeriod");
}

TEST(NearestNameTest, CaseIsNoDifference) {
  EXPECT_EQ(nearest_name("MINSYNCPERIOD", kNames), "minSyncPeriod");
}

TEST(NearestNameTest, AnotherWordHasNoNearestName) {
  EXPECT_EQ(nearest_name("tunnel", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("syncPeriod", {}), std::nullopt);
}

}  // namespace
}  // namespace mkp
