#include "runner/notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

namespace mkp {
namespace {

using namespace std::chrono_literals;

// Stands in for systemd: a datagram socket with a name of its own, in the kernel's abstract
// namespace.
class NotifyTest : public testing::Test {
 protected:
  void SetUp() override {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // Binding to no name lets the kernel choose a free one.
    ASSERT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)), 0);
    socklen_t length = sizeof address;
    ASSERT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    const std::size_t name_length = length - offsetof(sockaddr_un, sun_path) - 1;
    const std::string name = "@" + std::string(address.sun_path + 1, name_length);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }

  void TearDown() override {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    close(socket_);
  }

  // The next datagram; empty when there is none.
  std::string received() const {
    std::array<char, 256> buffer{};
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

  const int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST_F(NotifyTest, ReadinessComesWithAStatus) {
  EXPECT_TRUE(notify_ready("3 Services"));
  EXPECT_EQ(received(), "READY=1\nSTATUS=3 Services");
}

TEST_F(NotifyTest, AStatusIsOneLineWhateverIsInIt) {
  EXPECT_TRUE(notify_status("failed:\nREADY=1"));
  EXPECT_EQ(received(), "STATUS=failed: READY=1");
}

TEST_F(NotifyTest, SignsOfLifeAndTheEndAreReported) {
  EXPECT_TRUE(notify_watchdog());
  EXPECT_EQ(received(), "WATCHDOG=1");
  EXPECT_TRUE(notify_stopping("leaves the rules in place"));
  EXPECT_EQ(received(), "STOPPING=1\nSTATUS=leaves the rules in place");
}

TEST_F(NotifyTest, WithoutSystemdItSucceedsAndSaysNothing) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(notify_ready("3 Services"));
  EXPECT_EQ(received(), "");
}

TEST_F(NotifyTest, ASocketThatIsGoneIsAFailure) {
  setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
  const Result<> result = notify_ready("3 Services");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{Errc::NotFound, "notify systemd: No such file or directory"}));
}

TEST_F(NotifyTest, TheWatchdogIntervalIsSystemds) {
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(watchdog_interval(), 30s);
}

TEST_F(NotifyTest, AWatchdogForAnotherProcessOrNoneIsNotOurs) {
  EXPECT_EQ(watchdog_interval(), std::nullopt);
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(watchdog_interval(), std::nullopt);
}

}  // namespace
}  // namespace mkp
