#include "runner/wall_time.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNoon = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 12h;

TEST(WallTimeTest, IsWrittenWithAsManyDigitsAsItHas) {
  EXPECT_EQ(to_text(kNoon), "2026-01-31T12:00:00Z");
  EXPECT_EQ(to_text(kNoon + 250ms), "2026-01-31T12:00:00.25Z");
  EXPECT_EQ(to_text(kNoon + 1ns), "2026-01-31T12:00:00.000000001Z");
  EXPECT_EQ(to_text(WallTime(-1s)), "1969-12-31T23:59:59Z");
}

TEST(WallTimeTest, IsReadWithFractionAndZone) {
  EXPECT_EQ(parse_wall_time("2026-01-31T12:00:00Z"), kNoon);
  EXPECT_EQ(parse_wall_time("2026-01-31t12:00:00z"), kNoon);
  EXPECT_EQ(parse_wall_time("2026-01-31T12:00:00.25Z"), kNoon + 250ms);
  EXPECT_EQ(parse_wall_time("2026-01-31T12:00:00.0000000019Z"), kNoon + 1ns);
  EXPECT_EQ(parse_wall_time("2026-01-31T14:30:00+02:30"), kNoon);
  EXPECT_EQ(parse_wall_time("2026-01-31T11:00:00-01:00"), kNoon);
  EXPECT_EQ(parse_wall_time(to_text(kNoon + 7ns)), kNoon + 7ns);
}

TEST(WallTimeTest, AnythingElseIsNoTime) {
  for (const char* text :
       {"", "2026", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z",
        "2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T12:60:00Z", "2026-01-31T12:00:61Z", "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00+0100", "2026-01-31T12:00:00+25:00", "2026-01-31T12:00:00Z ",
        "-026-01-31T12:00:00Z", "2026-1-31T12:00:00Z", "9999-01-31T12:00:00Z",
        "0001-01-01T00:00:00Z", "2026-01--1T12:00:00Z"}) {
    EXPECT_FALSE(parse_wall_time(text)) << text;
  }
}

}  // namespace
}  // namespace mkp
