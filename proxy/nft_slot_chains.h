#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "netlink/ruleset.h"
#include "proxy/nft_settings.h"

namespace mkp {

// A chain that serves all frontends of one kind whose endpoints sit in that many slots. There is
// one for each pair in use. Ordered so that each goes to none but those before it.
struct SlotChain {
  enum class Kind : std::uint8_t {
    // Draw a slot of the frontend's cluster or local endpoints, and translate.
    Cluster,
    Local,
    NodePortCluster,
    NodePortLocal,
    // ClusterIP frontends of either internalTrafficPolicy: mark who is no pod, and go on there.
    InternalCluster,
    InternalLocal,
    // Frontends of externalTrafficPolicy Cluster: mark everybody, and go on there.
    ExternalCluster,
    NodePortExternalCluster,
  };
  Kind kind = Kind::Cluster;
  std::uint32_t slots = 1;
  auto operator<=>(const SlotChain&) const = default;
};

std::string name_of(const SlotChain& chain);  // "internal-cluster-4"
// The other way round; nothing for any other name.
std::optional<SlotChain> slot_chain_of(std::string_view name);

// The chain that it goes to.
std::optional<SlotChain> successor(const SlotChain& chain);

nft::Ruleset::ChainState slot_chain_state(const NftSettings& settings, const SlotChain& chain);

// The rules that mark what a ClusterIP frontend's client may need masqueraded: one, or none.
std::vector<nft::Rule> internal_marking(const NftSettings& settings);

}  // namespace mkp
