#include "proxy/conntrack_cleanup.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_conntrack.h"
#include "tests/fakes/test_loop.h"
#include "tests/proxy/udp_literals.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr const char* kWeb = "172.30.0.10:53";
constexpr const char* kA = "10.180.0.2:5353";
constexpr const char* kB = "10.180.0.3:5353";

class ConntrackCleanupTest : public testing::Test {
 protected:
  ConntrackCleanupTest() {
    cleanup_.on_visit([this](const ConntrackCleanup::Report& report) {
      reports_ += fmt::format("{} of {}, ", report.forgotten, report.visited);
    });
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_st>(log_));
    logger->set_pattern("%l: %v");
    logger->set_level(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  }
  ~ConntrackCleanupTest() override { spdlog::set_default_logger(before_); }

  void run() { loop_.start(cleanup_.run()); }
  void note(const UdpChanges& changes) {
    cleanup_.note(changes);
    loop_.settle();
  }
  void note(UdpChanges::Change change) { note(udp_changes({std::move(change)})); }
  // The same in the other family.
  void note_ipv6(UdpChanges::Change change) {
    UdpChanges changes = udp_changes({std::move(change)});
    changes.family = IpFamily::Ipv6;
    note(changes);
  }
  // "" for success.
  std::string run_once() {
    std::string text = "does not end";
    loop_.start_aside(keep_outcome(text));
    return text;
  }
  asio::awaitable<void> keep_outcome(std::string& text) {
    const Result<> outcome = co_await cleanup_.run_once();
    text = outcome ? "" : outcome.error().what;
  }
  std::string flows() const { return to_text(kernel_.flows()); }
  std::string visits() const { return fmt::format("{} visits", kernel_.counters().visits); }
  std::string reports() { return std::exchange(reports_, {}); }
  std::string log() {
    std::string text = log_.str();
    log_.str("");
    return text;
  }
  void add_stale_flows(std::size_t count) {
    UdpFlow stale = flow("203.0.113.9:1", kWeb, kB);
    for (std::size_t i = 0; i < count; ++i) {
      stale.source.port = static_cast<std::uint16_t>(1024 + i);
      kernel_.add(stale);
    }
  }

  const UdpFlow to_a_ = flow("203.0.113.9:41001", kWeb, kA);
  const UdpFlow to_b_ = flow("203.0.113.9:41002", kWeb, kB);
  const UdpFlow foreign_ = flow("10.180.0.9:500", "192.0.2.1:500");

  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream log_;
  std::string reports_;
  FakeClock clock_;
  FakeConntrack kernel_;
  ConntrackCleanup cleanup_{kernel_, clock_, Backoff({.first = 1s, .cap = 4s})};
  TestLoop loop_{clock_};
};

TEST_F(ConntrackCleanupTest, ForgetsTheStaleFlowsThatItFindsAtFirst) {
  kernel_.add(to_a_);
  kernel_.add(to_b_);
  kernel_.add(foreign_);
  run();
  EXPECT_EQ(visits(), "0 visits");
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(flows(), to_text(std::vector{foreign_, to_a_}));
  EXPECT_EQ(reports(), "1 of 3, ");
}

TEST_F(ConntrackCleanupTest, ForgetsFlowsOfAnEndpointThatIsGone) {
  run();
  note(change(kWeb, {}, {kA, kB}));
  kernel_.add(to_a_);
  kernel_.add(to_b_);
  loop_.pass(1s);
  note(change(kWeb, {kA, kB}, {kA}));
  EXPECT_EQ(flows(), to_text(std::vector{to_a_}));
}

TEST_F(ConntrackCleanupTest, ForgetsFlowsOfAFrontendThatIsGone) {
  run();
  note(change(kWeb, {}, {kA}));
  kernel_.add(to_a_);
  loop_.pass(1s);
  note(gone(kWeb, {kA}));
  EXPECT_EQ(flows(), "");
}

TEST_F(ConntrackCleanupTest, VisitsTheFamilyThatChangedOnly) {
  kernel_.add(flow("[2001:db8::9]:1", "[fd96::10]:53", "[fd64::2]:53"));
  kernel_.add(to_b_);
  run();
  note_ipv6(change("[fd96::10]:53", {}, {"[fd64::3]:53"}));
  EXPECT_EQ(visits(), "1 visits");
  EXPECT_EQ(flows(), to_text(std::vector{to_b_}));
}

TEST_F(ConntrackCleanupTest, VisitsNothingWhenNoFlowCanHaveBecomeStale) {
  run();
  note(change(kWeb, {}, {kA}));
  loop_.pass(1s);
  note(change(kWeb, {kA}, {kA, kB}));
  note(udp_changes({}));
  EXPECT_EQ(visits(), "1 visits");
}

TEST_F(ConntrackCleanupTest, VisitsOnceIn100MillisecondsAtMost) {
  run();
  note(change(kWeb, {}, {kA}));
  note(change(kWeb, {kA}, {kB}));
  note(change(kWeb, {kB}, {kA}));
  EXPECT_EQ(visits(), "1 visits");
  loop_.pass(99ms);
  EXPECT_EQ(visits(), "1 visits");
  loop_.pass(1ms);
  EXPECT_EQ(visits(), "2 visits");
}

TEST_F(ConntrackCleanupTest, VisitsNoMoreThanAFifthOfTheTime) {
  run();
  kernel_.amid_next_visit([this] { clock_.advance(500ms); });
  note(change(kWeb, {}, {kA}));
  note(change(kWeb, {kA}, {kB}));
  loop_.pass(1999ms);
  EXPECT_EQ(visits(), "1 visits");
  loop_.pass(1ms);
  EXPECT_EQ(visits(), "2 visits");
}

TEST_F(ConntrackCleanupTest, VisitsAgainForWhatIsNotedDuringAVisit) {
  kernel_.add(to_a_);
  kernel_.amid_next_visit([this] { cleanup_.note(udp_changes({gone(kWeb, {kA})})); });
  run();
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(flows(), to_text(std::vector{to_a_}));
  loop_.pass(100ms);
  EXPECT_EQ(flows(), "");
}

TEST_F(ConntrackCleanupTest, LeavesFlowsThatHaveBecomeHealthySinceTheyWereSeen) {
  kernel_.add(to_a_);
  kernel_.add(to_b_);
  kernel_.amid_next_visit([this] { cleanup_.note(udp_changes({change(kWeb, {kA}, {kA, kB})})); });
  run();
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(flows(), to_text(std::vector{to_a_, to_b_}));
}

TEST_F(ConntrackCleanupTest, ForgetsManyFlowsInSeveralVisits) {
  add_stale_flows(2 * ConntrackCleanup::kMostStale + 1);
  run();
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(reports(), "16384 of 32769, ");
  loop_.pass(100ms);
  EXPECT_EQ(reports(), "16384 of 16385, ");
  loop_.pass(100ms);
  EXPECT_EQ(reports(), "1 of 1, ");
  loop_.pass(1s);
  EXPECT_EQ(reports(), "");
}

TEST_F(ConntrackCleanupTest, RemembersAGoneFrontendUntilAVisitSucceeds) {
  run();
  note(change(kWeb, {}, {kA}));
  kernel_.add(to_a_);
  loop_.pass(1s);
  kernel_.fail_next_forget({Errc::Unavailable, "forget flows: busy"});
  note(gone(kWeb, {kA}));
  EXPECT_EQ(flows(), to_text(std::vector{to_a_}));
  loop_.pass(1s);
  EXPECT_EQ(flows(), "");
}

TEST_F(ConntrackCleanupTest, TriesAgainMoreAndMoreSeldom) {
  kernel_.fail_next_visit({Errc::Denied, "no"});
  run();
  note(change(kWeb, {}, {kA}));
  kernel_.fail_next_visit({Errc::Denied, "no"});
  loop_.pass(1s);
  EXPECT_EQ(visits(), "2 visits");
  loop_.pass(1999ms);
  EXPECT_EQ(visits(), "2 visits");
  loop_.pass(1ms);
  EXPECT_EQ(visits(), "3 visits");
  loop_.pass(1h);
  EXPECT_EQ(visits(), "3 visits");
}

TEST_F(ConntrackCleanupTest, LogsAFailureOnceAndItsEnd) {
  kernel_.fail_next_visit({Errc::Denied, "list flows: no"});
  run();
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(log(),
            "warning: UDP clients that keep their source port may keep talking to IPv4 endpoints "
            "that are gone, until their flows time out: list flows: no; it is tried again, and "
            "new flows are not affected\n");
  kernel_.fail_next_visit({Errc::Denied, "list flows: no"});
  loop_.pass(1s);
  EXPECT_EQ(log(), "");
  loop_.pass(2s);
  EXPECT_EQ(log(), "info: UDP flows follow the rules again\n");
}

TEST_F(ConntrackCleanupTest, LetsAFailureInOneFamilyNotStopTheOther) {
  kernel_.add(flow("[2001:db8::9]:1", "[fd96::10]:53", "[fd64::2]:53"));
  kernel_.fail_next_visit({Errc::Expired, "disturbed"});
  cleanup_.note(udp_changes({change(kWeb, {}, {kA})}));
  note_ipv6(change("[fd96::10]:53", {}, {"[fd64::3]:53"}));
  run();
  EXPECT_EQ(visits(), "2 visits");
  EXPECT_EQ(flows(), "");
}

TEST_F(ConntrackCleanupTest, EndsWhenCancelled) {
  run();
  note(change(kWeb, {}, {kA}));
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
}

// --- for a program that syncs once ---

TEST_F(ConntrackCleanupTest, DealsAtOnceWithEverythingNoted) {
  add_stale_flows(ConntrackCleanup::kMostStale + 1);
  kernel_.add(foreign_);
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(run_once(), "");
  EXPECT_EQ(reports(), "16384 of 16386, 1 of 2, ");
  EXPECT_EQ(flows(), to_text(std::vector{foreign_}));
}

TEST_F(ConntrackCleanupTest, VisitsNothingWhenNothingWasNoted) {
  EXPECT_EQ(run_once(), "");
  EXPECT_EQ(visits(), "0 visits");
}

TEST_F(ConntrackCleanupTest, SaysHowItFailed) {
  kernel_.fail_next_visit({Errc::Denied, "list flows: no"});
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(run_once(),
            "UDP clients that keep their source port may keep talking to IPv4 endpoints that are "
            "gone, until their flows time out: list flows: no");
  EXPECT_EQ(log(), "");
}

TEST_F(ConntrackCleanupTest, GivesUpOnAKernelThatKeepsEverything) {
  kernel_.pin(true);
  add_stale_flows(ConntrackCleanup::kMostStale + 1);
  note(change(kWeb, {}, {kA}));
  EXPECT_EQ(run_once(),
            "UDP clients that keep their source port may keep talking to IPv4 endpoints that are "
            "gone, until their flows time out: forget flows: the kernel keeps all of them");
}

}  // namespace
}  // namespace mkp
