#include "netlink/ruleset_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "netlink/nft_text.h"
#include "tests/netlink/captured.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAreArray;

class CapturedDump : public testing::TestWithParam<IpFamily> {
 protected:
  const Ruleset sample_ = sample_ruleset(GetParam(), "sample");
  const Result<Ruleset> parsed_ = parse_dump(
      GetParam(), "sample", captured(GetParam() == IpFamily::Ipv4 ? "sample-ip" : "sample-ip6"));
};

TEST_P(CapturedDump, IsReadAsTheChainsAndRulesThatNftWrote) {
  ASSERT_TRUE(parsed_);
  EXPECT_EQ(parsed_->chains, sample_.chains);
}

TEST_P(CapturedDump, IsReadAsTheSetsAndElementsThatNftWrote) {
  ASSERT_TRUE(parsed_);
  ASSERT_EQ(parsed_->sets.size(), sample_.sets.size());
  for (std::size_t i = 0; i < sample_.sets.size(); ++i) {
    EXPECT_EQ(parsed_->sets[i].set, sample_.sets[i].set);
    EXPECT_THAT(parsed_->sets[i].elements, UnorderedElementsAreArray(sample_.sets[i].elements));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, CapturedDump, testing::Values(IpFamily::Ipv4, IpFamily::Ipv6));

TEST(RulesetDumpTest, PassesOverOtherTablesAndFamilies) {
  const Result<Ruleset> other_table = parse_dump(IpFamily::Ipv4, "other", captured("sample-ip"));
  ASSERT_TRUE(other_table);
  EXPECT_EQ(to_text(*other_table), "table ip other {\n}\n");
  const Result<Ruleset> other_family = parse_dump(IpFamily::Ipv6, "sample", captured("sample-ip"));
  ASSERT_TRUE(other_family);
  EXPECT_EQ(to_text(*other_family), "table ip6 sample {\n}\n");
}

// Sets and chains of a table of our name that somebody else has filled.
class ForeignDump : public testing::Test {
 protected:
  ForeignDump() {
    Result<Ruleset> parsed = parse_dump(IpFamily::Ipv4, "sample", captured("foreign-ip"));
    if (parsed) ruleset_ = std::move(*parsed);
  }
  const Ruleset::SetState& set(std::string_view name) {
    return *std::ranges::find(ruleset_.sets, name,
                              [](const auto& state) { return std::string_view(state.set.name); });
  }
  const Ruleset::ChainState& chain(std::string_view name) {
    return *std::ranges::find(ruleset_.chains, name,
                              [](const auto& state) { return std::string_view(state.chain.name); });
  }
  Ruleset ruleset_;
};

TEST_F(ForeignDump, TellsSetsThatWeNeverDeclareSo) {
  EXPECT_TRUE(set("cluster-ips").set.foreign);  // an interval set
  EXPECT_TRUE(set("timed").set.foreign);
  EXPECT_TRUE(set("counted").set.foreign);
  EXPECT_TRUE(set("named").set.foreign);  // a type of key
  EXPECT_TRUE(set("marks").set.foreign);  // a type of datum
  EXPECT_FALSE(set("plain-slots").set.foreign);
}

TEST_F(ForeignDump, LeavesOutAnElementItHasNoWordsForAndTellsItsSet) {
  EXPECT_TRUE(set("caught").set.foreign);  // a catch-all element
  ASSERT_EQ(set("caught").elements.size(), 1U);
  EXPECT_EQ(set("caught").elements[0].key, ipv4("10.0.0.1"));
}

TEST_F(ForeignDump, TellsBaseChainsThatWeNeverDeclareSo) {
  EXPECT_TRUE(chain("guarded").chain.foreign);  // policy drop
  EXPECT_TRUE(chain("route").chain.foreign);
  EXPECT_FALSE(chain("other").chain.foreign);
}

TEST_F(ForeignDump, KeepsWhatItDoesNotUnderstandOfARule) {
  std::string names;
  for (const Rule& rule : chain("other").rules) {
    for (const Expression& expression : rule.expressions) {
      const auto* unknown = std::get_if<UnknownExpression>(&expression);
      if (unknown != nullptr) names += unknown->name + "\n";
    }
  }
  EXPECT_EQ(names,
            "counter\nlimit\nlog\n"
            "lookup\n"          // ip saddr != @counted
            "nat\n"             // dnat without a port
            "nat\n"             // snat
            "masq\n"            // random
            "reject\nreject\n"  // tcp reset, host-unreachable
            "ct\nct\n"          // mark, original saddr
            "meta\n"            // oifname
            "numgen\nhash\n"    // numgen inc
            "fib\n"             // fib daddr . iif
            "immediate\n");     // continue
}

class MalformedDump : public testing::Test {
 protected:
  const std::vector<std::uint8_t> bytes_ = captured("sample-ip");
};

TEST_F(MalformedDump, IsRefusedWhereverItIsCutShort) {
  const ByteSpan first = ByteSpan(bytes_).first(load_host<std::uint32_t>(bytes_.data()));
  EXPECT_TRUE(parse_dump(IpFamily::Ipv4, "sample", first));
  for (std::size_t size = 1; size < first.size(); ++size) {
    EXPECT_FALSE(parse_dump(IpFamily::Ipv4, "sample", first.first(size))) << size;
  }
}

TEST_F(MalformedDump, IsRefusedWhenAnAttributeIsLongerThanItsMessage) {
  std::vector<std::uint8_t> bytes = bytes_;
  store_host(bytes.data() + 20, std::uint16_t{0xffff});
  EXPECT_FALSE(parse_dump(IpFamily::Ipv4, "sample", bytes));
}

TEST_F(MalformedDump, IsRefusedWhenAnAttributeIsShorterThanItsHeader) {
  std::vector<std::uint8_t> bytes = bytes_;
  store_host(bytes.data() + 20, std::uint16_t{3});
  EXPECT_FALSE(parse_dump(IpFamily::Ipv4, "sample", bytes));
}

TEST(GenerationTest, IsRefusedInAnotherMessage) {
  const std::vector<std::uint8_t> bytes = captured("sample-ip");
  MessageReader messages(bytes);
  EXPECT_EQ(parse_generation(*messages.next()).error().code, Errc::Invalid);
}

}  // namespace
}  // namespace mkp::nft
