#include "netlink/ruleset_dump.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <utility>

#include "netlink/elements.h"
#include "netlink/expressions.h"
#include "netlink/set_shape.h"
#include "netlink/verdicts.h"

namespace mkp::nft {
namespace {

constexpr std::uint16_t message_type(int nft_message) {
  return static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | nft_message);
}

std::optional<BaseHook::Hook> read_hook(ByteSpan payload) {
  const std::optional<std::uint32_t> number = read_be32(payload);
  if (number == std::uint32_t{NF_INET_PRE_ROUTING}) return BaseHook::Hook::Prerouting;
  if (number == std::uint32_t{NF_INET_LOCAL_IN}) return BaseHook::Hook::Input;
  if (number == std::uint32_t{NF_INET_FORWARD}) return BaseHook::Hook::Forward;
  if (number == std::uint32_t{NF_INET_LOCAL_OUT}) return BaseHook::Hook::Output;
  if (number == std::uint32_t{NF_INET_POST_ROUTING}) return BaseHook::Hook::Postrouting;
  return std::nullopt;
}

using ChainTable = AttributeTable<NFTA_CHAIN_MAX + 1>;
using SetTable = AttributeTable<NFTA_SET_MAX + 1>;

// Nothing when the chain is no base chain, or one that ruleset.h has no words for.
std::optional<BaseHook> hook_of(const ChainTable& chain) {
  const auto hook = AttributeTable<NFTA_HOOK_MAX + 1>::read(chain.payload(NFTA_CHAIN_HOOK));
  if (!hook) return std::nullopt;
  const std::optional<BaseHook::Hook> where = read_hook(hook->payload(NFTA_HOOK_HOOKNUM));
  const std::optional<std::uint32_t> priority = read_be32(hook->payload(NFTA_HOOK_PRIORITY));
  const std::optional<std::string_view> type = read_name(chain.payload(NFTA_CHAIN_TYPE));
  if (!where || !priority || read_be32(chain.payload(NFTA_CHAIN_POLICY)) != NF_ACCEPT) {
    return std::nullopt;
  }
  BaseHook base{BaseHook::Type::Filter, *where, static_cast<std::int32_t>(*priority)};
  if (type == "filter") return base;
  if (type != "nat") return std::nullopt;
  base.type = BaseHook::Type::Nat;
  return base;
}

// NFTA_RULE_EXPRESSIONS' payload. Nothing when it is malformed.
std::optional<std::vector<Expression>> parse_expressions(ByteSpan list, IpFamily family) {
  std::vector<Expression> expressions;
  AttributeReader reader(list);
  while (const Attribute* entry = reader.next()) {
    const auto expression = AttributeTable<NFTA_EXPR_MAX + 1>::read(entry->payload);
    if (!expression) return std::nullopt;
    const std::optional<std::string_view> name = read_name(expression->payload(NFTA_EXPR_NAME));
    if (!name) return std::nullopt;
    const ByteSpan data = expression->payload(NFTA_EXPR_DATA);
    if (!does_nothing(*name, data)) expressions.push_back(parse_expression(*name, data, family));
  }
  if (reader.malformed()) return std::nullopt;
  return expressions;
}

}  // namespace

RulesetDump::RulesetDump(IpFamily family, std::string_view table) {
  ruleset_.family = family;
  ruleset_.table = table;
}

bool RulesetDump::is_ours(ByteSpan table_name) const {
  return read_name(table_name) == std::string_view(ruleset_.table);
}

Result<> RulesetDump::take(const NetlinkMessage& message) {
  if (message.type != message_type(NFT_MSG_NEWCHAIN) &&
      message.type != message_type(NFT_MSG_NEWRULE) &&
      message.type != message_type(NFT_MSG_NEWSET) &&
      message.type != message_type(NFT_MSG_NEWSETELEM)) {
    return {};
  }
  if (message.payload.size() < sizeof(nfgenmsg)) {
    return fail(Errc::Invalid, "an nf_tables message is too short");
  }
  if (load_host<nfgenmsg>(message.payload.data()).nfgen_family != family_number(ruleset_.family)) {
    return {};
  }
  const ByteSpan attributes = message.payload.subspan(sizeof(nfgenmsg));
  if (message.type == message_type(NFT_MSG_NEWCHAIN)) return take_chain(attributes);
  if (message.type == message_type(NFT_MSG_NEWRULE)) return take_rule(attributes);
  if (message.type == message_type(NFT_MSG_NEWSET)) return take_set(attributes);
  return take_elements(attributes);
}

Result<> RulesetDump::take_chain(ByteSpan attributes) {
  const std::optional<ChainTable> table = ChainTable::read(attributes);
  if (!table) return fail(Errc::Invalid, "a chain is malformed");
  if (!is_ours(table->payload(NFTA_CHAIN_TABLE))) return {};
  const std::optional<std::string_view> name = read_name(table->payload(NFTA_CHAIN_NAME));
  if (!name) return fail(Errc::Invalid, "a chain has no name");
  Chain chain{std::string(*name), hook_of(*table), false};
  chain.foreign = table->has(NFTA_CHAIN_HOOK) && !chain.hook;
  if (chains_.emplace(chain.name, ruleset_.chains.size()).second) {
    ruleset_.chains.push_back({std::move(chain), {}});
  }
  return {};
}

Result<> RulesetDump::take_rule(ByteSpan attributes) {
  const auto table = AttributeTable<NFTA_RULE_MAX + 1>::read(attributes);
  if (!table) return fail(Errc::Invalid, "a rule is malformed");
  if (!is_ours(table->payload(NFTA_RULE_TABLE))) return {};
  const std::optional<std::string_view> name = read_name(table->payload(NFTA_RULE_CHAIN));
  const auto chain = chains_.find(std::string(name.value_or("")));
  if (chain == chains_.end()) return fail(Errc::Invalid, "a rule is in no chain");
  auto expressions = parse_expressions(table->payload(NFTA_RULE_EXPRESSIONS), ruleset_.family);
  if (!expressions) return fail(Errc::Invalid, "a rule's expressions are malformed");
  ruleset_.chains[chain->second].rules.push_back(Rule{std::move(*expressions)});
  return {};
}

Result<> RulesetDump::take_set(ByteSpan attributes) {
  const std::optional<SetTable> table = SetTable::read(attributes);
  if (!table) return fail(Errc::Invalid, "a set is malformed");
  if (!is_ours(table->payload(NFTA_SET_TABLE))) return {};
  const std::optional<std::string_view> name = read_name(table->payload(NFTA_SET_NAME));
  if (!name) return fail(Errc::Invalid, "a set has no name");
  const SetShape shape = parse_shape(attributes);
  // Belongs to a rule, and goes with it.
  if ((shape.flags & NFT_SET_ANONYMOUS) != 0) {
    anonymous_.emplace(*name);
    return {};
  }
  Set set = set_of_shape(std::string(*name), shape);
  for (const int unknown :
       {NFTA_SET_TIMEOUT, NFTA_SET_OBJ_TYPE, NFTA_SET_EXPR, NFTA_SET_EXPRESSIONS}) {
    if (table->has(static_cast<std::size_t>(unknown))) set.foreign = true;
  }
  if (sets_.emplace(set.name, ruleset_.sets.size()).second) {
    ruleset_.sets.push_back({std::move(set), {}});
  }
  return {};
}

Result<> RulesetDump::take_elements(ByteSpan attributes) {
  const auto table = AttributeTable<NFTA_SET_ELEM_LIST_MAX + 1>::read(attributes);
  if (!table) return fail(Errc::Invalid, "a list of set elements is malformed");
  if (!is_ours(table->payload(NFTA_SET_ELEM_LIST_TABLE))) return {};
  const std::optional<std::string_view> name = read_name(table->payload(NFTA_SET_ELEM_LIST_SET));
  if (anonymous_.contains(std::string(name.value_or("")))) return {};
  const auto found = sets_.find(std::string(name.value_or("")));
  if (found == sets_.end()) return fail(Errc::Invalid, "elements are in no set");
  Ruleset::SetState& set = ruleset_.sets[found->second];
  if (set.set.content == Set::Content::Remembered) return {};

  AttributeReader reader(table->payload(NFTA_SET_ELEM_LIST_ELEMENTS));
  while (const Attribute* entry = reader.next()) {
    Result<std::optional<Element>> element = parse_element(entry->payload);
    if (!element) return fail(std::move(element.error()), "set " + set.set.name);
    if (std::optional<Element>& said = *element; said.has_value()) {
      set.elements.push_back(std::move(*said));
    } else {
      set.set.foreign = true;
    }
  }
  if (reader.malformed()) return fail(Errc::Invalid, "elements of set " + set.set.name);
  return {};
}

Ruleset RulesetDump::finish(std::uint32_t generation) && {
  ruleset_.generation = generation;
  return std::move(ruleset_);
}

Result<std::uint32_t> parse_generation(const NetlinkMessage& message) {
  if (message.type == message_type(NFT_MSG_NEWGEN) && message.payload.size() >= sizeof(nfgenmsg)) {
    const auto table =
        AttributeTable<NFTA_GEN_MAX + 1>::read(message.payload.subspan(sizeof(nfgenmsg)));
    const auto id = table ? read_be32(table->payload(NFTA_GEN_ID)) : std::nullopt;
    if (id) return *id;
  }
  return fail(Errc::Invalid, "the kernel told no generation");
}

}  // namespace mkp::nft
