#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/packets/descriptor.h"
#include "tests/packets/program.h"
#include "tests/packets/proxied_node.h"

namespace mkp::packets {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kNode = "10.20.0.11";
constexpr const char* kOutside = "192.0.2.7";
constexpr const char* kPod = "10.64.1.50";

// A Service with node port 30080 and one endpoint, beside whatever else uses the node.
class Coexistence : public ProxiedNode {
 protected:
  Coexistence() : ProxiedNode(Following::KeptRunning) {}

  void SetUp() override {
    ProxiedNode::SetUp();
    write_service("web", "10.96.0.10", "[{name: http, port: 80, nodePort: 30080}]",
                  "  type: NodePort\n");
    write_slice("web", "[{name: http, port: 8080}]", {"10.64.2.1"});
  }

  // "" when nft took the commands.
  static std::string nft(const std::string& commands) {
    const Result<std::string> done = run_program({"nft", "-f", "-"}, commands);
    return done ? *done : done.error().what;
  }
  // What container runtimes set up for a port of the node that they lead to a pod.
  static void lead_host_port_8888_to_a_pod() {
    EXPECT_EQ(nft("table ip host-ports {\n"
                  "chain in {\ntype nat hook prerouting priority -100\n"
                  "fib daddr type local tcp dport 8888 dnat to 10.64.1.9:80\n}\n"
                  "chain out {\ntype nat hook output priority -100\n"
                  "fib daddr type local tcp dport 8888 dnat to 10.64.1.9:80\n}\n}\n"),
              "");
  }
  void expect_both_ports_to_work() {
    EXPECT_EQ(connect(kOutside, kNode, 8888), "10.64.1.9:80");
    EXPECT_EQ(connect(kOutside, kNode, 30080), "10.64.2.1:8080 masqueraded");
    EXPECT_EQ(connect(kPod, "10.96.0.10", 80), "10.64.2.1:8080");
  }
  static std::string sockets() {
    std::stringstream all;
    for (const char* table : {"tcp", "tcp6", "udp", "udp6"}) {
      all << std::ifstream(std::string("/proc/thread-self/net/") + table).rdbuf();
    }
    return all.str();
  }
};

TEST_F(Coexistence, NoSocketListensOnANodePort) {
  sync();
  EXPECT_EQ(connect(kOutside, kNode, 30080), "10.64.2.1:8080 masqueraded");
  EXPECT_THAT(sockets(), Not(HasSubstr(fmt::format(":{:04X} ", 30080))));
}

TEST_F(Coexistence, AProcessMayBindANodePortAndOthersStillReachTheService) {
  sync();
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(30080);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  EXPECT_EQ(connect(kOutside, kNode, 30080), "10.64.2.1:8080 masqueraded");
}

TEST_F(Coexistence, HostPortsOfTheContainerRuntimeWorkBesideNodePortsWhicheverCameFirst) {
  lead_host_port_8888_to_a_pod();
  sync();
  expect_both_ports_to_work();
  EXPECT_EQ(nft("delete table ip host-ports\n"), "");
  lead_host_port_8888_to_a_pod();
  expect_both_ports_to_work();
}

TEST_F(Coexistence, TheRulesOfOthersStayAsTheyAreThroughChangesAndRestarts) {
  lead_host_port_8888_to_a_pod();
  const auto theirs = [] {
    return run_program({"nft", "-a", "list table ip host-ports"}).value_or("none");
  };
  const std::string before = theirs();
  sync();
  write_slice("web", "[{name: http, port: 8080}]", {"10.64.2.1", "10.64.2.2"});
  sync();
  expect_done(proxy_.stop(SIGTERM));
  sync();
  EXPECT_EQ(theirs(), before);
}

TEST_F(Coexistence, PoliciesBeforeSourceTranslationSeeTheClientsAddress) {
  sync();
  ASSERT_EQ(nft("table ip policies { chain forward {\ntype filter hook forward priority 0\n"
                "ip saddr 192.0.2.7 ip daddr 10.64.2.1 drop\n}\n}\n"),
            "");
  EXPECT_EQ(connect(kOutside, kNode, 30080), "drop");
  EXPECT_EQ(connect("192.0.2.8", kNode, 30080), "10.64.2.1:8080 masqueraded");
}

TEST_F(Coexistence, AFrozenDaemonTakesUpAtOnceWhatChangedMeanwhile) {
  const std::string port = "[{name: dns, protocol: UDP, port: 53}]";
  write_service("dns", "10.96.0.53", port);
  write_slice("dns", port, {"10.64.2.3"});
  sync();
  const auto ask = [this] { return connect(kPod, "10.96.0.53", 53, Transport::Udp, 41'119); };
  EXPECT_EQ(ask(), "10.64.2.3:53");
  proxy_.signal(SIGSTOP);
  write_slice("dns", port, {"10.64.2.4"});
  EXPECT_EQ(ask(), "10.64.2.3:53");
  proxy_.signal(SIGCONT);
  sync();
  EXPECT_EQ(connect(kPod, "10.96.0.53", 53, Transport::Udp), "10.64.2.4:53");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::string answer = ask();
  while (answer != "10.64.2.4:53" && std::chrono::steady_clock::now() < deadline) answer = ask();
  EXPECT_EQ(answer, "10.64.2.4:53") << "the flow that keeps its source port";
}

}  // namespace
}  // namespace mkp::packets
