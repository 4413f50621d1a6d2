#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "netlink/route_addresses.h"
#include "tests/kernel/nft_program.h"
#include "tests/netlink/addresses_contract.h"

namespace mkp {
namespace {

void run_ip(const std::string& arguments) {
  ASSERT_EQ(std::system(("ip " + arguments).c_str()), 0) << arguments;
}

// A new network namespace, whose loopback interface is down and has no address.
class KernelAddressTable final : public AddressTable {
 public:
  KernelAddressTable() {
    nft::enter_new_network_namespace();
    addresses_ = RouteAddresses::open().value();
  }
  Addresses& addresses() override { return *addresses_; }
  void add(std::string_view ip) override { change("add", ip); }
  void remove(std::string_view ip) override { change("delete", ip); }

 private:
  static void change(const std::string& verb, std::string_view ip) {
    const char* const length = ip.find(':') == std::string_view::npos ? "/32" : "/128";
    run_ip("address " + verb + " " + std::string(ip) + length + " dev lo");
  }

  std::unique_ptr<RouteAddresses> addresses_;
};

struct MakeRouteAddresses {
  static std::unique_ptr<AddressTable> make() { return std::make_unique<KernelAddressTable>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Kernel, AddressesContract, MakeRouteAddresses);

using RouteAddressesTest = AddressesContract<MakeRouteAddresses>;

TEST_F(RouteAddressesTest, FollowsAnInterfaceThatComesAndGoes) {
  run_ip("link add one type veth peer name two");
  EXPECT_EQ(listed(), "");
  watch();
  EXPECT_FALSE(told());
  run_ip("address add 192.168.0.2/24 dev one");
  EXPECT_TRUE(told());
  EXPECT_EQ(listed(), "192.168.0.2");
  watch();
  EXPECT_FALSE(told());
  run_ip("link delete one");
  EXPECT_TRUE(told());
  EXPECT_EQ(listed(), "");
}

TEST_F(RouteAddressesTest, ListsTentativeAddresses) {
  run_ip("link add one type veth peer name two");
  run_ip("link set one up");
  run_ip("address add fd20::11/64 dev one");
  ASSERT_EQ(std::system("ip -6 address show dev one tentative | grep -q fd20::11"), 0);
  EXPECT_NE(listed().find("fd20::11"), std::string::npos);
}

TEST_F(RouteAddressesTest, ListsAnAddressOfTwoInterfacesOnce) {
  run_ip("link add one type veth peer name two");
  run_ip("address add 192.168.0.2/24 dev one");
  run_ip("address add 192.168.0.2/24 dev two");
  EXPECT_EQ(listed(), "192.168.0.2");
}

TEST_F(RouteAddressesTest, ListsItsOwnEndOfAPointToPointLink) {
  run_ip("link add one type veth peer name two");
  run_ip("address add 192.168.0.2 peer 192.168.0.3 dev one");
  EXPECT_EQ(listed(), "192.168.0.2");
}

TEST_F(RouteAddressesTest, TakesLostEventsForAChange) {
  run_ip("link add one type veth peer name two");
  EXPECT_EQ(listed(), "");
  const std::string batch = "/tmp/mkp-addresses-" + std::to_string(::getpid());
  ASSERT_EQ(std::system(("for i in $(seq 1 12); do for j in $(seq 1 254); do "
                         "echo \"address add 10.180.$i.$j/32 dev one\"; done; done > " +
                         batch)
                            .c_str()),
            0);
  // More events than the socket holds.
  run_ip("-batch " + batch);
  ::unlink(batch.c_str());
  watch();
  EXPECT_TRUE(told());
  watch();
  EXPECT_TRUE(told());
  const Result<std::vector<IpAddress>> all = table_->addresses().list();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 12U * 254U);
  watch();
  EXPECT_FALSE(told());
}

}  // namespace
}  // namespace mkp
