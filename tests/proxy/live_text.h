#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "proxy/nft_adoption.h"

namespace mkp {

// What a table means, whatever its history: for each frontend its owner and the endpoints that it
// leads to, and the shared sets. Two tables with one text forward alike. A table that needs repair
// says so.
inline std::string live_text(const std::optional<nft::Ruleset>& ruleset,
                             const NftSettings& settings) {
  const Adoption adoption = adopt(ruleset, settings);
  std::vector<std::string> lines;
  for (const auto& [frontend, state] : adoption.live.frontends) {
    std::string line = to_text(frontend) + " (" + state.owner + ") ->";
    for (const Endpoint& endpoint : state.slots.endpoints()) line += " " + to_text(endpoint);
    lines.push_back(line + "\n");
  }
  for (const auto& [ip, count] : adoption.live.cluster_ips)
    lines.push_back("cluster IP " + to_text(ip) + "\n");
  for (const auto& [ip, count] : adoption.live.hairpin)
    lines.push_back("hairpin " + to_text(ip) + "\n");
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  if (!adoption.repairs.empty())
    text += "needs " + std::to_string(adoption.repairs.size()) + " repairs\n";
  return text;
}

}  // namespace mkp
