#include "proxy/exec_plugin.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "tests/proxy/api_credentials_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

// A shell script as the plugin. It counts its runs.
class ExecPluginTest : public CredentialsFixture {
 protected:
  ExecPluginTest() {
    config_.api_version = kVersion;
    config_.command = folder_.path("plugin");
    config_.env = {{"DIR", folder_.path()}};
  }

  void script(std::string_view text) {
    folder_.write_program("plugin", fmt::format("#!/bin/sh\necho run >> $DIR/runs\n{}\n", text));
  }
  // Prints a token, and when it expires: "12:00:10".
  void script_of_token(std::string_view token, std::string_view until = "") {
    const std::string expiry =
        until.empty() ? "" : fmt::format(R"(,"expirationTimestamp":"2026-01-31T{}Z")", until);
    script(fmt::format(
        R"(echo '{{"kind":"ExecCredential","apiVersion":"{}","status":{{"token":"{}"{}}}}}')",
        kVersion, token, expiry));
  }
  ExecPlugin& plugin() {
    if (!plugin_) plugin_.emplace(config_, clock_, [this] { return wall_time(); });
    return *plugin_;
  }
  Result<ExecCredential> current() { return outcome(plugin().current()); }
  using Outcome = std::optional<Result<ExecCredential>>;
  // Of a task that has ended.
  static Result<ExecCredential> ended(const Outcome& outcome) {
    return outcome.value_or(fail(Errc::Invalid, "has not ended"));
  }
  static std::string token_of(const Outcome& outcome) {
    return ended(outcome).value_or(ExecCredential{}).token;
  }
  std::string token() {
    const Result<ExecCredential> now = current();
    return now ? now->token : without_folder(now.error().what);
  }
  std::size_t runs() const {
    std::ifstream file(folder_.path("runs"));
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_.path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ExecPluginConfig config_;
  std::optional<ExecPlugin> plugin_;
};

TEST_F(ExecPluginTest, ItsTokenIsKeptUntilItExpires) {
  script_of_token("one", "12:00:10");
  EXPECT_EQ(token(), "one");
  script_of_token("two", "12:10:00");
  clock_.advance(10s);
  EXPECT_EQ(token(), "one");
  clock_.advance(1ns);
  EXPECT_EQ(token(), "two");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(ExecPluginTest, ATokenWithoutATimeDoesNotExpire) {
  script_of_token("one");
  EXPECT_EQ(token(), "one");
  clock_.advance(24h * 365);
  EXPECT_EQ(token(), "one");
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ExecPluginTest, ARefusedTokenIsReplacedButNotOneOfThePast) {
  script_of_token("one");
  EXPECT_EQ(token(), "one");
  script_of_token("two");
  plugin().refused("other", "");
  plugin().refused("one", "certificate");
  EXPECT_EQ(token(), "one");
  plugin().refused("one", "");
  EXPECT_EQ(token(), "two");
  plugin().refused("one", "");
  EXPECT_EQ(token(), "two");
}

TEST_F(ExecPluginTest, ItIsToldWhatItIsAskedAndGetsOurEnvironmentAndItsOwn) {
  config_.args = {"a b", "$HOME"};
  config_.env.push_back({"OWN", "its own"});
  config_.env.push_back({"PATH", std::string(getenv("PATH")) + ":/nowhere"});
  script(R"(printf '%s|%s|%s|%s' "$1" "$2" "$OWN" "$HOME" > $DIR/seen
printf '%s' "$KUBERNETES_EXEC_INFO" > $DIR/info
printf '%s' "$PATH" > $DIR/path; exit 1)");
  setenv("HOME", "/our/home", 1);
  EXPECT_EQ(token(), "getting credentials: exec: executable DIR/plugin failed with exit code 1");
  EXPECT_EQ(text_of("seen"), "a b|$HOME|its own|/our/home");
  EXPECT_EQ(text_of("path"), std::string(getenv("PATH")) + ":/nowhere");
  EXPECT_EQ(text_of("info"), exec_info_of(config_));
}

TEST_F(ExecPluginTest, ItHasAnEmptyInputAndNothingElseOfOurs) {
  script(R"(cat > $DIR/input; ls /proc/self/fd > $DIR/open; exit 1)");
  const int ours = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GT(ours, 2);
  token();
  close(ours);
  EXPECT_EQ(text_of("input"), "");
  EXPECT_EQ(text_of("open"), "0\n1\n2\n3\n");  // 3 is the folder that ls reads
}

TEST_F(ExecPluginTest, ACommandWithoutASlashIsLookedUp) {
  config_.command = "false";
  EXPECT_EQ(token(), "getting credentials: exec: executable false failed with exit code 1");
}

TEST_F(ExecPluginTest, WhatIsNotThereIsNotFoundAndTheHintIsGivenTenTimesAnHour) {
  config_.command = "mkp-no-such-plugin";
  config_.install_hint = "install it";
  constexpr const char* kBare =
      "getting credentials: exec: executable mkp-no-such-plugin not found";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(token(), std::string(kBare) + "; install it");
  EXPECT_EQ(token(), kBare);
  clock_.advance(6min);
  EXPECT_EQ(token(), std::string(kBare) + "; install it");
}

TEST_F(ExecPluginTest, WhatCannotBeRunSaysWhy) {
  folder_.write("plugin", "text", 0600);
  EXPECT_EQ(token(),
            "getting credentials: exec: executable DIR/plugin: start it: Permission denied");
}

TEST_F(ExecPluginTest, ASignalThatEndsItIsAFailure) {
  script("kill -9 $$");
  EXPECT_EQ(token(), "getting credentials: exec: executable DIR/plugin was ended by a signal");
}

TEST_F(ExecPluginTest, AfterAFailureItRunsAgain) {
  script("exit 7");
  EXPECT_EQ(token(), "getting credentials: exec: executable DIR/plugin failed with exit code 7");
  script_of_token("one");
  EXPECT_EQ(token(), "one");
}

TEST_F(ExecPluginTest, WhatItPrintsMustBeAnAnswer) {
  script("echo hunter2");
  EXPECT_EQ(token(), "getting credentials: decoding stdout: expected an ExecCredential");
}

TEST_F(ExecPluginTest, MoreThanAMebibyteOfOutputIsTooMuch) {
  script("head -c 1048577 /dev/zero; exec tail -f /dev/null");
  EXPECT_EQ(token(),
            "getting credentials: exec: executable DIR/plugin: prints more than 1048576 bytes");
}

TEST_F(ExecPluginTest, AllWhoAskWhileItRunsShareOneRun) {
  script_of_token("one");
  Outcome first;
  Outcome second;
  start(plugin().current(), first);
  start(plugin().current(), second);
  run_until([&] { return first && second; });
  EXPECT_EQ(token_of(first) + token_of(second), "oneone");
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ExecPluginTest, AllWhoAskWhileItRunsShareItsFailure) {
  script("exit 1");
  Outcome first;
  Outcome second;
  start(plugin().current(), first);
  start(plugin().current(), second);
  run_until([&] { return first && second; });
  EXPECT_EQ(error_of(ended(second)), error_of(ended(first)));
  EXPECT_NE(error_of(ended(second)), "none");
  EXPECT_EQ(runs(), 1U);
}

// A plugin that says through a pipe that it runs, and goes on for ever with a child of its own.
class EndlessPluginTest : public ExecPluginTest {
 protected:
  EndlessPluginTest() {
    mkfifo(folder_.path("started").c_str(), 0600);
    script("tail -f /dev/null &\necho $$ $! > $DIR/started; wait");
  }
  // Returns its process and its child.
  std::pair<pid_t, pid_t> started() {
    std::ifstream pipe(folder_.path("started"));
    std::pair<pid_t, pid_t> pids{-1, -1};
    pipe >> pids.first >> pids.second;
    return pids;
  }
  // Waits for the end of one that is no child of ours.
  static bool is_gone(pid_t pid) {
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (handle < 0) return errno == ESRCH;
    pollfd ended{handle, POLLIN, 0};
    const bool gone = poll(&ended, 1, 10'000) == 1;
    close(handle);
    return gone;
  }
};

TEST_F(EndlessPluginTest, ItIsGivenAMinuteAndThenKilledWithItsChildren) {
  Outcome result;
  start(plugin().current(), result);
  loop_.poll();
  const auto [pid, child] = started();
  clock_.advance(1min - 1ns);
  loop_.poll();
  EXPECT_FALSE(result);
  clock_.advance(1ns);
  run_until([&] { return result.has_value(); });
  EXPECT_EQ(error_of(ended(result)),
            "getting credentials: exec: executable DIR/plugin did not end within 1m0s");
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(is_gone(child));
}

TEST_F(EndlessPluginTest, WhoIsCancelledKillsItAndWhoWaitsRunsItAgain) {
  asio::cancellation_signal cancel;
  Outcome result;
  asio::co_spawn(loop_, plugin().current(),
                 asio::bind_cancellation_slot(cancel.slot(), [](const std::exception_ptr&,
                                                                const Result<ExecCredential>&) {}));
  start(plugin().current(), result);
  loop_.poll();
  const auto [pid, child] = started();
  script_of_token("one");
  cancel.emit(asio::cancellation_type::all);
  run_until([&] { return result.has_value(); });
  EXPECT_EQ(token_of(result), "one");
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(is_gone(child));
}

}  // namespace
}  // namespace mkp
