#include "runner/duration_text.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

using namespace std::chrono_literals;

TEST(DurationTextTest, ReadsNumbersWithUnits) {
  EXPECT_EQ(parse_duration("10ms"), 10ms);
  EXPECT_EQ(parse_duration("1m30s"), 90s);
  EXPECT_EQ(parse_duration("15m0s"), 15min);
  EXPECT_EQ(parse_duration("24h0m0s"), 24h);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration(".5s"), 500ms);
  EXPECT_EQ(parse_duration("5.s"), 5s);
  EXPECT_EQ(parse_duration("100ns"), 100ns);
  EXPECT_EQ(parse_duration("7us"), 7us);
  EXPECT_EQ(parse_duration("7\u00b5s"), 7us);
  EXPECT_EQ(parse_duration("-1.5s"), -1500ms);
  EXPECT_EQ(parse_duration("+2s"), 2s);
}

TEST(DurationTextTest, OnlyZeroNeedsNoUnit) {
  EXPECT_EQ(parse_duration("0"), 0s);
  EXPECT_EQ(parse_duration("0s"), 0s);
  EXPECT_EQ(parse_duration("5"), std::nullopt);
}

TEST(DurationTextTest, RefusesWhatIsNoDuration) {
  EXPECT_EQ(parse_duration(""), std::nullopt);
  EXPECT_EQ(parse_duration("-"), std::nullopt);
  EXPECT_EQ(parse_duration("5 s"), std::nullopt);
  EXPECT_EQ(parse_duration("s"), std::nullopt);
  EXPECT_EQ(parse_duration(".s"), std::nullopt);
  EXPECT_EQ(parse_duration("1d"), std::nullopt);
  EXPECT_EQ(parse_duration("1s2"), std::nullopt);
  EXPECT_EQ(parse_duration("1e3s"), std::nullopt);
}

TEST(DurationTextTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_duration("2562047h47m16.854775807s"), Duration::max());
  EXPECT_EQ(parse_duration("2562047h47m16.854775808s"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999h"), std::nullopt);
}

TEST(DurationTextTest, PrintsAsGoDoes) {
  EXPECT_EQ(to_text(0s), "0s");
  EXPECT_EQ(to_text(15ns), "15ns");
  EXPECT_EQ(to_text(1500ns), "1.5\u00b5s");
  EXPECT_EQ(to_text(10ms), "10ms");
  EXPECT_EQ(to_text(1500ms), "1.5s");
  EXPECT_EQ(to_text(90s), "1m30s");
  EXPECT_EQ(to_text(1h), "1h0m0s");
  EXPECT_EQ(to_text(-90s), "-1m30s");
  EXPECT_EQ(to_text(Duration::max()), "2562047h47m16.854775807s");
}

}  // namespace
}  // namespace mkp
