#include "proxy/nft_slot_chains.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "proxy/nft_skeleton.h"

namespace mkp {
namespace {

using Kind = SlotChain::Kind;

// Times that a packet draws before it takes slot 0. With the emptiest table that is kept, 3/8 of
// the slots and one more taken, fewer than 6 packets in 10,000 get that far.
constexpr int kDraws = 16;

// The slots of the largest table: more than anybody has endpoints in one Service.
constexpr std::uint32_t kMostSlots = 65536;

// Where a name is the beginning of another, the longer one comes first.
constexpr std::array<std::pair<std::string_view, Kind>, 8> kPrefixes{
    {{"nodeport-external-cluster-", Kind::NodePortExternalCluster},
     {"nodeport-cluster-", Kind::NodePortCluster},
     {"nodeport-local-", Kind::NodePortLocal},
     {"internal-cluster-", Kind::InternalCluster},
     {"internal-local-", Kind::InternalLocal},
     {"external-cluster-", Kind::ExternalCluster},
     {"cluster-", Kind::Cluster},
     {"local-", Kind::Local}}};

std::string_view map_of(Kind kind) {
  switch (kind) {
    case Kind::Local:
      return kAddressSets.local_endpoints;
    case Kind::NodePortCluster:
      return kNodePortSets.cluster_endpoints;
    case Kind::NodePortLocal:
      return kNodePortSets.local_endpoints;
    default:
      return kAddressSets.cluster_endpoints;
  }
}

nft::Rule draw(const NftSettings& settings, Kind kind, std::uint32_t slots) {
  const bool node_port = kind == Kind::NodePortCluster || kind == Kind::NodePortLocal;
  nft::Rule rule;
  const nft::Register slot = load_frontend(node_port ? FrontendKey::NodePort : FrontendKey::Address,
                                           settings.family, rule.expressions);
  rule.expressions.emplace_back(nft::Numgen{slots, slot});
  rule.expressions.emplace_back(
      nft::Lookup{std::string(map_of(kind)), 0, nft::Lookup::Use::Data, 0});
  rule.expressions.emplace_back(nft::Dnat{settings.family, 0, address_registers(settings.family)});
  return rule;
}

}  // namespace

std::string name_of(const SlotChain& chain) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (kind == chain.kind) return fmt::format("{}{}", prefix, chain.slots);
  }
  return {};
}

std::optional<SlotChain> slot_chain_of(std::string_view name) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    std::uint32_t slots = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), slots);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    if (!std::has_single_bit(slots) || slots == 2 || slots > kMostSlots) return std::nullopt;
    return SlotChain{kind, slots};
  }
  return std::nullopt;
}

std::optional<SlotChain> successor(const SlotChain& chain) {
  switch (chain.kind) {
    case Kind::InternalCluster:
    case Kind::ExternalCluster:
      return SlotChain{Kind::Cluster, chain.slots};
    case Kind::InternalLocal:
      return SlotChain{Kind::Local, chain.slots};
    case Kind::NodePortExternalCluster:
      return SlotChain{Kind::NodePortCluster, chain.slots};
    default:
      return std::nullopt;
  }
}

nft::Ruleset::ChainState slot_chain_state(const NftSettings& settings, const SlotChain& chain) {
  nft::Ruleset::ChainState state{regular_chain(name_of(chain)), {}};
  if (const std::optional<SlotChain> next = successor(chain)) {
    const bool internal = chain.kind == Kind::InternalCluster || chain.kind == Kind::InternalLocal;
    state.rules =
        internal ? internal_marking(settings) : std::vector<nft::Rule>{jump(kMarkForMasquerade)};
    state.rules.push_back(go_to(name_of(*next)));
    return state;
  }
  if (chain.slots > 1) state.rules.assign(kDraws, draw(settings, chain.kind, chain.slots));
  state.rules.push_back(draw(settings, chain.kind, 1));
  return state;
}

std::vector<nft::Rule> internal_marking(const NftSettings& settings) {
  if (settings.masquerade_all) return {jump(kMarkForMasquerade)};
  Expressions others = not_from_local_pods(settings.local_pods, settings.family);
  if (others.empty()) return {};
  return {rule_of(std::move(others), to_chain(nft::Verdict::Kind::Jump, kMarkForMasquerade))};
}

}  // namespace mkp
