#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "netlink/kernel_features.h"
#include "netlink/nft_text.h"
#include "netlink/nftables_socket.h"
#include "netlink/table_owner.h"
#include "tests/kernel/nft_program.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

constexpr const char* kTable = "t";

// A verdict map and a data map with `count` elements each: what a flat layout of that many Services
// has.
Transaction large_layout(std::uint32_t count) {
  Transaction large{IpFamily::Ipv4,
                    kTable,
                    {{AddTable{}}, {AddChain{chain("a")}}, {AddSet{verdicts()}}, {AddSet{data()}}}};
  for (std::uint32_t i = 0; i < count; ++i) {
    large.operations.push_back({AddElement{"verdicts", element(number(i), go_to("a"), "ns/name")}});
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    large.operations.push_back({AddElement{"data", element(number(i), number(i + 1))}});
  }
  return large;
}

// Without the capabilities of root while it lives.
class OrdinaryUser {
 public:
  OrdinaryUser() { EXPECT_EQ(::seteuid(65534), 0); }
  ~OrdinaryUser() { EXPECT_EQ(::seteuid(0), 0); }
};

class NftablesSocketKernelTest : public testing::Test {
 protected:
  NftablesSocketKernelTest() {
    enter_new_network_namespace();
    kernel_ = std::move(*NftablesSocket::open());
  }
  std::string commit(const Transaction& transaction) {
    return outcome_text(kernel_->commit(transaction, std::nullopt));
  }
  std::unique_ptr<NftablesSocket> kernel_;
};

TEST_F(NftablesSocketKernelTest, TakesAsManyElementsAsALargeClusterHas) {
  constexpr std::uint32_t kServices = 45000;
  EXPECT_EQ(commit(large_layout(kServices)), "");
  const auto dumped = kernel_->dump(IpFamily::Ipv4, kTable);
  ASSERT_TRUE(dumped && *dumped);
  ASSERT_EQ((*dumped)->sets.size(), 2U);
  EXPECT_EQ((*dumped)->sets[0].elements.size(), kServices);
  EXPECT_EQ((*dumped)->sets[1].elements.size(), kServices);
}

TEST_F(NftablesSocketKernelTest, NamesTheOneElementThatIsRefusedAmongAll) {
  ASSERT_EQ(commit(large_layout(20000)), "");
  Transaction more = large_layout(20000);
  std::get<AddElement>(more.operations[30000].what).element.value = number(0);
  EXPECT_EQ(commit(more), "30000: EEXIST");
}

TEST_F(NftablesSocketKernelTest, TellsAsManyRefusalsAsItsBufferHolds) {
  Transaction wrong{IpFamily::Ipv4, kTable, {}};
  for (int i = 0; i < 20000; ++i) wrong.operations.push_back({DeleteChain{"missing"}});
  const auto refused = kernel_->commit(wrong, std::nullopt);
  ASSERT_TRUE(refused);
  EXPECT_GE(refused->size(), 1000U);
  EXPECT_EQ(refused->front(), (Refusal{0, 0, ENOENT}));
  EXPECT_EQ(commit({IpFamily::Ipv4, kTable, {{AddTable{}}}}),
            "");  // and none is left over for this one
}

TEST_F(NftablesSocketKernelTest, DumpsOneGenerationWhileOthersWrite) {
  ASSERT_EQ(commit(large_layout(2000)), "");
  std::unique_ptr<NftablesSocket> other = std::move(*NftablesSocket::open());
  // Both maps get the same keys in one transaction, so a dump between two would tell them apart.
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::uint32_t i = 10000; i < 10200; ++i) {
      const Transaction both{IpFamily::Ipv4,
                             kTable,
                             {{AddElement{"verdicts", element(number(i), go_to("a"))}},
                              {AddElement{"data", element(number(i), number(i))}}}};
      EXPECT_EQ(outcome_text(other->commit(both, std::nullopt)), "");
    }
    done = true;
  });
  while (!done) {
    const auto dumped = kernel_->dump(IpFamily::Ipv4, kTable);
    if (!dumped) {
      EXPECT_EQ(dumped.error().code, Errc::Expired);
      continue;
    }
    EXPECT_EQ((**dumped).sets.at(0).elements.size(), (**dumped).sets.at(1).elements.size());
  }
  writer.join();
}

TEST_F(NftablesSocketKernelTest, IsDeniedWithoutPrivilege) {
  const OrdinaryUser user;
  const auto kernel = std::move(*NftablesSocket::open());
  const auto committed = kernel->commit({IpFamily::Ipv4, kTable, {{AddTable{}}}}, std::nullopt);
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Errc::Denied);
  const auto dumped = kernel->dump(IpFamily::Ipv4, kTable);
  ASSERT_FALSE(dumped);
  EXPECT_EQ(dumped.error().code, Errc::Denied);
}

TEST_F(NftablesSocketKernelTest, HasAllThatWeNeed) {
  EXPECT_TRUE(check_kernel(*kernel_, IpFamily::Ipv4));
  EXPECT_TRUE(check_kernel(*kernel_, IpFamily::Ipv6));
  EXPECT_EQ(run_nft("list ruleset").output, "");
}

TEST_F(NftablesSocketKernelTest, TellsThatItNeedsPrivilege) {
  const OrdinaryUser user;
  const auto kernel = std::move(*NftablesSocket::open());
  const Result<> checked = check_kernel(*kernel, IpFamily::Ipv4);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Errc::Denied);
}

TEST(TableOwnerKernelTest, OwnsATableOncePerNetworkNamespace) {
  const Result<TableOwner> here = TableOwner::acquire("mkp-kernel-test");
  ASSERT_TRUE(here);
  EXPECT_FALSE(TableOwner::acquire("mkp-kernel-test"));
  enter_new_network_namespace();
  EXPECT_TRUE(TableOwner::acquire("mkp-kernel-test"));
}

}  // namespace
}  // namespace mkp::nft
