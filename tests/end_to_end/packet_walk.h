#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/end_to_end/listed_table.h"

namespace mkp {

// The first packet of a connection, with what rules read and write of it.
struct Packet {
  std::string source;
  std::string destination;
  std::string protocol;  // "tcp", "udp", "sctp"
  std::uint64_t port = 0;
  bool from_node = false;  // a process of the node sends it

  std::uint64_t mark = 0;
  bool translated = false;
  bool masqueraded = false;
  std::uint64_t remembered = 0;  // seconds that the client keeps its endpoint; 0: no affinity

  auto operator<=>(const Packet&) const = default;
};

// Takes a packet through the rules of a table as the kernel would: hooks in their order, routing
// between them by what the destination is by then. Every draw of a random number goes every way
// that it may go, and nobody is remembered yet.
class PacketWalk {
 public:
  // `node_address`: the node's own, beside loopback. Both are borrowed.
  PacketWalk(const ListedTable& table, const std::string& node_address)
      : table_(table), node_address_(node_address) {}

  // What may become of the packet, a text each: "to 10.180.0.2:8080", with ", masqueraded" and
  // ", remembered 600 s" where that is so; "reject port-unreachable"; "drop"; "untouched".
  // Invalid when a rule says what this cannot read.
  Result<std::set<std::string>> fates(const Packet& packet);

 private:
  using Packets = std::set<Packet>;
  // A rule with one packet, for one number drawn.
  struct Step {
    enum class End { Next, Jump, Goto, Return, Accept, Refused };
    End end = End::Next;
    std::string target;       // of Jump and Goto
    Packet packet;            // as it is by then
    bool draws = false;       // as a rule does once at most:
    std::uint64_t drawn = 0;  // this number ...
    std::uint64_t below = 1;  // ... of so many
  };

  bool is_own(const std::string& address) const;
  Packets through_hook(std::string_view hook, const Packets& arriving);
  // Those that come out at the chain's end, or return.
  Packets through_chain(std::string_view name, const Packets& arriving);
  void take_rule(const simdjson::dom::array& rule, const Packet& packet, Packets& next,
                 Packets& returned);
  void settle(Step step, Packets& next, Packets& returned);
  // False when the rule goes no further.
  bool take(simdjson::dom::element statement, Step& step);
  bool matches(simdjson::dom::object match, Step& step);
  bool take_verdict(simdjson::dom::element statement, Step& step);
  bool take_verdict_map(simdjson::dom::object map, Step& step);
  bool translate(simdjson::dom::object nat, Step& step);
  bool set_mark(simdjson::dom::object mangle, Step& step);
  bool remember(simdjson::dom::object update, Step& step);
  const ListedSet* set_of(simdjson::dom::element data, ListedSet& anonymous);

  // The fields of a value; nothing when there is none, as of a map without that key.
  std::optional<std::vector<std::string>> evaluate(simdjson::dom::element value, Step& step);
  std::string field_of(simdjson::dom::element value, Step& step);
  std::string calculate(simdjson::dom::element value, Step& step);
  void misread(std::string what);

  const ListedTable& table_;
  const std::string& node_address_;
  Packets accepted_;  // by a chain of the hook that is under way
  std::set<std::string> refusals_;
  std::string misread_;
};

}  // namespace mkp
