#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "netlink/nftables_socket.h"
#include "tests/kernel/nft_program.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// A table "t" with the set "clients" and the chain "a" that adds to it.
class RememberedClientsTest : public testing::Test {
 protected:
  RememberedClientsTest() {
    enter_new_network_namespace();
    kernel_ = std::move(*NftablesSocket::open());
  }
  std::string commit(std::vector<Operation> operations) {
    return outcome_text(
        kernel_->commit({IpFamily::Ipv4, "t", std::move(operations)}, std::nullopt));
  }
  void set_up_table() {
    ASSERT_EQ(commit({{AddTable{}},
                      {AddChain{chain("a")}},
                      {AddSet{clients()}},
                      {AddRule{"a", remember(10800)}}}),
              "");
  }
  static Rule remember(std::uint32_t timeout) {
    return rule(load_source(), SetUpdate{"clients", 0, timeout});
  }
  // The only set of the table.
  Ruleset::SetState dumped_set() {
    const std::optional<Ruleset> dumped = kernel_->dump(IpFamily::Ipv4, "t").value_or(std::nullopt);
    return dumped && dumped->sets.size() == 1 ? dumped->sets.front() : Ruleset::SetState{};
  }
  // What a dump says of a set that nft has declared so.
  Set declared(const std::string& properties) {
    const std::string script = "add table ip t\nadd set ip t clients { " + properties + " }\n";
    EXPECT_EQ(run_nft("-f -", script).output, "");
    return dumped_set().set;
  }

  std::unique_ptr<NftablesSocket> kernel_;
};

TEST_F(RememberedClientsTest, OutliveTheRefillOfTheirChainWithTheTimeThatIsLeft) {
  set_up_table();
  ASSERT_EQ(run_nft("add element ip t clients { 10.0.0.1 timeout 3h expires 2h }").output, "");
  EXPECT_EQ(commit({{AddSet{clients()}}, {FlushChain{"a"}}, {AddRule{"a", remember(60)}}}), "");
  const std::string listed = run_nft("list set ip t clients").output;
  EXPECT_THAT(listed, AnyOf(HasSubstr("10.0.0.1 timeout 3h expires 1h59m59s"),
                            HasSubstr("10.0.0.1 timeout 3h expires 2h")));
}

TEST_F(RememberedClientsTest, AreNoPartOfADump) {
  set_up_table();
  ASSERT_EQ(run_nft("add element ip t clients { 10.0.0.1 timeout 3h }").output, "");
  EXPECT_EQ(dumped_set(), (Ruleset::SetState{clients(), {}}));
}

TEST_F(RememberedClientsTest, AreDeclaredByNftAsByUs) {
  EXPECT_EQ(declared("type ipv4_addr; size 65535; flags dynamic,timeout;"), clients());
}

class ForeignClientsTest : public RememberedClientsTest,
                           public testing::WithParamInterface<const char*> {};

TEST_P(ForeignClientsTest, AreTold) { EXPECT_TRUE(declared(GetParam()).foreign); }

INSTANTIATE_TEST_SUITE_P(
    Declarations, ForeignClientsTest,
    testing::Values("type ipv4_addr; size 1024; flags dynamic,timeout;",
                    "type ipv4_addr; size 65535; flags dynamic,timeout; timeout 3h;",
                    "type ipv4_addr; size 65535; flags dynamic;", "type ipv4_addr; flags timeout;",
                    "type ipv4_addr; size 65535;",
                    "type ipv4_addr . inet_service; flags interval,timeout;",
                    "type ipv4_addr . inet_service; size 10; flags interval;",
                    "type ipv4_addr; flags interval;"));

}  // namespace
}  // namespace mkp::nft
