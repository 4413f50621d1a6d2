#pragma once

#include <string_view>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_rules.h"
#include "proxy/nft_settings.h"
#include "proxy/types.h"

namespace mkp {

// The part of the flat layout that is there whatever the Services (ARCHITECTURE.md, "The flat
// layout"): the table's sets and its fixed chains. Pure functions of the settings.

// In families ip and ip6; nothing else is ever touched.
inline constexpr std::string_view kTable = "mini-kube-proxy";

// The sets and maps of frontends: once for those with an address, once for node ports.
struct FrontendSets {
  FrontendKey key = FrontendKey::Address;
  std::string_view verdicts;           // frontend : verdict
  std::string_view short_circuit;      // ... for pods and the node itself, of policy Local
  std::string_view local_services;     // ... for everybody else, of policy Local
  std::string_view cluster_endpoints;  // frontend . slot : endpoint
  std::string_view local_endpoints;
  std::string_view reject;          // frontends without an endpoint anywhere
  std::string_view drop;            // frontends without one that their policy allows
  std::string_view external_local;  // the chain of policy Local
};
inline constexpr FrontendSets kAddressSets{
    FrontendKey::Address, "services",        "short-circuit", "local-services", "cluster-endpoints",
    "local-endpoints",    "reject-services", "drop-services", "external-local"};
inline constexpr FrontendSets kNodePortSets{
    FrontendKey::NodePort,        "nodeports",
    "nodeport-short-circuit",     "nodeport-local-services",
    "nodeport-cluster-endpoints", "nodeport-local-endpoints",
    "nodeport-reject-services",   "nodeport-drop-services",
    "nodeport-external-local"};
inline const FrontendSets& sets_of(const Frontend& frontend) {
  return frontend.ip ? kAddressSets : kNodePortSets;
}

inline constexpr std::string_view kClusterIps = "cluster-ips";    // every cluster IP in use
inline constexpr std::string_view kNodePortIps = "nodeport-ips";  // what answers on node ports
// (x . x) for endpoints that may be the client.
inline constexpr std::string_view kHairpin = "hairpin";
// Load-balancer frontends with source ranges, and frontend . source for who may use them.
inline constexpr std::string_view kFirewalledServices = "firewalled-services";
inline constexpr std::string_view kAllowedSources = "allowed-sources";

// Sends packets to their frontends.
inline constexpr std::string_view kDispatch = "dispatch";
// Refuses what is addressed to a cluster IP, or to where there could be one, in vain.
inline constexpr std::string_view kClusterIpsCheck = "cluster-ips-check";
// Sets the mark for masquerading; the packet goes on.
inline constexpr std::string_view kMarkForMasquerade = "mark-for-masquerade";

// In an order in which they can be created.
std::vector<nft::Set> layout_sets(IpFamily family);

// All chains that exist whatever the Services; each jumps only to those before it.
std::vector<nft::Ruleset::ChainState> fixed_chains(const NftSettings& settings);

}  // namespace mkp
