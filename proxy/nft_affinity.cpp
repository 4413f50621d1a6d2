#include "proxy/nft_affinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "proxy/nft_elements.h"
#include "proxy/nft_skeleton.h"
#include "proxy/nft_slot_chains.h"

namespace mkp {
namespace {

using nft::Rule;
using nft::Verdict;
using ChainState = nft::Ruleset::ChainState;

constexpr std::string_view kInternal = "affinity-internal-";
constexpr std::string_view kExternal = "affinity-external-";
constexpr std::string_view kCluster = "affinity-cluster-";
constexpr std::string_view kLocal = "affinity-local-";
constexpr std::string_view kEndpoint = "endpoint-";
constexpr std::string_view kSet = "affinity-";
// Between the name of the Service port and the endpoint; no name in Kubernetes has an underscore.
constexpr std::string_view kBeforeEndpoint = "__";

// With the longest prefix and endpoint still within NFT_NAME_MAXLEN, the kernel's 256 bytes.
constexpr std::size_t kLongestName = 180;

std::string_view lower_case(Protocol protocol) {
  switch (protocol) {
    case Protocol::Tcp:
      return "tcp";
    case Protocol::Udp:
      return "udp";
    case Protocol::Sctp:
      return "sctp";
  }
  return "";
}

// nft's names have no colons: those of an IPv6 address become dots.
std::string endpoint_name(std::string_view name, const Endpoint& endpoint) {
  std::string ip = to_text(endpoint.ip);
  std::replace(ip.begin(), ip.end(), ':', '.');
  return fmt::format("{}{}{}/{}", name, kBeforeEndpoint, ip, endpoint.port);
}

std::string endpoint_chain(std::string_view name, const Endpoint& endpoint) {
  return std::string(kEndpoint) + endpoint_name(name, endpoint);
}

std::string endpoint_set(std::string_view name, const Endpoint& endpoint) {
  return std::string(kSet) + endpoint_name(name, endpoint);
}

std::vector<Endpoint> all_endpoints(const AffinityRules& rules) {
  std::vector<Endpoint> all;
  std::set_union(rules.cluster.begin(), rules.cluster.end(), rules.local.begin(), rules.local.end(),
                 std::back_inserter(all));
  return all;
}

// Remembers the client, renews the time that it is remembered for, and translates. A set that is
// full remembers nobody new, and the translation goes on without.
ChainState endpoint_state(const NftSettings& settings, std::string_view name,
                          const AffinityRules& rules, const Endpoint& endpoint) {
  constexpr nft::Register kPort = 4;  // as nft has it, in the next register of full length
  const IpFamily family = settings.family;
  ChainState state{regular_chain(endpoint_chain(name, endpoint)), {}};
  state.rules.push_back({{source_address(family, 0),
                          nft::SetUpdate{endpoint_set(name, endpoint), 0, rules.seconds}}});
  state.rules.push_back(
      {{nft::MetaLoad{nft::MetaKey::L4Proto, 0},
        nft::Compare{nft::Compare::Op::Equal, 0, protocol_bytes(rules.protocol)},
        nft::ImmediateData{0, address_key(endpoint.ip)},
        nft::ImmediateData{kPort, port_bytes(endpoint.port)}, nft::Dnat{family, 0, kPort}}});
  return state;
}

// First whoever remembers the client, then each of those left with the same chance.
ChainState choice_state(const NftSettings& settings, std::string_view chain, std::string_view name,
                        const std::vector<Endpoint>& endpoints) {
  ChainState state{regular_chain(chain), {}};
  for (const Endpoint& endpoint : endpoints) {
    state.rules.push_back(
        {{source_address(settings.family, 0),
          nft::Lookup{endpoint_set(name, endpoint), 0, nft::Lookup::Use::Match, 0},
          to_chain(Verdict::Kind::Goto, endpoint_chain(name, endpoint))}});
  }
  auto left = static_cast<std::uint32_t>(endpoints.size());
  for (const Endpoint& endpoint : endpoints) {
    Expressions chance;
    if (left > 1) {
      chance = {nft::Numgen{left, 0}, nft::Compare{nft::Compare::Op::Equal, 0, host_word(0)}};
    }
    state.rules.push_back(
        rule_of(std::move(chance), to_chain(Verdict::Kind::Goto, endpoint_chain(name, endpoint))));
    --left;
  }
  return state;
}

using FoundChains = std::map<std::string_view, const ChainState*>;

// The endpoint that a chain's name speaks of.
std::optional<Endpoint> endpoint_in(std::string_view chain, IpFamily family) {
  const std::size_t at = chain.rfind(kBeforeEndpoint);
  const std::size_t slash = chain.rfind('/');
  if (at == std::string_view::npos || slash == std::string_view::npos || slash < at) {
    return std::nullopt;
  }
  std::string host(chain.substr(at + kBeforeEndpoint.size(), slash - at - kBeforeEndpoint.size()));
  if (family == IpFamily::Ipv6) std::replace(host.begin(), host.end(), '.', ':');
  const std::optional<IpAddress> ip = parse_ip_address(host);
  int port = 0;
  for (const char digit : chain.substr(slash + 1)) {
    if (digit < '0' || digit > '9' || port > 65535) return std::nullopt;
    port = port * 10 + (digit - '0');
  }
  if (!ip || ip->family != family || port < 1 || port > 65535) return std::nullopt;
  return Endpoint{*ip, static_cast<std::uint16_t>(port)};
}

// The endpoints that a chain of choice leads to.
std::vector<Endpoint> choices_of(const ChainState& state, IpFamily family) {
  std::vector<Endpoint> endpoints;
  for (const Rule& rule : state.rules) {
    if (rule.expressions.empty()) continue;
    const auto* verdict = std::get_if<nft::ImmediateVerdict>(&rule.expressions.back());
    const auto endpoint = verdict ? endpoint_in(verdict->verdict.chain, family) : std::nullopt;
    if (endpoint) endpoints.push_back(*endpoint);
  }
  std::sort(endpoints.begin(), endpoints.end());
  endpoints.erase(std::unique(endpoints.begin(), endpoints.end()), endpoints.end());
  return endpoints;
}

// What the rules of an endpoint's chain say of the Service port.
void read_endpoint_chain(const ChainState& state, AffinityRules& rules) {
  for (const Rule& rule : state.rules) {
    for (const nft::Expression& expression : rule.expressions) {
      if (const auto* update = std::get_if<nft::SetUpdate>(&expression)) {
        rules.seconds = update->timeout;
      }
      if (const auto* compare = std::get_if<nft::Compare>(&expression)) {
        rules.protocol = protocol_in(compare->value).value_or(rules.protocol);
      }
    }
  }
}

AffinityRules guess(const NftSettings& settings, std::string_view name, const FoundChains& chains) {
  AffinityRules rules;
  // One without rules is nobody's any more.
  const auto find = [&](const std::string& chain) -> const ChainState* {
    const auto found = chains.find(chain);
    return found == chains.end() || found->second->rules.empty() ? nullptr : found->second;
  };
  if (const auto* chain = find(affinity_cluster_chain(name))) {
    rules.cluster = choices_of(*chain, settings.family);
  }
  if (const auto* chain = find(affinity_local_chain(name))) {
    rules.local = choices_of(*chain, settings.family);
  }
  rules.external = find(affinity_external_chain(name)) != nullptr;
  if (const auto* chain = find(affinity_internal_chain(name))) {
    const bool local = chain->rules.back() == go_to(affinity_local_chain(name));
    rules.internal = local ? TrafficPolicy::Local : TrafficPolicy::Cluster;
  }
  for (const Endpoint& endpoint : all_endpoints(rules)) {
    if (const auto* chain = find(endpoint_chain(name, endpoint)))
      read_endpoint_chain(*chain, rules);
  }
  return rules;
}

}  // namespace

std::optional<AffinityRules> affinity_rules(const ServicePort& port, Protocol protocol) {
  if (!port.affinity_seconds || !port.endpoints.any) return std::nullopt;
  AffinityRules rules{protocol,
                      *port.affinity_seconds,
                      port.cluster_endpoints(),
                      port.local_endpoints(),
                      std::nullopt,
                      false};
  for (const ServedFrontend& served : port.frontends) {
    if (served.kind == FrontendKind::ClusterIp) {
      if (port.internal_refusal() == Refusal::None) rules.internal = port.internal_policy;
    } else {
      rules.external = rules.external || port.external_policy == TrafficPolicy::Cluster;
    }
  }
  if (rules.cluster.empty() && rules.local.empty()) return std::nullopt;
  return rules;
}

std::string affinity_name(const ServicePortName& port) {
  std::string name =
      fmt::format("{}/{}/{}", to_text(port.service), lower_case(port.protocol), port.port);
  if (name.size() <= kLongestName) return name;
  const std::size_t hash = std::hash<std::string>{}(name);
  return fmt::format("{}...{:016x}", name.substr(0, kLongestName - 19), hash);
}

std::string affinity_owner(const std::string& name) {
  const std::size_t service = name.find('/');
  const std::size_t protocol = name.find('/', service + 1);
  const std::size_t port = protocol == std::string::npos ? protocol : name.find('/', protocol + 1);
  if (port == std::string::npos) return name;
  const std::string owner = name.substr(0, protocol);
  return port + 1 == name.size() ? owner : owner + ":" + name.substr(port + 1);
}

std::string affinity_internal_chain(std::string_view name) {
  return std::string(kInternal) + std::string(name);
}
std::string affinity_external_chain(std::string_view name) {
  return std::string(kExternal) + std::string(name);
}
std::string affinity_cluster_chain(std::string_view name) {
  return std::string(kCluster) + std::string(name);
}
std::string affinity_local_chain(std::string_view name) {
  return std::string(kLocal) + std::string(name);
}

std::vector<nft::Set> affinity_sets(IpFamily family, std::string_view name,
                                    const AffinityRules& rules) {
  const nft::Field address =
      family == IpFamily::Ipv4 ? nft::Field::Ipv4Address : nft::Field::Ipv6Address;
  std::vector<nft::Set> sets;
  for (const Endpoint& endpoint : all_endpoints(rules)) {
    sets.push_back({endpoint_set(name, endpoint), nft::Set::Kind::Set, {address}, {}});
    sets.back().content = nft::Set::Content::Remembered;
  }
  return sets;
}

std::vector<ChainState> affinity_chains(const NftSettings& settings, std::string_view name,
                                        const AffinityRules& rules) {
  std::vector<ChainState> chains;
  for (const Endpoint& endpoint : all_endpoints(rules)) {
    chains.push_back(endpoint_state(settings, name, rules, endpoint));
  }
  if (!rules.cluster.empty()) {
    chains.push_back(choice_state(settings, affinity_cluster_chain(name), name, rules.cluster));
  }
  if (!rules.local.empty()) {
    chains.push_back(choice_state(settings, affinity_local_chain(name), name, rules.local));
  }
  if (rules.internal) {
    ChainState entry{regular_chain(affinity_internal_chain(name)), internal_marking(settings)};
    entry.rules.push_back(go_to(*rules.internal == TrafficPolicy::Local
                                    ? affinity_local_chain(name)
                                    : affinity_cluster_chain(name)));
    chains.push_back(std::move(entry));
  }
  if (rules.external) {
    chains.push_back({regular_chain(affinity_external_chain(name)),
                      {jump(kMarkForMasquerade), go_to(affinity_cluster_chain(name))}});
  }
  return chains;
}

bool is_affinity_chain(std::string_view chain) {
  return chain.starts_with(kSet) || chain.starts_with(kEndpoint);
}

bool is_affinity_set(std::string_view set) { return set.starts_with(kSet); }

std::map<std::string, AffinityRules> read_affinity(const NftSettings& settings,
                                                   const FoundChains& chains) {
  std::set<std::string> names;
  for (const auto& [chain, state] : chains) {
    for (const std::string_view prefix : {kCluster, kLocal}) {
      if (chain.starts_with(prefix)) names.emplace(chain.substr(prefix.size()));
    }
  }
  std::map<std::string, AffinityRules> all;
  for (const std::string& name : names) {
    AffinityRules rules = guess(settings, name, chains);
    const std::vector<ChainState> wanted = affinity_chains(settings, name, rules);
    const bool exact = std::all_of(wanted.begin(), wanted.end(), [&](const ChainState& state) {
      const auto found = chains.find(state.chain.name);
      if (found == chains.end() || found->second->chain != state.chain) return false;
      // Whom the way in marks depends on settings: it can be filled again as it is.
      const bool way_in = state.chain.name == affinity_internal_chain(name);
      return way_in || found->second->rules == state.rules;
    });
    if (exact && !wanted.empty()) all.emplace(name, std::move(rules));
  }
  return all;
}

}  // namespace mkp
