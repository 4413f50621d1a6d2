#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "netlink/conntrack_socket.h"
#include "tests/kernel/conntrack_entries.h"
#include "tests/kernel/nft_program.h"
#include "tests/netlink/conntrack_contract.h"

namespace mkp {
namespace {

struct MakeKernelTable {
  static std::unique_ptr<ConntrackTable> make() {
    return std::make_unique<KernelTable>(std::make_unique<ConntrackSocket>());
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Kernel, ConntrackContract, MakeKernelTable);

class ConntrackSocketTest : public ConntrackContract<MakeKernelTable> {
 protected:
  // One datagram from there to there; whether it arrives is no matter.
  static void send(const std::string& from, const std::string& to) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_in source = address_of(from);
    const sockaddr_in destination = address_of(to);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof(source)), 0) << errno;
    ASSERT_EQ(::sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&destination),
                       sizeof(destination)),
              1)
        << errno;
    ::close(fd);
  }
  static sockaddr_in address_of(const std::string& text) {
    const FlowEnd end = flow_end(text);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(end.port);
    std::memcpy(&address.sin_addr, end.ip.bytes.data(), sizeof(address.sin_addr));
    return address;
  }
  static void run_ip(const std::string& arguments) {
    ASSERT_EQ(std::system(("ip " + arguments).c_str()), 0) << arguments;
  }
};

TEST_F(ConntrackSocketTest, ShowsAndForgetsWhatRulesTranslate) {
  run_ip("link set lo up");
  run_ip("address add 192.168.0.1/32 dev lo");
  run_ip("route add 172.30.0.0/16 dev lo src 192.168.0.1");
  const nft::NftOutcome loaded =
      nft::run_nft("-f -",
                   "table ip t {\n"
                   "  chain out {\n"
                   "    type nat hook output priority -100\n"
                   "    ip daddr 172.30.0.10 udp dport 53 dnat to 192.168.0.1:5353\n"
                   "  }\n"
                   "}\n");
  ASSERT_EQ(loaded.status, 0) << loaded.output;
  send("192.168.0.1:41001", "172.30.0.10:53");
  send("192.168.0.1:41002", "192.168.0.1:54");
  EXPECT_EQ(shown(IpFamily::Ipv4),
            "192.168.0.1:41001 to 172.30.0.10:53, answered by 192.168.0.1:5353\n"
            "192.168.0.1:41002 to 192.168.0.1:54, answered by 192.168.0.1:54\n");
  EXPECT_EQ(forget({find(flow("192.168.0.1:41001", "172.30.0.10:53"))}), 1U);
  EXPECT_EQ(shown(IpFamily::Ipv4),
            "192.168.0.1:41002 to 192.168.0.1:54, answered by 192.168.0.1:54\n");
}

TEST_F(ConntrackSocketTest, ShowsAndForgets20000Flows) {
  table_->add(many(20'000));
  const auto start = std::chrono::steady_clock::now();
  std::vector<UdpFlow> flows = visit(IpFamily::Ipv4);
  const auto shown_at = std::chrono::steady_clock::now();
  EXPECT_EQ(flows.size(), 20'000U);
  EXPECT_EQ(forget(std::move(flows)), 20'000U);
  const auto end = std::chrono::steady_clock::now();
  EXPECT_EQ(shown(IpFamily::Ipv4), "");
  const auto milliseconds = [](auto span) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(span).count());
  };
  RecordProperty("visit_ms", milliseconds(shown_at - start));
  RecordProperty("forget_ms", milliseconds(end - shown_at));
}

TEST_F(ConntrackSocketTest, IsDeniedWithoutCapNetAdmin) {
  table_->add({web_});
  const UdpFlow there = find(web_);
  // Capabilities are a thread's own.
  std::thread([&] {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    ASSERT_EQ(::syscall(SYS_capset, &header, none), 0);
    Conntrack::Visit nothing = [](const UdpFlow&) {};
    const Result<> visited = run(table_->conntrack().visit_udp(IpFamily::Ipv4, nothing));
    ASSERT_FALSE(visited);
    EXPECT_EQ(visited.error().code, Errc::Denied);
    EXPECT_EQ(visited.error().what,
              "list flows: connection tracking is closed to us (give us CAP_NET_ADMIN)");
    const Result<std::size_t> forgotten = run(table_->conntrack().forget({there}));
    ASSERT_FALSE(forgotten);
    EXPECT_EQ(forgotten.error().code, Errc::Denied);
  }).join();
  EXPECT_EQ(shown(IpFamily::Ipv4), to_text(std::vector{web_}));
}

}  // namespace
}  // namespace mkp
