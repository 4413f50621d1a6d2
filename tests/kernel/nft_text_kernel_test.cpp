#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "netlink/nft_text.h"
#include "netlink/nftables_socket.h"
#include "tests/kernel/nft_program.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

// Each test in a network namespace of its own, with a sample of every object, of either family.
class NftTextKernelTest : public testing::TestWithParam<IpFamily> {
 protected:
  NftTextKernelTest() {
    enter_new_network_namespace();
    kernel_ = std::move(*NftablesSocket::open());
  }
  std::string commit(const Transaction& transaction) {
    return outcome_text(kernel_->commit(transaction, std::nullopt));
  }
  // One without anything when there is no such table.
  Ruleset dump() {
    return kernel_->dump(GetParam(), "sample").value_or(std::nullopt).value_or(Ruleset{});
  }
  // That the kernel has every object of the sample, as the same value.
  void expect_sample() {
    const Ruleset dumped = dump();
    EXPECT_EQ(dumped.chains, sample_.chains);
    ASSERT_EQ(dumped.sets.size(), sample_.sets.size());
    for (std::size_t i = 0; i < sample_.sets.size(); ++i) {
      EXPECT_EQ(dumped.sets[i].set, sample_.sets[i].set);
      EXPECT_THAT(dumped.sets[i].elements,
                  testing::UnorderedElementsAreArray(sample_.sets[i].elements));
    }
  }
  std::string dumped_text() { return to_text(dump()); }

  const Ruleset sample_ = sample_ruleset(GetParam(), "sample");
  std::unique_ptr<NftablesSocket> kernel_;
};

TEST_P(NftTextKernelTest, TheKernelGivesBackWhatItWasSent) {
  ASSERT_EQ(commit(creation_of(sample_)), "");
  expect_sample();
}

TEST_P(NftTextKernelTest, NftMakesOfOurTextWhatWeSend) {
  const NftOutcome loaded = run_nft("-f -", to_text(sample_));
  EXPECT_EQ(loaded.output, "");
  expect_sample();
}

TEST_P(NftTextKernelTest, NftListsOurTextAndOurBytesAlike) {
  ASSERT_EQ(commit(creation_of(sample_)), "");
  const NftOutcome ours = run_nft("list ruleset");
  EXPECT_EQ(run_nft("-f -", "flush ruleset\n" + to_text(sample_)).output, "");
  EXPECT_EQ(run_nft("list ruleset").output, ours.output);
}

TEST_P(NftTextKernelTest, OurTextIsWhatNftLists) {
  ASSERT_EQ(commit(creation_of(sample_)), "");
  EXPECT_EQ(run_nft("list ruleset").output, to_text(sample_));
}

TEST_P(NftTextKernelTest, WhatNftListsOfOursLoadsAgain) {
  ASSERT_EQ(commit(creation_of(sample_)), "");
  const NftOutcome listed = run_nft("list ruleset");
  EXPECT_EQ(run_nft("-f -", "flush ruleset\n" + listed.output).output, "");
  EXPECT_EQ(run_nft("list ruleset").output, listed.output);
  EXPECT_EQ(dumped_text(), to_text(sample_));
}

TEST_P(NftTextKernelTest, NftTakesOurLinesForOperations) {
  OperationPrinter printer(GetParam(), "sample");
  std::string script;
  for (const Operation& operation : creation_of(sample_).operations) {
    script += "add " + printer.to_text(operation) + "\n";
  }
  EXPECT_EQ(run_nft("-f -", script).output, "");
  EXPECT_EQ(dumped_text(), to_text(sample_));
}

INSTANTIATE_TEST_SUITE_P(Families, NftTextKernelTest,
                         testing::Values(IpFamily::Ipv4, IpFamily::Ipv6), [](const auto& family) {
                           return family.param == IpFamily::Ipv4 ? "Ipv4" : "Ipv6";
                         });

}  // namespace
}  // namespace mkp::nft
