#include "runner/log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace mkp {
namespace {

const std::chrono::system_clock::time_point kNoon{std::chrono::milliseconds(1'769'860'800'123)};

std::string text(spdlog::level::level_enum level, std::string_view message) {
  return log_line({level, kNoon, message}, LogFormat::Text, LogReader::Anyone);
}

TEST(LogLineTest, TextIsKeysAndValuesWithTheTimeInFront) {
  EXPECT_EQ(text(spdlog::level::info, "synced 3 Services"),
            "time=2026-01-31T12:00:00.123Z level=info msg=\"synced 3 Services\"\n");
}

TEST(LogLineTest, JsonIsOneObject) {
  EXPECT_EQ(log_line({spdlog::level::warn, kNoon, "a \"b\""}, LogFormat::Json, LogReader::Anyone),
            R"({"time":"2026-01-31T12:00:00.123Z","level":"warning","msg":"a \"b\""})"
            "\n");
}

TEST(LogLineTest, TheJournalGetsThePriorityAndKeepsTheTimeItself) {
  EXPECT_EQ(log_line({spdlog::level::err, kNoon, "no"}, LogFormat::Text, LogReader::Journal),
            "<3>level=error msg=\"no\"\n");
  EXPECT_EQ(log_line({spdlog::level::critical, kNoon, "no"}, LogFormat::Json, LogReader::Journal),
            "<2>{\"level\":\"critical\",\"msg\":\"no\"}\n");
  EXPECT_EQ(log_line({spdlog::level::trace, kNoon, "no"}, LogFormat::Text, LogReader::Journal),
            "<7>level=trace msg=\"no\"\n");
}

TEST(LogLineTest, AMessageStaysOnItsLineAndInItsQuotes) {
  EXPECT_EQ(text(spdlog::level::info, "a\nlevel=error \"\\\t\x1b"),
            "time=2026-01-31T12:00:00.123Z level=info "
            R"(msg="a\nlevel=error \"\\\u0009\u001b")"
            "\n");
}

TEST(LogLevelTest, VerbosityOpensDebugAtTwoAndEverythingAtFour) {
  EXPECT_EQ(level_of(-1), spdlog::level::info);
  EXPECT_EQ(level_of(0), spdlog::level::info);
  EXPECT_EQ(level_of(1), spdlog::level::info);
  EXPECT_EQ(level_of(2), spdlog::level::debug);
  EXPECT_EQ(level_of(3), spdlog::level::debug);
  EXPECT_EQ(level_of(4), spdlog::level::trace);
  EXPECT_EQ(level_of(10), spdlog::level::trace);
}

TEST(LogReaderTest, IsTheJournalOnlyWhenTheVariableNamesTheVeryFile) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  struct stat file {};
  ASSERT_EQ(fstat(ends[1], &file), 0);
  const std::string stream = fmt::format("{}:{}", file.st_dev, file.st_ino);
  EXPECT_EQ(reader_of(ends[1], stream), LogReader::Journal);
  EXPECT_EQ(reader_of(STDERR_FILENO, stream), LogReader::Anyone);
  EXPECT_EQ(reader_of(ends[1], ""), LogReader::Anyone);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(reader_of(ends[1], stream), LogReader::Anyone);
}

// Dies so that what it wrote to standard error can be compared.
void log_and_exit(const LogOptions& options) {
  set_up_logging(options);
  spdlog::debug("hidden?");
  spdlog::info("shown");
  std::_Exit(7);
}

TEST(LogDeathTest, SpdlogsDefaultLoggerWritesLinesToStandardError) {
  EXPECT_EXIT(log_and_exit({}), testing::ExitedWithCode(7), "^time=[^ ]+ level=info msg=\"shown\"");
  EXPECT_EXIT(log_and_exit({.format = LogFormat::Json, .verbosity = 2}), testing::ExitedWithCode(7),
              "^\\{\"time\":\"[^\"]+\",\"level\":\"debug\",\"msg\":\"hidden\\?\"\\}");
}

}  // namespace
}  // namespace mkp
