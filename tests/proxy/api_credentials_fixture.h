#pragma once

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <boost/asio.hpp>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "runner/result.h"
#include "runner/wall_time.h"
#include "tests/configs/temp_folder.h"
#include "tests/fakes/fake_clock.h"

namespace mkp {

// Files and programs of a test, time that passes when the test says so, and everything that is
// logged.
class CredentialsFixture : public testing::Test {
 protected:
  CredentialsFixture() {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_st>(log_));
    logger->set_pattern("%l: %v");
    logger->set_level(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
  }
  ~CredentialsFixture() override { spdlog::set_default_logger(before_); }

  // Noon, 31 January 2026, when the test begins.
  WallTime wall_time() const {
    using namespace std::chrono_literals;
    return std::chrono::sys_days(2026y / 1 / 31) + 12h + clock_.now().time_since_epoch();
  }

  // Runs the loop while programs run; they are given ten seconds of the real time.
  template <class T>
  Result<T> outcome(asio::awaitable<Result<T>> task) {
    std::optional<Result<T>> result;
    start(std::move(task), result);
    run_until([&result] { return result.has_value(); });
    EXPECT_TRUE(result.has_value());
    return result ? std::move(*result) : Result<T>(fail(Errc::Invalid, "does not end"));
  }
  template <class T>
  void start(asio::awaitable<Result<T>> task, std::optional<Result<T>>& result) {
    asio::co_spawn(loop_, std::move(task),
                   [&result](const std::exception_ptr& failure, Result<T> value) {
                     if (!failure) result = std::move(value);
                   });
  }
  template <class Condition>
  void run_until(const Condition& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    loop_.restart();
    while (!holds() && std::chrono::steady_clock::now() < deadline &&
           loop_.run_one_until(deadline)) {
    }
  }

  // What was logged since the last call, with DIR for the folder.
  std::string log() {
    std::string text = without_folder(log_.str());
    log_.str("");
    return text;
  }
  std::string without_folder(std::string text) const {
    for (std::size_t at = 0; (at = text.find(folder_.path())) != std::string::npos;) {
      text.replace(at, folder_.path().size(), "DIR");
    }
    return text;
  }
  template <class T>
  std::string error_of(const Result<T>& result) const {
    return result ? "none" : without_folder(result.error().what);
  }

  const TempFolder folder_;
  FakeClock clock_;
  std::ostringstream log_;
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  asio::io_context loop_;  // last: dies first
};

}  // namespace mkp
