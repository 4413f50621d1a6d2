#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <regex>

#include "tests/packets/program.h"
#include "tests/packets/proxied_node.h"

namespace mkp::packets {
namespace {

constexpr int kClients = 16;
constexpr const char* kOnePort = "[{name: http, port: 80}]";
constexpr const char* kTwoPorts = "[{name: http, port: 80}, {name: admin, port: 81}]";

std::string client(int number) { return fmt::format("10.64.7.{}", number); }

std::vector<std::string> pods(int first, int count) {
  std::vector<std::string> addresses;
  for (int pod = first; pod < first + count; ++pod) {
    addresses.push_back(fmt::format("10.64.2.{}", pod));
  }
  return addresses;
}

// Where each client was sent.
using Pins = std::map<std::string, std::string>;

class Affinity : public ProxiedNode {
 protected:
  Affinity() : ProxiedNode(Following::KeptRunning) {}

  void write_web(int timeout_seconds, const char* ports = kOnePort) {
    write_service("web", "10.96.0.10", ports,
                  fmt::format("  sessionAffinity: ClientIP\n"
                              "  sessionAffinityConfig: {{clientIP: {{timeoutSeconds: {}}}}}\n",
                              timeout_seconds));
  }

  std::string connect_to_web(const std::string& from, std::uint16_t port = 80) {
    return connect(from, "10.96.0.10", port);
  }
  Pins connect_all(std::uint16_t port = 80) {
    Pins pins;
    for (int number = 1; number <= kClients; ++number) {
      pins[client(number)] = connect_to_web(client(number), port);
    }
    return pins;
  }

  // Something else changes: another Service comes, or has other endpoints, or an endpoint is added
  // to the Service itself.
  void change_something_else(int change) {
    const std::string other = fmt::format("other-{}", change % 200);
    if (change % 25 == 0) {
      write_slice("web", kOnePort, pods(1, 5 + change / 25));
    } else if (change < 200) {
      write_service(other, fmt::format("10.96.1.{}", change + 1), kOnePort,
                    change % 2 == 0 ? "  sessionAffinity: ClientIP\n" : "");
    } else {
      write_slice(other, kOnePort, pods(100 + change % 50, 1 + change % 4));
    }
  }

  // What the kernel says of a client's memory: "" when it has none, otherwise when it expires.
  static std::string expiry_of(const std::string& from) {
    const std::string table =
        run_program({"nft", "list table ip mini-kube-proxy"}).value_or("no table");
    std::smatch found;
    const std::regex remembered(from + R"( (?:timeout \w+ )?expires (\w+))");
    return std::regex_search(table, found, remembered) ? found[1].str() : "";
  }
  // Looks at the kernel's clock until `said` holds of a client's expiry.
  template <class Condition>
  static bool comes_to(const std::string& from, Condition said) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < deadline) {
      if (said(expiry_of(from))) return true;
    }
    return false;
  }
};

TEST_F(Affinity, AClientKeepsItsEndpointThroughAThousandOtherChanges) {
  write_web(10'800);
  write_slice("web", kOnePort, pods(1, 5));
  sync();
  const Pins pins = connect_all();
  for (int change = 0; change < 1000; ++change) {
    change_something_else(change);
    if (change % 10 == 9) sync();
    if (change % 100 == 99) {
      ASSERT_EQ(connect_all(), pins) << "after change " << change;
    }
  }
}

TEST_F(Affinity, AClientKeepsItsEndpointThroughRestartsAndKills) {
  write_web(10'800);
  write_slice("web", kOnePort, pods(1, 5));
  sync();
  const Pins pins = connect_all();
  for (const int signal : {SIGTERM, SIGKILL}) {
    expect_done(proxy_.stop(signal));
    EXPECT_EQ(connect_all(), pins) << "without a daemon";
    sync();
    EXPECT_EQ(connect_all(), pins) << "after a restart";
  }
}

TEST_F(Affinity, AClientKeepsItsEndpointWhenTheTimeoutIsAnother) {
  write_web(10'800);
  write_slice("web", kOnePort, pods(1, 5));
  sync();
  const Pins pins = connect_all();
  write_web(600);
  sync();
  EXPECT_EQ(connect_all(), pins);
  write_web(86'400);
  sync();
  EXPECT_EQ(connect_all(), pins);
}

TEST_F(Affinity, EachConnectionRenewsTheTimeoutAndItsEndEndsTheAffinity) {
  write_web(2);
  write_slice("web", kOnePort, pods(1, 5));
  sync();
  const Pins pins = connect_all();
  const std::string first = client(1);
  const auto under_a_second = [](const std::string& expiry) {
    return !expiry.empty() && expiry.find("ms") == expiry.find_first_not_of("0123456789");
  };
  // Each round takes more than a second: together they outlast the timeout.
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(comes_to(first, under_a_second));
    EXPECT_EQ(connect_to_web(first), pins.at(first));
    EXPECT_FALSE(under_a_second(expiry_of(first))) << "the connection did not renew it";
  }
  const auto forgotten = [](const std::string& expiry) { return expiry.empty(); };
  ASSERT_TRUE(comes_to(first, forgotten));
  EXPECT_NE(connect_all(), pins) << "sixteen clients chose anew, and all chose the same";
}

TEST_F(Affinity, AClientHasAnEndpointAtEachServicePort) {
  write_web(10'800, kTwoPorts);
  write_slice("web", kTwoPorts, pods(1, 5));
  sync();
  const Pins http = connect_all(80);
  const Pins admin = connect_all(81);
  Pins of_admin_as_of_http;
  for (const auto& [from, to] : admin) {
    of_admin_as_of_http[from] = to.substr(0, to.rfind(':')) + ":80";
  }
  EXPECT_NE(of_admin_as_of_http, http);
  EXPECT_EQ(connect_all(80), http);
  EXPECT_EQ(connect_all(81), admin);
}

TEST_F(Affinity, OnlyTheClientsOfAnEndpointThatGoesChooseAnewAndStayThere) {
  write_web(10'800);
  write_slice("web", kOnePort, pods(1, 5));
  sync();
  const Pins before = connect_all();
  write_slice("web", kOnePort, pods(2, 4));
  sync();
  const Pins after = connect_all();
  for (const auto& [from, to] : before) {
    if (to == "10.64.2.1:80") {
      EXPECT_NE(after.at(from), to);
    } else {
      EXPECT_EQ(after.at(from), to);
    }
  }
  EXPECT_EQ(connect_all(), after);
}

}  // namespace
}  // namespace mkp::packets
