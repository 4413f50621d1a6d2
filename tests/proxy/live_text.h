#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/nft_adoption.h"
#include "proxy/node_model.h"
#include "proxy/node_rules.h"

namespace mkp {

// The settings of a table on a node of which that is known.
inline NftSettings live_settings(const Config& config, const NodeFacts& facts, IpFamily family) {
  return with_node(nft_settings(config, family), node_model(config, facts, family).model);
}

inline std::string_view route_text(LiveFrontend::Route route) {
  using Route = LiveFrontend::Route;
  switch (route) {
    case Route::Nowhere:
    case Route::InternalCluster:
      return "";
    case Route::InternalLocal:
      return " internal local";
    case Route::ExternalCluster:
      return " external";
    case Route::ExternalLocal:
      return " external local";
    case Route::InternalAffinity:
      return " internal affinity";
    case Route::ExternalAffinity:
      return " external affinity";
  }
  return "";
}

inline std::string list_text(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& endpoint : endpoints) text += " " + to_text(endpoint);
  return text;
}

inline std::string live_line(const Frontend& frontend, const LiveFrontend& state) {
  std::string line = to_text(frontend) + " (" + state.owner + ")";
  line += route_text(state.route);
  line += " ->" + list_text(state.cluster.endpoints());
  if (state.local_service || state.local.size() != 0) {
    line += "; here" + list_text(state.local.endpoints());
  }
  if (!state.affinity.empty()) line += "; by " + state.affinity;
  if (state.refusal == Refusal::Drop) line += "; drop";
  for (const IpPrefix& source : state.allowed_sources) line += "; from " + to_text(source);
  return line + "\n";
}

// What a table means, whatever its history: for each frontend its owner and the endpoints that it
// leads to, and the shared sets. Two tables with one text forward alike. A table that needs repair
// says so.
inline std::string live_text(const std::optional<nft::Ruleset>& ruleset,
                             const NftSettings& settings) {
  const Adoption adoption = adopt(ruleset, settings);
  const LiveTable& live = adoption.live;
  std::vector<std::string> lines;
  for (const auto& [frontend, state] : live.frontends) lines.push_back(live_line(frontend, state));
  for (const auto& [ip, count] : live.cluster_ips) {
    lines.push_back("cluster IP " + to_text(ip) + "\n");
  }
  for (const auto& [ip, count] : live.hairpin) lines.push_back("hairpin " + to_text(ip) + "\n");
  for (const IpAddress& ip : live.node_port_ips) {
    lines.push_back("node ports at " + to_text(ip) + "\n");
  }
  for (const auto& [name, rules] : live.affinity) {
    lines.push_back("affinity " + name + " " + std::to_string(rules.seconds) +
                    " s:" + list_text(rules.cluster) + "; here" + list_text(rules.local) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  if (!adoption.repairs.empty())
    text += "needs " + std::to_string(adoption.repairs.size()) + " repairs\n";
  return text;
}

}  // namespace mkp
