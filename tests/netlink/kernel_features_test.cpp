#include "netlink/kernel_features.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <variant>

#include "tests/fakes/fake_nftables.h"

namespace mkp::nft {
namespace {

template <class Kind>
bool uses(const Operation& operation) {
  const auto* add = std::get_if<AddRule>(&operation.what);
  return add != nullptr && std::ranges::any_of(add->rule.expressions, [](const Expression& one) {
           return std::holds_alternative<Kind>(one);
         });
}

class KernelFeaturesTest : public testing::Test {
 protected:
  std::string complaint(IpFamily family = IpFamily::Ipv4) {
    const Result<> checked = check_kernel(kernel_, family);
    return checked ? "" : checked.error().what;
  }
  FakeNftables kernel_;
};

TEST_F(KernelFeaturesTest, IsContentWithAKernelThatHasEverything) {
  EXPECT_EQ(complaint(IpFamily::Ipv4), "");
  EXPECT_EQ(complaint(IpFamily::Ipv6), "");
  EXPECT_EQ(kernel_.counters().commits, 2U);
}

TEST_F(KernelFeaturesTest, LeavesNothingBehind) {
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(kernel_.find_table(IpFamily::Ipv4, "mkp-kernel-probe"), nullptr);
}

TEST_F(KernelFeaturesTest, NamesEverythingThatIsMissing) {
  kernel_.object([](const Operation& operation) {
    return uses<Dnat>(operation) || uses<Numgen>(operation) ? ENOENT : 0;
  });
  EXPECT_EQ(complaint(),
            "nf_tables of this kernel lacks, for family ip: random numbers (CONFIG_NFT_NUMGEN): No "
            "such file or directory; NAT (CONFIG_NFT_NAT): No such file or directory");
}

TEST_F(KernelFeaturesTest, NamesTheOptionOfTheFamily) {
  kernel_.object([](const Operation& operation) { return uses<Reject>(operation) ? ENOENT : 0; });
  EXPECT_EQ(complaint(IpFamily::Ipv6),
            "nf_tables of this kernel lacks, for family ip6: rejecting packets "
            "(CONFIG_NFT_REJECT_IPV6): No such file or directory");
}

TEST_F(KernelFeaturesTest, NamesBothOptionsOfRoutesForTheFamily) {
  kernel_.object([](const Operation& operation) { return uses<FibLoad>(operation) ? ENOENT : 0; });
  EXPECT_EQ(complaint(IpFamily::Ipv6),
            "nf_tables of this kernel lacks, for family ip6: types of addresses by route "
            "(CONFIG_NFT_FIB, CONFIG_NFT_FIB_IPV6): No such file or directory");
}

TEST_F(KernelFeaturesTest, NamesContentsOfSetsThatAreMissing) {
  kernel_.object([](const Operation& operation) {
    const auto* add = std::get_if<AddSet>(&operation.what);
    return add != nullptr && add->set.content != Set::Content::Keys ? EOPNOTSUPP : 0;
  });
  EXPECT_EQ(complaint(),
            "nf_tables of this kernel lacks, for family ip: intervals in concatenated keys "
            "(CONFIG_NF_TABLES of Linux 5.6 or later): Operation not supported; sets with timeouts "
            "that rules update (CONFIG_NF_TABLES): Operation not supported");
}

TEST_F(KernelFeaturesTest, TellsAKernelWithoutNfTables) {
  kernel_.object([](const Operation&) { return EOPNOTSUPP; });
  EXPECT_EQ(complaint(IpFamily::Ipv6),
            "the kernel has no nf_tables for family ip6 (CONFIG_NF_TABLES, CONFIG_NF_TABLES_IPV4, "
            "CONFIG_NF_TABLES_IPV6): Operation not supported");
}

TEST_F(KernelFeaturesTest, TellsWhichPrivilegeItNeeds) {
  kernel_.fail_next_commit({Errc::Denied, "commit: Operation not permitted"});
  const Result<> checked = check_kernel(kernel_, IpFamily::Ipv4);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error(),
            (Error{Errc::Denied,
                   "nf_tables needs CAP_NET_ADMIN in this network namespace: commit: Operation not "
                   "permitted"}));
}

}  // namespace
}  // namespace mkp::nft
