#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "netlink/nft_text.h"
#include "netlink/nftables.h"
#include "netlink/ruleset.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {

// What nf_tables promises, whoever keeps it. `Maker` has a static `std::unique_ptr<Nftables>
// make()` whose answer has no table "contract" yet.
template <class Maker>
class NftablesContract : public testing::Test {
 protected:
  static constexpr const char* kTable = "contract";

  ~NftablesContract() override {
    // Refused when there is none, which is fine.
    (void)nftables_->commit({IpFamily::Ipv4, kTable, {{DeleteTable{}}}}, std::nullopt);
  }

  Result<std::vector<Refusal>> commit(std::vector<Operation> operations,
                                      std::optional<std::uint32_t> generation = std::nullopt) {
    return nftables_->commit({IpFamily::Ipv4, kTable, std::move(operations)}, generation);
  }
  // "" when taken; else what was refused, and how the whole of it failed.
  std::string outcome(std::vector<Operation> operations,
                      std::optional<std::uint32_t> generation = std::nullopt) {
    return outcome_text(commit(std::move(operations), generation));
  }
  std::string table_text() {
    const Result<std::optional<Ruleset>> dumped = nftables_->dump(IpFamily::Ipv4, kTable);
    if (!dumped) return "failed: " + dumped.error().what;
    return *dumped ? to_text(**dumped) : "no table";
  }
  std::uint32_t generation() { return nftables_->generation().value_or(0); }

  // A table with the chains a and b, the set addresses and the maps verdicts and data.
  void set_up_table() {
    ASSERT_EQ(outcome({{AddTable{}},
                       {AddChain{chain("a")}},
                       {AddChain{chain("b")}},
                       {AddSet{addresses()}},
                       {AddSet{verdicts()}},
                       {AddSet{data()}}}),
              "");
  }

  std::unique_ptr<Nftables> nftables_ = Maker::make();
};

TYPED_TEST_SUITE_P(NftablesContract);

TYPED_TEST_P(NftablesContract, HasNoTableAtFirst) { EXPECT_EQ(this->table_text(), "no table"); }

TYPED_TEST_P(NftablesContract, GivesBackWhatItWasGiven) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(goto_chain("b"))}},
                           {AddElement{"addresses", element(ipv4("10.0.0.1"))}},
                           {AddElement{"verdicts", element(ipv4("10.0.0.2"), go_to("b"), "web")}},
                           {AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.4"))}}}),
            "");
  EXPECT_EQ(this->table_text(),
            "table ip contract {\n"
            "\tset addresses {\n"
            "\t\ttype ipv4_addr\n"
            "\t\telements = { 10.0.0.1 }\n"
            "\t}\n\n"
            "\tmap verdicts {\n"
            "\t\ttype ipv4_addr : verdict\n"
            "\t\telements = { 10.0.0.2 comment \"web\" : goto b }\n"
            "\t}\n\n"
            "\tmap data {\n"
            "\t\ttype ipv4_addr : ipv4_addr\n"
            "\t\telements = { 10.0.0.3 : 10.0.0.4 }\n"
            "\t}\n\n"
            "\tchain a {\n"
            "\t\tgoto b\n"
            "\t}\n\n"
            "\tchain b {\n"
            "\t}\n"
            "}\n");
}

TYPED_TEST_P(NftablesContract, KeepsFamiliesApart) {
  this->set_up_table();
  const auto other = this->nftables_->dump(IpFamily::Ipv6, this->kTable);
  EXPECT_TRUE(other && !other->has_value());
}

TYPED_TEST_P(NftablesContract, MovesTheGenerationByOneWithEachChange) {
  const std::uint32_t before = this->generation();
  EXPECT_EQ(this->outcome({{AddTable{}}}), "");
  EXPECT_EQ(this->generation(), before + 1);
}

TYPED_TEST_P(NftablesContract, TellsTheGenerationOfADump) {
  this->set_up_table();
  const auto dumped = this->nftables_->dump(IpFamily::Ipv4, this->kTable);
  ASSERT_TRUE(dumped && *dumped);
  EXPECT_EQ((*dumped)->generation, this->generation());
}

TYPED_TEST_P(NftablesContract, LeavesTheGenerationAloneWhenItRefuses) {
  this->set_up_table();
  const std::uint32_t before = this->generation();
  EXPECT_EQ(this->outcome({{AddChain{chain("c")}}, {DeleteChain{"missing"}}}), "1: ENOENT");
  EXPECT_EQ(this->generation(), before);
}

TYPED_TEST_P(NftablesContract, TakesATransactionMadeAgainstTheCurrentGeneration) {
  EXPECT_EQ(this->outcome({{AddTable{}}}, this->generation()), "");
}

TYPED_TEST_P(NftablesContract, ExpiresATransactionMadeAgainstAnEarlierGeneration) {
  const std::uint32_t before = this->generation();
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddChain{chain("c")}}}, before), "expired");
  EXPECT_THAT(this->table_text(), testing::Not(testing::HasSubstr("chain c")));
}

TYPED_TEST_P(NftablesContract, TakesNothingOfATransactionThatItRefuses) {
  this->set_up_table();
  const std::string before = this->table_text();
  EXPECT_EQ(this->outcome({{AddChain{chain("c")}},
                           {AddElement{"addresses", element(ipv4("10.0.0.1"))}},
                           {DeleteSet{"data"}},
                           {FlushChain{"a"}},
                           {AddElement{"missing", element(ipv4("10.0.0.1"))}}}),
            "4: ENOENT");
  EXPECT_EQ(this->table_text(), before);
}

TYPED_TEST_P(NftablesContract, TellsEveryOperationThatItRefuses) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{DeleteChain{"missing"}}, {AddChain{chain("c")}}, {DeleteSet{"none"}}}),
            "0: ENOENT, 2: ENOENT");
}

TYPED_TEST_P(NftablesContract, TakesWhatIsThereAlready) {
  this->set_up_table();
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.4"))}}}), "");
  EXPECT_EQ(this->outcome({{AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.4"))}}}), "");
}

TYPED_TEST_P(NftablesContract, RefusesAnotherValueForAKey) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.4"))}}}), "");
  EXPECT_EQ(this->outcome({{AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.5"))}}}),
            "0: EEXIST");
}

TYPED_TEST_P(NftablesContract, RefusesAnotherVerdictForAKey) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"verdicts", element(ipv4("10.0.0.2"), go_to("a"))}}}), "");
  EXPECT_EQ(this->outcome({{AddElement{"verdicts", element(ipv4("10.0.0.2"), go_to("b"))}}}),
            "0: EEXIST");
}

TYPED_TEST_P(NftablesContract, KeepsTheCommentOfAnElementThatIsAddedAgain) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"addresses", element(ipv4("10.0.0.1"), {}, "one")}}}), "");
  EXPECT_EQ(this->outcome({{AddElement{"addresses", element(ipv4("10.0.0.1"), {}, "two")}}}), "");
  EXPECT_THAT(this->table_text(), testing::HasSubstr("10.0.0.1 comment \"one\""));
}

TYPED_TEST_P(NftablesContract, ReplacesAnElementWithinOneTransaction) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.4"))}}}), "");
  EXPECT_EQ(this->outcome({{DeleteElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.4"))}},
                           {AddElement{"data", element(ipv4("10.0.0.3"), ipv4("10.0.0.5"))}}}),
            "");
  EXPECT_THAT(this->table_text(), testing::HasSubstr("10.0.0.3 : 10.0.0.5"));
}

TYPED_TEST_P(NftablesContract, NamesTheOneElementThatItRefusesAmongMany) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"addresses", element(ipv4("10.0.0.1"))}},
                           {AddElement{"data", element(ipv4("10.0.0.1"), ipv4("10.1.0.1"))}},
                           {AddElement{"data", element(ipv4("10.0.0.2"), ipv4("10.1.0.1"))}},
                           {AddElement{"data", element(ipv4("10.0.0.2"), ipv4("10.1.0.2"))}},
                           {AddElement{"data", element(ipv4("10.0.0.2"), ipv4("10.1.0.3"))}}}),
            "3: EEXIST");
}

TYPED_TEST_P(NftablesContract, RefusesToDeleteAnElementThatIsNotThere) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{DeleteElement{"addresses", element(ipv4("10.0.0.1"))}}}), "0: ENOENT");
}

TYPED_TEST_P(NftablesContract, RefusesElementsThatAreNotOfTheirSetsShape) {
  this->set_up_table();
  Bytes pair = ipv4("10.0.0.1");
  pair.append_field(ipv4("10.0.0.2").span());
  EXPECT_EQ(this->outcome({{AddElement{"addresses", element(pair)}}}), "0: EINVAL");
  EXPECT_EQ(this->outcome({{AddElement{"data", element(ipv4("10.0.0.1"))}}}), "0: EINVAL");
  EXPECT_EQ(this->outcome({{AddElement{"addresses", element(ipv4("10.0.0.1"), ipv4("1.1.1.1"))}}}),
            "0: EINVAL");
}

TYPED_TEST_P(NftablesContract, RefusesACommentThatIsTooLong) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{
                "addresses", element(ipv4("10.0.0.1"), {}, std::string(kMaxComment, 'x'))}}}),
            "");
  EXPECT_EQ(this->outcome({{AddElement{
                "addresses", element(ipv4("10.0.0.2"), {}, std::string(kMaxComment + 1, 'x'))}}}),
            "0: EINVAL");
}

TYPED_TEST_P(NftablesContract, RefusesAVerdictForAChainThatIsNotThere) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"verdicts", element(ipv4("10.0.0.2"), go_to("c"))}}}),
            "0: ENOENT");
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(goto_chain("c"))}}}), "0: ENOENT");
}

TYPED_TEST_P(NftablesContract, RefusesALookupInASetThatIsNotThere) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(load_destination(), Lookup{"none", 0})}}}),
            "0: ENOENT");
}

TYPED_TEST_P(NftablesContract, KeepsAChainThatARuleLeadsTo) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(goto_chain("b"))}}}), "");
  EXPECT_EQ(this->outcome({{DeleteChain{"b"}}}), "0: EBUSY");
  EXPECT_EQ(this->outcome({{FlushChain{"a"}}, {DeleteChain{"b"}}}), "");
}

TYPED_TEST_P(NftablesContract, KeepsAChainThatAnElementLeadsTo) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddElement{"verdicts", element(ipv4("10.0.0.2"), go_to("b"))}}}), "");
  EXPECT_EQ(this->outcome({{DeleteChain{"b"}}}), "0: EBUSY");
  EXPECT_EQ(this->outcome({{DeleteElement{"verdicts", element(ipv4("10.0.0.2"), go_to("b"))}},
                           {DeleteChain{"b"}}}),
            "");
}

TYPED_TEST_P(NftablesContract, KeepsASetThatARuleLooksUpIn) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(load_destination(), Lookup{"addresses", 0})}}}), "");
  EXPECT_EQ(this->outcome({{DeleteSet{"addresses"}}}), "0: EBUSY");
}

TYPED_TEST_P(NftablesContract, DeletesAChainWithItsRulesAndASetWithItsElements) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(goto_chain("b"))}},
                           {AddElement{"addresses", element(ipv4("10.0.0.1"))}}}),
            "");
  EXPECT_EQ(this->outcome({{DeleteChain{"a"}}, {DeleteChain{"b"}}, {DeleteSet{"addresses"}}}), "");
  EXPECT_THAT(this->table_text(), testing::Not(testing::HasSubstr("chain")));
}

TYPED_TEST_P(NftablesContract, ReplacesAWholeTableWithinOneTransaction) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(goto_chain("b"))}}}), "");
  EXPECT_EQ(this->outcome({{DeleteTable{}}, {AddTable{}}, {AddChain{chain("c")}}}), "");
  EXPECT_EQ(this->table_text(), "table ip contract {\n\tchain c {\n\t}\n}\n");
}

TYPED_TEST_P(NftablesContract, RefusesToTouchATableThatIsNotThere) {
  EXPECT_EQ(this->outcome({{DeleteTable{}}}), "0: ENOENT");
  EXPECT_EQ(this->outcome({{AddChain{chain("a")}}}), "0: ENOENT");
  EXPECT_EQ(this->outcome({{AddElement{"addresses", element(ipv4("10.0.0.1"))}}}), "0: ENOENT");
}

TYPED_TEST_P(NftablesContract, RefusesAnotherSetOfTheSameName) {
  this->set_up_table();
  Set other = addresses();
  other.key = {Field::InetService};
  EXPECT_EQ(this->outcome({{AddSet{other}}}), "0: EEXIST");
}

TYPED_TEST_P(NftablesContract, RefusesVerdictsForABaseChain) {
  this->set_up_table();
  EXPECT_EQ(this->outcome({{AddChain{base_chain("base")}}}), "");
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(goto_chain("base"))}}}), "0: EOPNOTSUPP");
}

TYPED_TEST_P(NftablesContract, RefusesNatWhereThereIsNone) {
  this->set_up_table();
  const BaseHook forward{BaseHook::Type::Nat, BaseHook::Hook::Forward, 0};
  EXPECT_EQ(this->outcome({{AddChain{Chain{"base", forward}}}}), "0: EOPNOTSUPP");
}

TYPED_TEST_P(NftablesContract, TakesATransactionThatIsEmpty) {
  const std::uint32_t before = this->generation();
  EXPECT_EQ(this->outcome({}), "");
  EXPECT_EQ(this->generation(), before);
}

REGISTER_TYPED_TEST_SUITE_P(
    NftablesContract, HasNoTableAtFirst, GivesBackWhatItWasGiven, KeepsFamiliesApart,
    MovesTheGenerationByOneWithEachChange, TellsTheGenerationOfADump,
    LeavesTheGenerationAloneWhenItRefuses, TakesATransactionMadeAgainstTheCurrentGeneration,
    ExpiresATransactionMadeAgainstAnEarlierGeneration, TakesNothingOfATransactionThatItRefuses,
    TellsEveryOperationThatItRefuses, TakesWhatIsThereAlready, RefusesAnotherValueForAKey,
    RefusesAnotherVerdictForAKey, KeepsTheCommentOfAnElementThatIsAddedAgain,
    ReplacesAnElementWithinOneTransaction, NamesTheOneElementThatItRefusesAmongMany,
    RefusesToDeleteAnElementThatIsNotThere, RefusesElementsThatAreNotOfTheirSetsShape,
    RefusesACommentThatIsTooLong, RefusesAVerdictForAChainThatIsNotThere,
    RefusesALookupInASetThatIsNotThere, KeepsAChainThatARuleLeadsTo,
    KeepsAChainThatAnElementLeadsTo, KeepsASetThatARuleLooksUpIn,
    DeletesAChainWithItsRulesAndASetWithItsElements, ReplacesAWholeTableWithinOneTransaction,
    RefusesToTouchATableThatIsNotThere, RefusesAnotherSetOfTheSameName,
    RefusesVerdictsForABaseChain, RefusesNatWhereThereIsNone, TakesATransactionThatIsEmpty);

}  // namespace mkp::nft
