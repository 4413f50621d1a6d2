#include "tests/fakes/fake_nftables.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/netlink/nftables_contract.h"
#include "tests/netlink/set_contents_contract.h"

namespace mkp::nft {
namespace {

struct MakeFake {
  static std::unique_ptr<Nftables> make() { return std::make_unique<FakeNftables>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, NftablesContract, MakeFake);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, SetContentsContract, MakeFake);

class FakeNftablesTest : public testing::Test {
 protected:
  std::string commit(std::vector<Operation> operations) {
    return outcome_text(kernel_.commit({IpFamily::Ipv4, "t", std::move(operations)}, std::nullopt));
  }
  FakeNftables kernel_;
};

TEST_F(FakeNftablesTest, CountsCommitsOperationsAndMessages) {
  EXPECT_EQ(commit({{AddTable{}}, {AddSet{addresses()}}}), "");
  EXPECT_EQ(commit({{AddElement{"addresses", element(ipv4("10.0.0.1"))}},
                    {AddElement{"addresses", element(ipv4("10.0.0.2"))}}}),
            "");
  EXPECT_EQ(kernel_.counters().commits, 2U);
  EXPECT_EQ(kernel_.counters().operations, 4U);
  EXPECT_EQ(kernel_.counters().messages, 3U);
}

TEST_F(FakeNftablesTest, FailsOneCommitWhenToldTo) {
  kernel_.fail_next_commit({Errc::Denied, "no"});
  EXPECT_EQ(commit({{AddTable{}}}), "failed: no");
  EXPECT_EQ(kernel_.text(IpFamily::Ipv4, "t"), "");
  EXPECT_EQ(commit({{AddTable{}}}), "");
}

TEST_F(FakeNftablesTest, RefusesOneCommitWhenToldTo) {
  kernel_.refuse_next({{0, 0, EINVAL}});
  EXPECT_EQ(commit({{AddTable{}}}), "0: EINVAL");
  EXPECT_EQ(kernel_.text(IpFamily::Ipv4, "t"), "");
  EXPECT_EQ(commit({{AddTable{}}}), "");
}

TEST_F(FakeNftablesTest, LetsOthersEditBehindOurBack) {
  EXPECT_EQ(commit({{AddTable{}}}), "");
  const std::uint32_t before = kernel_.generation().value();
  kernel_.edit(IpFamily::Ipv4, "t").chains.push_back({chain("theirs"), {}});
  EXPECT_EQ(kernel_.generation().value(), before + 1);
  EXPECT_EQ(kernel_.text(IpFamily::Ipv4, "t"), "table ip t {\n\tchain theirs {\n\t}\n}\n");
}

TEST_F(FakeNftablesTest, TakesAWholeLayout) {
  const Ruleset sample = sample_ruleset(IpFamily::Ipv6, "t");
  EXPECT_EQ(outcome_text(kernel_.commit(creation_of(sample), std::nullopt)), "");
  EXPECT_EQ(kernel_.text(IpFamily::Ipv6, "t"), to_text(sample));
}

}  // namespace
}  // namespace mkp::nft
