#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/types.h"

namespace mkp {

// The part of the flat layout that does not grow with Services (ARCHITECTURE.md, "The flat
// layout"): the table's sets, its fixed chains, and the chains of each slot table size. Pure
// functions of the settings.

inline constexpr std::string_view kTable =
    "mini-kube-proxy";  // in families ip and ip6; nothing else is ever touched

inline constexpr std::string_view kServices = "services";  // frontend : verdict
inline constexpr std::string_view kClusterEndpoints =
    "cluster-endpoints";                                        // frontend . slot : endpoint
inline constexpr std::string_view kClusterIps = "cluster-ips";  // every cluster IP in use
inline constexpr std::string_view kRejectServices =
    "reject-services";  // frontends without an endpoint
inline constexpr std::string_view kHairpin =
    "hairpin";  // (x . x) for endpoints that may be the client

// What an administrator may choose that shows in the rules of one family.
struct NftSettings {
  IpFamily family = IpFamily::Ipv4;
  std::uint32_t masquerade_mark = 1U << 14;  // one bit; no other bit of a packet's mark is touched
  bool masquerade_all = false;
  // Sources within one of these are pods, which keep their address on the way to a cluster IP.
  // Empty: no local detection, nobody is masqueraded on the way in.
  std::vector<IpPrefix> local_pods;

  bool operator==(const NftSettings&) const = default;
};

// In an order in which they can be created.
std::vector<nft::Set> layout_sets(IpFamily family);

// All chains that exist whatever the Services; each jumps only to those before it.
std::vector<nft::Ruleset::ChainState> fixed_chains(const NftSettings& settings);

// The chains that serve cluster IPs whose endpoints sit in `slots` slots: cluster-N, which draws
// and translates, and internal-cluster-N, which a frontend's verdict names and which marks for
// masquerading. In an order in which they can be created; deleted in the opposite one.
std::vector<nft::Ruleset::ChainState> slot_chains(const NftSettings& settings, std::uint32_t slots);

// "internal-cluster-4", the verdict of a cluster IP's frontend.
std::string internal_cluster_chain(std::uint32_t slots);
// The other way round; nothing for any other name.
std::optional<std::uint32_t> slots_of_chain(std::string_view chain);

}  // namespace mkp
