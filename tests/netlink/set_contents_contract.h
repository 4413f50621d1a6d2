#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/netlink/nftables_contract.h"
#include "tests/netlink/rule_samples.h"

namespace mkp::nft {

// The part of the contract that is about sets of intervals and about sets that rules update.
template <class Maker>
class SetContentsContract : public NftablesContract<Maker> {
 protected:
  // A table with the chains a and b, and a set of each content.
  void set_up_sets() {
    ASSERT_EQ(this->outcome({{AddTable{}},
                             {AddChain{chain("a")}},
                             {AddChain{chain("b")}},
                             {AddSet{addresses()}},
                             {AddSet{data()}},
                             {AddSet{intervals()}},
                             {AddSet{clients()}}}),
              "");
  }
  static Bytes at(std::string_view address, std::uint16_t number = 80) {
    return concatenate({ipv4(address), port(number)});
  }
  static Element between(std::string_view first, std::string_view last) {
    return interval(at(first), at(last));
  }
  std::string add(const Element& element, std::string_view set = "intervals") {
    return this->outcome({{AddElement{set, element}}});
  }
  std::string remove(const Element& element, std::string_view set = "intervals") {
    return this->outcome({{DeleteElement{set, element}}});
  }
  // The intervals as nft writes them, each on a line.
  std::string intervals_text() {
    const std::optional<Ruleset> dumped =
        this->nftables_->dump(IpFamily::Ipv4, this->kTable).value_or(std::nullopt);
    if (!dumped) return "no table";
    std::vector<std::string> lines;
    for (const Ruleset::SetState& state : dumped->sets) {
      if (state.set.name != "intervals") continue;
      for (const Element& element : state.elements) lines.push_back(to_text(element, state.set));
    }
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  static Rule remember() { return rule(load_source(), SetUpdate{"clients", 0, 10800}); }
};

TYPED_TEST_SUITE_P(SetContentsContract);

TYPED_TEST_P(SetContentsContract, GivesBackSetsOfEachContent) {
  ASSERT_EQ(this->outcome(
                {{AddTable{}}, {AddSet{addresses()}}, {AddSet{intervals()}}, {AddSet{clients()}}}),
            "");
  EXPECT_EQ(this->add(interval(this->at("10.0.0.0"), this->at("10.0.0.127"), "web")), "");
  EXPECT_EQ(this->table_text(),
            "table ip contract {\n"
            "\tset addresses {\n"
            "\t\ttype ipv4_addr\n"
            "\t}\n\n"
            "\tset intervals {\n"
            "\t\ttype ipv4_addr . inet_service\n"
            "\t\tflags interval\n"
            "\t\telements = { 10.0.0.0/25 . 80 comment \"web\" }\n"
            "\t}\n\n"
            "\tset clients {\n"
            "\t\ttype ipv4_addr\n"
            "\t\tsize 65535\n"
            "\t\tflags dynamic,timeout\n"
            "\t}\n"
            "}\n");
}

TYPED_TEST_P(SetContentsContract, TakesASetOfTheSameContentAgainAndNoOther) {
  this->set_up_sets();
  this->set_up_sets();
  Set other = intervals();
  other.content = Set::Content::Keys;
  EXPECT_EQ(this->outcome({{AddSet{other}}}), "0: EEXIST");
  other = clients();
  other.content = Set::Content::Keys;
  EXPECT_EQ(this->outcome({{AddSet{other}}}), "0: EEXIST");
  other = addresses();
  other.content = Set::Content::Remembered;
  EXPECT_EQ(this->outcome({{AddSet{other}}}), "0: EEXIST");
}

TYPED_TEST_P(SetContentsContract, RefusesContentsThatThereAreNotOfThatKind) {
  this->set_up_sets();
  Set map = data();
  map.name = "map";
  map.content = Set::Content::Intervals;
  EXPECT_EQ(this->outcome({{AddSet{map}}}), "0: EINVAL");
  map.content = Set::Content::Remembered;
  EXPECT_EQ(this->outcome({{AddSet{map}}}), "0: EINVAL");
  Set single = addresses();
  single.name = "single";
  single.content = Set::Content::Intervals;
  EXPECT_EQ(this->outcome({{AddSet{single}}}), "0: EINVAL");
}

TYPED_TEST_P(SetContentsContract, TakesAnIntervalThatIsThereAlready) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->intervals_text(), "10.0.0.10-10.0.0.20 . 80\n");
}

TYPED_TEST_P(SetContentsContract, RefusesAnIntervalWithAnEndInAnother) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->add(this->between("10.0.0.20", "10.0.0.30")), "0: EEXIST");
  EXPECT_EQ(this->add(this->between("10.0.0.5", "10.0.0.10")), "0: EEXIST");
  EXPECT_EQ(this->add(this->between("10.0.0.12", "10.0.0.14")), "0: EEXIST");
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.14")), "0: EEXIST");
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.30")), "0: EEXIST");
}

// It looks for either end in what is there, but not for what is there between the ends.
TYPED_TEST_P(SetContentsContract, TakesAnIntervalAroundAnother) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->add(this->between("10.0.0.5", "10.0.0.30")), "");
}

TYPED_TEST_P(SetContentsContract, TakesIntervalsThatDifferInAField) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->add(this->between("10.0.0.21", "10.0.0.30")), "");
  EXPECT_EQ(this->add(interval(this->at("10.0.0.10", 81), this->at("10.0.0.20", 81))), "");
  EXPECT_EQ(this->intervals_text(),
            "10.0.0.10-10.0.0.20 . 80\n10.0.0.10-10.0.0.20 . 81\n10.0.0.21-10.0.0.30 . 80\n");
}

TYPED_TEST_P(SetContentsContract, RefusesAnIntervalThatEndsBeforeItBegins) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.20", "10.0.0.10")), "0: EINVAL");
}

TYPED_TEST_P(SetContentsContract, DeletesAnIntervalByBothEnds) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->remove(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->intervals_text(), "");
  EXPECT_EQ(this->remove(this->between("10.0.0.10", "10.0.0.20")), "0: ENOENT");
}

TYPED_TEST_P(SetContentsContract, RefusesToDeleteAnIntervalThatBeginsWhereThereIsNone) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->remove(this->between("10.0.0.9", "10.0.0.20")), "0: ENOENT");
  EXPECT_EQ(this->remove(this->between("10.0.0.21", "10.0.0.30")), "0: ENOENT");
  EXPECT_EQ(this->remove(interval(this->at("10.0.0.10", 81), this->at("10.0.0.20", 81))),
            "0: ENOENT");
}

// nft_pipapo looks for an element that matches the first key, and at nothing else.
TYPED_TEST_P(SetContentsContract, DeletesTheIntervalInWhichTheFirstKeyLies) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->add(this->between("10.0.0.30", "10.0.0.40")), "");
  EXPECT_EQ(this->remove(this->between("10.0.0.10", "10.0.0.19")), "");
  EXPECT_EQ(this->remove(this->between("10.0.0.35", "10.0.0.50")), "");
  EXPECT_EQ(this->intervals_text(), "");
}

TYPED_TEST_P(SetContentsContract, ReplacesAnIntervalByOneThatOverlapsIt) {
  this->set_up_sets();
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.20")), "");
  EXPECT_EQ(this->outcome({{DeleteElement{"intervals", this->between("10.0.0.10", "10.0.0.20")}},
                           {AddElement{"intervals", this->between("10.0.0.15", "10.0.0.25")}}}),
            "");
  EXPECT_EQ(this->intervals_text(), "10.0.0.15-10.0.0.25 . 80\n");
}

TYPED_TEST_P(SetContentsContract, NamesTheOneIntervalThatItRefusesAmongMany) {
  this->set_up_sets();
  EXPECT_EQ(this->outcome({{AddElement{"intervals", this->between("10.0.0.10", "10.0.0.20")}},
                           {AddElement{"intervals", this->between("10.0.0.30", "10.0.0.40")}},
                           {AddElement{"intervals", this->between("10.0.0.35", "10.0.0.45")}}}),
            "2: EEXIST");
  EXPECT_EQ(this->intervals_text(), "");
}

TYPED_TEST_P(SetContentsContract, TakesAKeyAmongIntervals) {
  this->set_up_sets();
  EXPECT_EQ(this->add(element(this->at("10.0.0.10"))), "");
  EXPECT_EQ(this->add(this->between("10.0.0.10", "10.0.0.10")), "");
  EXPECT_EQ(this->intervals_text(), "10.0.0.10 . 80\n");
}

TYPED_TEST_P(SetContentsContract, RefusesAnIntervalAmongOtherElements) {
  this->set_up_sets();
  const Element address = interval(ipv4("10.0.0.10"), ipv4("10.0.0.20"));
  EXPECT_EQ(this->add(address, "addresses"), "0: EINVAL");
  EXPECT_EQ(this->add(address, "data"), "0: EINVAL");
  EXPECT_EQ(this->add(address, "clients"), "0: EINVAL");
  EXPECT_EQ(this->add(interval(this->at("10.0.0.10"), ipv4("10.0.0.20"))), "0: EINVAL");
  EXPECT_EQ(this->add(element(this->at("10.0.0.10"), ipv4("10.0.0.20"))), "0: EINVAL");
  EXPECT_EQ(this->remove(address, "addresses"), "0: EINVAL");
  EXPECT_EQ(this->remove(interval(this->at("10.0.0.10"), ipv4("10.0.0.20"))), "0: EINVAL");
}

TYPED_TEST_P(SetContentsContract, DoesNotListRememberedKeys) {
  this->set_up_sets();
  EXPECT_EQ(this->add(element(ipv4("10.0.0.1")), "clients"), "");
  EXPECT_THAT(this->table_text(), testing::Not(testing::HasSubstr("10.0.0.1")));
  EXPECT_EQ(this->remove(element(ipv4("10.0.0.1")), "clients"), "");
  EXPECT_EQ(this->remove(element(ipv4("10.0.0.1")), "clients"), "0: ENOENT");
}

TYPED_TEST_P(SetContentsContract, GivesBackARuleThatRemembers) {
  this->set_up_sets();
  EXPECT_EQ(this->outcome({{AddRule{"a", this->remember()}}}), "");
  EXPECT_THAT(this->table_text(), testing::HasSubstr("update @clients { ip saddr timeout 3h }\n"));
}

TYPED_TEST_P(SetContentsContract, RefusesToRememberInASetThatIsNotThere) {
  this->set_up_sets();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(load_source(), SetUpdate{"none", 0, 1})}}}),
            "0: ENOENT");
}

TYPED_TEST_P(SetContentsContract, RefusesToRememberInASetOfAnotherContent) {
  this->set_up_sets();
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(load_source(), SetUpdate{"addresses", 0, 1})}}}),
            "0: EOPNOTSUPP");
  EXPECT_EQ(this->outcome({{AddRule{"a", rule(load_source(), SetUpdate{"intervals", 0, 1})}}}),
            "0: EOPNOTSUPP");
}

TYPED_TEST_P(SetContentsContract, KeepsASetThatARuleRemembersIn) {
  this->set_up_sets();
  EXPECT_EQ(this->outcome({{AddRule{"a", this->remember()}}}), "");
  EXPECT_EQ(this->outcome({{DeleteSet{"clients"}}}), "0: EBUSY");
  EXPECT_EQ(this->outcome({{FlushChain{"a"}}, {DeleteSet{"clients"}}}), "");
  EXPECT_THAT(this->table_text(), testing::Not(testing::HasSubstr("clients")));
}

TYPED_TEST_P(SetContentsContract, RefillsAChainAndKeepsWhatIsRemembered) {
  this->set_up_sets();
  EXPECT_EQ(this->outcome({{AddRule{"a", this->remember()}},
                           {AddElement{"clients", element(ipv4("10.0.0.1"))}}}),
            "");
  EXPECT_EQ(this->outcome({{AddSet{clients()}},
                           {FlushChain{"a"}},
                           {AddRule{"a", this->remember()}},
                           {AddRule{"a", rule(goto_chain("b"))}}}),
            "");
  EXPECT_THAT(this->table_text(),
              testing::HasSubstr(
                  "chain a {\n\t\tupdate @clients { ip saddr timeout 3h }\n\t\tgoto b\n\t}\n"));
  EXPECT_EQ(this->remove(element(ipv4("10.0.0.1")), "clients"), "");
}

REGISTER_TYPED_TEST_SUITE_P(
    SetContentsContract, GivesBackSetsOfEachContent, TakesASetOfTheSameContentAgainAndNoOther,
    RefusesContentsThatThereAreNotOfThatKind, TakesAnIntervalThatIsThereAlready,
    RefusesAnIntervalWithAnEndInAnother, TakesAnIntervalAroundAnother,
    TakesIntervalsThatDifferInAField, RefusesAnIntervalThatEndsBeforeItBegins,
    DeletesAnIntervalByBothEnds, RefusesToDeleteAnIntervalThatBeginsWhereThereIsNone,
    DeletesTheIntervalInWhichTheFirstKeyLies, ReplacesAnIntervalByOneThatOverlapsIt,
    NamesTheOneIntervalThatItRefusesAmongMany, TakesAKeyAmongIntervals,
    RefusesAnIntervalAmongOtherElements, DoesNotListRememberedKeys, GivesBackARuleThatRemembers,
    RefusesToRememberInASetThatIsNotThere, RefusesToRememberInASetOfAnotherContent,
    KeepsASetThatARuleRemembersIn, RefillsAChainAndKeepsWhatIsRemembered);

}  // namespace mkp::nft
