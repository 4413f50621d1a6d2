#include "tests/end_to_end/table_meaning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "tests/end_to_end/packet_walk.h"

namespace mkp {
namespace {

bool is_keyed_by_frontend(const ListedSet& set) {
  std::vector<std::string> type = set.type;
  if (!type.empty() && type[0].starts_with("ipv")) type.erase(type.begin());
  return type == std::vector<std::string>{"inet_proto", "inet_service"};
}

Packet packet_to(const std::vector<std::string>& frontend, const std::string& node) {
  Packet packet;
  packet.destination = frontend.size() == 3 ? frontend[0] : node;
  packet.protocol = frontend[frontend.size() - 2];
  const std::string& port = frontend.back();
  std::from_chars(port.data(), port.data() + port.size(), packet.port);
  return packet;
}

}  // namespace

FrontendKeys frontends_of(const ListedTable& table) {
  FrontendKeys frontends;
  for (const auto& [name, set] : table.sets()) {
    if (!is_keyed_by_frontend(set)) continue;
    for (const auto& [key, entry] : set.constants()) frontends.insert(key);
  }
  return frontends;
}

Result<TableMeaning> meaning_of(const ListedTable& table, const FrontendKeys& frontends,
                                const Surroundings& surroundings) {
  TableMeaning meaning;
  PacketWalk walk(table, surroundings.node);
  for (const std::vector<std::string>& frontend : frontends) {
    Packet packet = packet_to(frontend, surroundings.node);
    std::set<std::string> sources = surroundings.clients;
    // The node itself, from its own address and from one that is bound to it for the frontend.
    const std::set<std::string> own = {surroundings.node, packet.destination};
    sources.insert(own.begin(), own.end());
    for (const std::string& source : sources) {
      packet.source = source;
      packet.from_node = own.contains(source);
      Result<std::set<std::string>> fates = walk.fates(packet);
      if (!fates) return tl::unexpected(fates.error());
      meaning[fmt::format("{} from {}", fmt::join(frontend, " . "), source)] = std::move(*fates);
    }
  }
  return meaning;
}

std::string differences(const TableMeaning& one, const TableMeaning& other) {
  std::string text;
  const auto say = [&](const std::string& line) {
    const auto side = [&](const TableMeaning& meaning) {
      const auto found = meaning.find(line);
      return found == meaning.end() ? "nothing" : fmt::format("{}", fmt::join(found->second, "; "));
    };
    text += fmt::format("{}\n  {}\n  {}\n", line, side(one), side(other));
  };
  for (const auto& [line, fates] : one) {
    const auto found = other.find(line);
    if (found == other.end() || found->second != fates) say(line);
  }
  for (const auto& [line, fates] : other) {
    if (!one.contains(line)) say(line);
  }
  return text;
}

}  // namespace mkp
