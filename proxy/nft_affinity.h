#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_settings.h"
#include "proxy/rule_model.h"

namespace mkp {

// Session affinity, the one thing in the layout that has chains and sets of its own: for each
// Service port a chain for either list of endpoints, and for each endpoint a chain and a set of the
// clients that it remembers. Whichever frontend a client uses, it meets the same memory. A rule
// change leaves sets alone, so that only the endpoint itself going away loses its clients.

// What the chains of one Service port are made from.
struct AffinityRules {
  Protocol protocol = Protocol::Tcp;
  std::uint32_t seconds = 0;  // since the last connection
  std::vector<Endpoint> cluster;
  std::vector<Endpoint> local;
  // The list that ClusterIP frontends lead to; nothing when there is no such frontend, or it
  // refuses.
  std::optional<TrafficPolicy> internal;
  bool external = false;  // some frontend of externalTrafficPolicy Cluster leads to the chains
  bool operator==(const AffinityRules&) const = default;
};

// Nothing for a Service port without affinity, or that leads nowhere.
std::optional<AffinityRules> affinity_rules(const ServicePort& port, Protocol protocol);

// How a Service port is called in the names of its chains: "shop/web/tcp/http", or a shortened form
// of it that is as unique when that would be longer than the kernel takes.
std::string affinity_name(const ServicePortName& port);

// Whose that name is: "shop/web:http"; a shortened name as it is.
std::string affinity_owner(const std::string& name);

std::string affinity_internal_chain(std::string_view name);  // marks, then goes on by policy
std::string affinity_external_chain(std::string_view name);  // marks, then goes to the cluster list
std::string affinity_cluster_chain(std::string_view name);
std::string affinity_local_chain(std::string_view name);

// The sets and chains of one Service port, in an order in which they can be created.
std::vector<nft::Set> affinity_sets(IpFamily family, std::string_view name,
                                    const AffinityRules& rules);
std::vector<nft::Ruleset::ChainState> affinity_chains(const NftSettings& settings,
                                                      std::string_view name,
                                                      const AffinityRules& rules);

// Whether a chain or set of that name is one of affinity's.
bool is_affinity_chain(std::string_view chain);
bool is_affinity_set(std::string_view set);

// The rules that the affinity chains of a dump were made from, by the name of their Service port.
// Only those whose chains are exactly what these rules make, but for the marking on the way in.
std::map<std::string, AffinityRules> read_affinity(
    const NftSettings& settings,
    const std::map<std::string_view, const nft::Ruleset::ChainState*>& chains);

}  // namespace mkp
