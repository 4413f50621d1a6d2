#include "proxy/nft_skeleton.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

namespace mkp {
namespace {

using nft::Bytes;
using nft::Expression;
using nft::Field;
using nft::Rule;
using nft::Verdict;

// Times that a packet draws before it takes slot 0. With the emptiest table that is kept, 3/8 of
// the slots and one more taken, fewer than 6 packets in 10,000 get that far.
constexpr int kDraws = 16;

constexpr std::string_view kMark = "mark-for-masquerade";
constexpr std::string_view kMasqueradeMarked = "masquerade-marked";
constexpr std::string_view kMasquerading =
    "masquerading";  // nft 1.0.6 takes no chain called "masquerade"
constexpr std::string_view kDispatch = "dispatch";
constexpr std::string_view kNoEndpoints = "no-endpoints-check";
constexpr std::string_view kClusterIpsCheck = "cluster-ips-check";
constexpr std::string_view kInternalCluster = "internal-cluster-";

// Connection tracking's bits: IP_CT_NEW's state bit as `ct state` gives it, and IPS_DST_NAT of `ct
// status`.
constexpr std::uint32_t kCtStateNew = 8;
constexpr std::uint32_t kCtStatusDnat = 32;

constexpr std::size_t kRegisterSize = 4;

std::size_t address_size(IpFamily family) { return family == IpFamily::Ipv4 ? 4 : 16; }
nft::Register address_registers(IpFamily family) {
  return static_cast<nft::Register>(address_size(family) / kRegisterSize);
}

// Marks and connection tracking's words are numbers in host byte order.
Bytes host_word(std::uint32_t value) {
  std::uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return Bytes(bytes);
}

nft::PayloadLoad source_address(IpFamily family, nft::Register to) {
  const auto size = static_cast<std::uint32_t>(address_size(family));
  return {nft::PayloadLoad::Base::Network, family == IpFamily::Ipv4 ? 12U : 8U, size, to};
}

nft::PayloadLoad destination_address(IpFamily family, nft::Register to) {
  const auto size = static_cast<std::uint32_t>(address_size(family));
  return {nft::PayloadLoad::Base::Network, family == IpFamily::Ipv4 ? 16U : 24U, size, to};
}

// `ip daddr . meta l4proto . th dport` into the registers from 0 on. Says the first free register.
nft::Register load_frontend(IpFamily family, std::vector<Expression>& into) {
  nft::Register next = address_registers(family);
  into.emplace_back(destination_address(family, 0));
  into.emplace_back(nft::MetaLoad{nft::MetaKey::L4Proto, next++});
  into.emplace_back(nft::PayloadLoad{nft::PayloadLoad::Base::Transport, 2, 2, next++});
  return next;
}

Expression verdict(Verdict::Kind kind, std::string_view chain) {
  return nft::ImmediateVerdict{Verdict{kind, std::string(chain)}};
}

Rule jump(std::string_view chain) { return {{verdict(Verdict::Kind::Jump, chain)}}; }
Rule go_to(std::string_view chain) { return {{verdict(Verdict::Kind::Goto, chain)}}; }

// Appends "register 0 & mask is not zero".
void match_bits(std::uint32_t mask, std::vector<Expression>& into) {
  into.emplace_back(nft::Bitwise{0, 0, host_word(mask), host_word(0)});
  into.emplace_back(nft::Compare{nft::Compare::Op::NotEqual, 0, host_word(0)});
}

Rule new_connections(std::string_view chain) {
  Rule rule;
  rule.expressions.emplace_back(nft::CtLoad{nft::CtKey::State, 0});
  match_bits(kCtStateNew, rule.expressions);
  rule.expressions.push_back(verdict(Verdict::Kind::Jump, chain));
  return rule;
}

Rule set_mark(std::uint32_t mask, std::uint32_t exclusive_or) {
  return {{nft::MetaLoad{nft::MetaKey::Mark, 0},
           nft::Bitwise{0, 0, host_word(mask), host_word(exclusive_or)},
           nft::MetaSet{nft::MetaKey::Mark, 0}}};
}

std::vector<Rule> masquerading_rules(const NftSettings& settings) {
  Rule marked;
  marked.expressions.emplace_back(nft::MetaLoad{nft::MetaKey::Mark, 0});
  match_bits(settings.masquerade_mark, marked.expressions);
  marked.expressions.push_back(verdict(Verdict::Kind::Goto, kMasqueradeMarked));

  Rule hairpin;
  hairpin.expressions.emplace_back(nft::CtLoad{nft::CtKey::Status, 0});
  match_bits(kCtStatusDnat, hairpin.expressions);
  hairpin.expressions.emplace_back(source_address(settings.family, 0));
  hairpin.expressions.emplace_back(
      destination_address(settings.family, address_registers(settings.family)));
  hairpin.expressions.emplace_back(
      nft::Lookup{std::string(kHairpin), 0, nft::Lookup::Use::Match, 0});
  hairpin.expressions.emplace_back(nft::Masquerade{true});
  return {marked, hairpin};
}

Rule dispatch_rule(IpFamily family) {
  Rule rule;
  load_frontend(family, rule.expressions);
  rule.expressions.emplace_back(
      nft::Lookup{std::string(kServices), 0, nft::Lookup::Use::Verdict, 0});
  return rule;
}

Rule reject_without_endpoints(IpFamily family) {
  Rule rule;
  load_frontend(family, rule.expressions);
  rule.expressions.emplace_back(
      nft::Lookup{std::string(kRejectServices), 0, nft::Lookup::Use::Match, 0});
  rule.expressions.emplace_back(nft::Reject{});
  return rule;
}

// What got translated has another destination by now, so whatever is still addressed to a cluster
// IP asked for a port that it does not have.
Rule reject_other_ports(IpFamily family) {
  return {{destination_address(family, 0),
           nft::Lookup{std::string(kClusterIps), 0, nft::Lookup::Use::Match, 0}, nft::Reject{}}};
}

Rule draw(IpFamily family, std::uint32_t slots) {
  Rule rule;
  const nft::Register slot = load_frontend(family, rule.expressions);
  rule.expressions.emplace_back(nft::Numgen{slots, slot});
  rule.expressions.emplace_back(
      nft::Lookup{std::string(kClusterEndpoints), 0, nft::Lookup::Use::Data, 0});
  rule.expressions.emplace_back(nft::Dnat{family, 0, address_registers(family)});
  return rule;
}

Bytes mask_bytes(const IpPrefix& prefix) {
  std::array<std::uint8_t, 16> mask{};
  for (std::size_t bit = 0; bit < prefix.length; ++bit) {
    mask[bit / 8] = static_cast<std::uint8_t>(mask[bit / 8] | (0x80U >> (bit % 8)));
  }
  return Bytes({mask.data(), prefix.address.size()});
}

// "The source is not in `prefix`", byte for byte as nft writes it, so that a table that nft has
// loaded is the same as ours: of a prefix of whole bytes it loads no more than those.
void match_source_outside(const IpPrefix& prefix, std::vector<Expression>& into) {
  nft::PayloadLoad load = source_address(prefix.address.family, 0);
  std::size_t size = prefix.address.size();
  if (prefix.length % 8 == 0) {
    size = prefix.length / 8;
    load.length = static_cast<std::uint32_t>(size);
  }
  into.emplace_back(load);
  if (prefix.length % 8 != 0) {
    into.emplace_back(
        nft::Bitwise{0, 0, mask_bytes(prefix), Bytes(std::vector<std::uint8_t>(size))});
  }
  into.emplace_back(
      nft::Compare{nft::Compare::Op::NotEqual, 0, Bytes({prefix.address.bytes.data(), size})});
}

// Marks who is no pod. Nothing when nobody, or nobody but pods, is to be told apart.
std::optional<Rule> mark_rule(const NftSettings& settings) {
  if (settings.masquerade_all) return jump(kMark);
  if (settings.local_pods.empty()) return std::nullopt;
  Rule rule;
  for (const IpPrefix& pods : settings.local_pods) {
    if (pods.length == 0) return std::nullopt;  // everybody is a pod
    match_source_outside(pods, rule.expressions);
  }
  rule.expressions.push_back(verdict(Verdict::Kind::Jump, kMark));
  return rule;
}

std::string cluster_chain(std::uint32_t slots) { return fmt::format("cluster-{}", slots); }

nft::Chain regular(std::string_view name) { return {std::string(name), std::nullopt}; }

nft::Chain base(std::string_view name, nft::BaseHook::Type type, nft::BaseHook::Hook hook,
                std::int32_t priority) {
  return {std::string(name), nft::BaseHook{type, hook, priority}};
}

}  // namespace

std::vector<nft::Set> layout_sets(IpFamily family) {
  const Field address = family == IpFamily::Ipv4 ? Field::Ipv4Address : Field::Ipv6Address;
  const std::vector<Field> frontend = {address, Field::InetProto, Field::InetService};
  std::vector<Field> slot = frontend;
  slot.push_back(Field::Slot);
  using Kind = nft::Set::Kind;
  return {
      {std::string(kServices), Kind::VerdictMap, frontend, {}},
      {std::string(kClusterEndpoints), Kind::DataMap, slot, {address, Field::InetService}},
      {std::string(kClusterIps), Kind::Set, {address}, {}},
      {std::string(kRejectServices), Kind::Set, frontend, {}},
      {std::string(kHairpin), Kind::Set, {address, address}, {}},
  };
}

std::vector<nft::Ruleset::ChainState> fixed_chains(const NftSettings& settings) {
  using Type = nft::BaseHook::Type;
  using Hook = nft::BaseHook::Hook;
  // Priorities: dstnat and srcnat as in netfilter; the filters at 0, so that the one at output sits
  // behind nat output.
  constexpr std::int32_t kDstnat = -100;
  constexpr std::int32_t kSrcnat = 100;
  constexpr std::int32_t kFilter = 0;
  const std::uint32_t bit = settings.masquerade_mark;
  const IpFamily family = settings.family;
  return {
      {regular(kMark), {set_mark(~bit, bit)}},
      {regular(kMasqueradeMarked), {set_mark(~0U, bit), {{nft::Masquerade{true}}}}},
      {regular(kMasquerading), masquerading_rules(settings)},
      {regular(kDispatch), {dispatch_rule(family)}},
      {regular(kNoEndpoints), {reject_without_endpoints(family)}},
      {regular(kClusterIpsCheck), {reject_other_ports(family)}},
      {base("nat-prerouting", Type::Nat, Hook::Prerouting, kDstnat), {jump(kDispatch)}},
      {base("nat-output", Type::Nat, Hook::Output, kDstnat), {jump(kDispatch)}},
      {base("nat-postrouting", Type::Nat, Hook::Postrouting, kSrcnat), {jump(kMasquerading)}},
      {base("filter-input", Type::Filter, Hook::Input, kFilter), {new_connections(kNoEndpoints)}},
      {base("filter-forward", Type::Filter, Hook::Forward, kFilter),
       {new_connections(kNoEndpoints), new_connections(kClusterIpsCheck)}},
      {base("filter-output", Type::Filter, Hook::Output, kFilter),
       {new_connections(kNoEndpoints), new_connections(kClusterIpsCheck)}},
  };
}

std::vector<nft::Ruleset::ChainState> slot_chains(const NftSettings& settings,
                                                  std::uint32_t slots) {
  nft::Ruleset::ChainState cluster{regular(cluster_chain(slots)), {}};
  if (slots > 1) cluster.rules.assign(kDraws, draw(settings.family, slots));
  cluster.rules.push_back(draw(settings.family, 1));

  nft::Ruleset::ChainState internal{regular(internal_cluster_chain(slots)), {}};
  if (std::optional<Rule> mark = mark_rule(settings)) internal.rules.push_back(std::move(*mark));
  internal.rules.push_back(go_to(cluster.chain.name));
  return {std::move(cluster), std::move(internal)};
}

std::string internal_cluster_chain(std::uint32_t slots) {
  return fmt::format("{}{}", kInternalCluster, slots);
}

std::optional<std::uint32_t> slots_of_chain(std::string_view chain) {
  if (!chain.starts_with(kInternalCluster)) return std::nullopt;
  chain.remove_prefix(kInternalCluster.size());
  std::uint32_t slots = 0;
  const auto [end, error] = std::from_chars(chain.data(), chain.data() + chain.size(), slots);
  if (error != std::errc{} || end != chain.data() + chain.size()) return std::nullopt;
  if (!std::has_single_bit(slots) || slots == 2 || slots > 65536) return std::nullopt;
  return slots;
}

}  // namespace mkp
