#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "netlink/nftables.h"
#include "netlink/ruleset.h"
#include "runner/ip_address.h"
#include "runner/result.h"

// Short ways to write nf_tables objects in tests.
namespace mkp::nft {

// The address as a key or a datum of its own.
Bytes address(std::string_view text);
inline Bytes ipv4(std::string_view text) { return address(text); }
// A host-order number, as a slot or a mark.
Bytes number(std::uint32_t value);
Bytes byte(std::uint8_t value);
Bytes port(std::uint16_t value);
// One key of several fields.
Bytes concatenate(const std::vector<Bytes>& fields);

Chain chain(std::string name);
Chain base_chain(std::string name);  // filter, input
Set addresses();                     // a set of IPv4 addresses
Set verdicts();                      // IPv4 address to verdict
Set data();                          // IPv4 address to IPv4 address
Set intervals();                     // of an IPv4 address and a port
Set clients();                       // IPv4 addresses that are remembered

template <class... Expressions>
Rule rule(Expressions... expressions) {
  return Rule{{std::move(expressions)...}};
}
PayloadLoad load_destination();  // ip daddr, to register 0
PayloadLoad load_source();       // ip saddr, to register 0
ImmediateVerdict goto_chain(std::string name);
Verdict go_to(std::string name);

Element element(Bytes key, decltype(Element::value) value = {}, std::string comment = "");
Element interval(Bytes first, Bytes last, std::string comment = "");

// A flat layout in small, of either family: every kind of expression, set and chain.
Ruleset sample_ruleset(IpFamily family, std::string table);

// What makes it from nothing.
Transaction creation_of(const Ruleset& ruleset);

// "" when it was taken; "expired"; the error; or what was refused: "1: ENOENT, 3-7: EEXIST".
std::string outcome_text(const Result<std::vector<Refusal>>& outcome);

}  // namespace mkp::nft
