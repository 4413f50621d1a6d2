#include "proxy/nft_skeleton.h"

#include <optional>
#include <string>
#include <utility>

namespace mkp {
namespace {

using nft::Expression;
using nft::Field;
using nft::Rule;
using nft::Verdict;
using ChainState = nft::Ruleset::ChainState;

constexpr std::string_view kMasqueradeMarked = "masquerade-marked";
// nft 1.0.6 takes no chain called "masquerade".
constexpr std::string_view kMasquerading = "masquerading";
constexpr std::string_view kNoEndpoints = "no-endpoints-check";
constexpr std::string_view kNodePortNoEndpoints = "nodeport-no-endpoints-check";
constexpr std::string_view kFirewallCheck = "firewall-check";
constexpr std::string_view kFirewalled = "firewalled";

// IPS_DST_NAT of `ct status`.
constexpr std::uint32_t kCtStatusDnat = 32;

Rule set_mark(std::uint32_t mask, std::uint32_t exclusive_or) {
  return {{nft::MetaLoad{nft::MetaKey::Mark, 0},
           nft::Bitwise{0, 0, host_word(mask), host_word(exclusive_or)},
           nft::MetaSet{nft::MetaKey::Mark, 0}}};
}

std::vector<Rule> masquerading_rules(const NftSettings& settings) {
  Expressions marked = {nft::MetaLoad{nft::MetaKey::Mark, 0}};
  match_bits(settings.masquerade_mark, marked);

  Expressions hairpin = {nft::CtLoad{nft::CtKey::Status, 0}};
  match_bits(kCtStatusDnat, hairpin);
  hairpin.emplace_back(source_address(settings.family, 0));
  hairpin.emplace_back(destination_address(settings.family, address_registers(settings.family)));
  hairpin.emplace_back(nft::Lookup{std::string(kHairpin), 0, nft::Lookup::Use::Match, 0});
  return {rule_of(std::move(marked), to_chain(Verdict::Kind::Goto, kMasqueradeMarked)),
          rule_of(std::move(hairpin), nft::Masquerade{true})};
}

std::vector<Rule> dispatch_rules(const NftSettings& settings) {
  Expressions node_ports;
  match_node_port_address(settings, node_ports);
  return {frontend_verdict({}, FrontendKey::Address, settings.family, kAddressSets.verdicts),
          frontend_verdict(std::move(node_ports), FrontendKey::NodePort, settings.family,
                           kNodePortSets.verdicts)};
}

std::vector<Rule> no_endpoints_rules(const NftSettings& settings, const FrontendSets& sets) {
  Expressions match;
  if (sets.key == FrontendKey::NodePort) match_node_port_address(settings, match);
  return {frontend_in(match, sets.key, settings.family, sets.drop, drop()),
          frontend_in(match, sets.key, settings.family, sets.reject, nft::Reject{})};
}

// What got translated has another destination by now, so whatever is still addressed to a cluster
// IP asked for a port that it does not have; what is addressed to another address of the cluster's
// ranges, for a Service that is not there.
std::vector<Rule> cluster_ips_rules(const NftSettings& settings) {
  const nft::PayloadLoad destination = destination_address(settings.family, 0);
  std::vector<Rule> rules = {
      {{destination, nft::Lookup{std::string(kClusterIps), 0, nft::Lookup::Use::Match, 0},
        nft::Reject{}}}};
  for (const IpPrefix& cidr : settings.service_cidrs) {
    Expressions match;
    match_prefix(destination, cidr, nft::Compare::Op::Equal, match);
    rules.push_back(rule_of(std::move(match), drop()));
  }
  return rules;
}

// Source ranges are judged before translation, as the frontend is known by its address.
std::vector<Rule> firewalled_rules(IpFamily family) {
  Expressions allowed;
  const nft::Register source = load_frontend(FrontendKey::Address, family, allowed);
  allowed.emplace_back(source_address(family, source));
  allowed.emplace_back(nft::Lookup{std::string(kAllowedSources), 0, nft::Lookup::Use::Match, 0});
  return {rule_of(std::move(allowed), nft::ImmediateVerdict{Verdict{Verdict::Kind::Return, ""}}),
          {{drop()}}};
}

// Policy Local: pods and the node itself may go anywhere, everybody else stays on this node. What
// the node sends is masqueraded, so that the answer comes back to it from wherever it went.
std::vector<Rule> external_local_rules(const NftSettings& settings, const FrontendSets& sets) {
  const IpFamily family = settings.family;
  std::vector<Rule> rules;
  for (Expressions& pods : from_local_pods(settings.local_pods, family)) {
    rules.push_back(frontend_verdict(std::move(pods), sets.key, family, sets.short_circuit));
  }
  Expressions from_node;
  match_local(nft::FibLoad::Address::Source, from_node);
  rules.push_back(rule_of(from_node, to_chain(Verdict::Kind::Jump, kMarkForMasquerade)));
  rules.push_back(frontend_verdict(std::move(from_node), sets.key, family, sets.short_circuit));
  rules.push_back(frontend_verdict({}, sets.key, family, sets.local_services));
  return rules;
}

nft::Chain base(std::string_view name, nft::BaseHook::Type type, nft::BaseHook::Hook hook,
                std::int32_t priority) {
  return {std::string(name), nft::BaseHook{type, hook, priority}};
}

std::vector<ChainState> regular_chains(const NftSettings& settings) {
  const std::uint32_t bit = settings.masquerade_mark;
  const IpFamily family = settings.family;
  std::vector<ChainState> chains = {
      {regular_chain(kMarkForMasquerade), {set_mark(~bit, bit)}},
      {regular_chain(kMasqueradeMarked), {set_mark(~0U, bit), {{nft::Masquerade{true}}}}},
      {regular_chain(kMasquerading), masquerading_rules(settings)},
      {regular_chain(kDispatch), dispatch_rules(settings)},
      {regular_chain(kNoEndpoints), no_endpoints_rules(settings, kAddressSets)},
      {regular_chain(kNodePortNoEndpoints), no_endpoints_rules(settings, kNodePortSets)},
      {regular_chain(kClusterIpsCheck), cluster_ips_rules(settings)},
      {regular_chain(kFirewalled), firewalled_rules(family)},
      {regular_chain(kFirewallCheck),
       {frontend_in({}, FrontendKey::Address, family, kFirewalledServices,
                    to_chain(Verdict::Kind::Goto, kFirewalled))}}};
  for (const FrontendSets* sets : {&kAddressSets, &kNodePortSets}) {
    chains.push_back({regular_chain(sets->external_local), external_local_rules(settings, *sets)});
  }
  return chains;
}

}  // namespace

std::vector<nft::Set> layout_sets(IpFamily family) {
  using Kind = nft::Set::Kind;
  const Field address = family == IpFamily::Ipv4 ? Field::Ipv4Address : Field::Ipv6Address;
  const std::vector<Field> endpoint = {address, Field::InetService};
  std::vector<nft::Set> sets;
  const auto add = [&](std::string_view name, Kind kind, std::vector<Field> key,
                       std::vector<Field> data = {}) {
    sets.push_back({std::string(name), kind, std::move(key), std::move(data)});
  };
  for (const FrontendSets* of : {&kAddressSets, &kNodePortSets}) {
    std::vector<Field> frontend = {Field::InetProto, Field::InetService};
    if (of->key == FrontendKey::Address) frontend.insert(frontend.begin(), address);
    std::vector<Field> slot = frontend;
    slot.push_back(Field::Slot);
    for (const std::string_view map : {of->verdicts, of->short_circuit, of->local_services}) {
      add(map, Kind::VerdictMap, frontend);
    }
    for (const std::string_view map : {of->cluster_endpoints, of->local_endpoints}) {
      add(map, Kind::DataMap, slot, endpoint);
    }
    for (const std::string_view set : {of->reject, of->drop}) add(set, Kind::Set, frontend);
  }
  const std::vector<Field> frontend = {address, Field::InetProto, Field::InetService};
  add(kClusterIps, Kind::Set, {address});
  add(kNodePortIps, Kind::Set, {address});
  add(kHairpin, Kind::Set, {address, address});
  add(kFirewalledServices, Kind::Set, frontend);
  std::vector<Field> source = frontend;
  source.push_back(address);
  add(kAllowedSources, Kind::Set, source);
  sets.back().content = nft::Set::Content::Intervals;
  return sets;
}

std::vector<ChainState> fixed_chains(const NftSettings& settings) {
  using Type = nft::BaseHook::Type;
  using Hook = nft::BaseHook::Hook;
  // Priorities: dstnat and srcnat as in netfilter; the filters at 0, so that the one at output sits
  // behind nat output; those for source ranges ahead of nat.
  constexpr std::int32_t kDstnat = -100;
  constexpr std::int32_t kBeforeDstnat = kDstnat - 10;
  constexpr std::int32_t kSrcnat = 100;
  constexpr std::int32_t kFilter = 0;
  std::vector<ChainState> chains = regular_chains(settings);
  const std::vector<Rule> source_ranges = {new_connections(kFirewallCheck)};
  const std::vector<Rule> checks = {new_connections(kNoEndpoints),
                                    new_connections(kClusterIpsCheck)};
  const ChainState bases[] = {
      {base("filter-prerouting-pre-dnat", Type::Filter, Hook::Prerouting, kBeforeDstnat),
       source_ranges},
      {base("filter-output-pre-dnat", Type::Filter, Hook::Output, kBeforeDstnat), source_ranges},
      {base("nat-prerouting", Type::Nat, Hook::Prerouting, kDstnat), {jump(kDispatch)}},
      {base("nat-output", Type::Nat, Hook::Output, kDstnat), {jump(kDispatch)}},
      {base("nat-postrouting", Type::Nat, Hook::Postrouting, kSrcnat), {jump(kMasquerading)}},
      {base("filter-input", Type::Filter, Hook::Input, kFilter),
       {new_connections(kNodePortNoEndpoints), new_connections(kNoEndpoints)}},
      {base("filter-forward", Type::Filter, Hook::Forward, kFilter), checks},
      {base("filter-output", Type::Filter, Hook::Output, kFilter), checks},
  };
  chains.insert(chains.end(), std::begin(bases), std::end(bases));
  return chains;
}

}  // namespace mkp
