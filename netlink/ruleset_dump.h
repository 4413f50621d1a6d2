#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/messages.h"
#include "netlink/ruleset.h"
#include "runner/result.h"

namespace mkp::nft {

// What the kernel lists, put together as one table. Takes any bytes: those that are no nf_tables
// objects are Invalid, objects of other tables are passed over.
//
// What ruleset.h has no words for is told apart, never dropped in silence: an expression becomes an
// UnknownExpression; a chain or a set that we never declare so is `foreign`; an element that cannot
// be said (one with flags, a timeout, a counter) is left out and makes its set foreign. An
// anonymous set is a part of its rule, and passed over. The elements of a set of Remembered keys
// are no part of it: they are passed over.
class RulesetDump {
 public:
  RulesetDump(IpFamily family, std::string_view table);

  // One message of an answer to GETCHAIN, GETRULE, GETSET or GETSETELEM; chains before rules, sets
  // before elements. Other messages are passed over.
  Result<> take(const NetlinkMessage& message);

  const Ruleset& so_far() const { return ruleset_; }
  // Elements are in no particular order.
  Ruleset finish(std::uint32_t generation) &&;

 private:
  Result<> take_chain(ByteSpan attributes);
  Result<> take_rule(ByteSpan attributes);
  Result<> take_set(ByteSpan attributes);
  Result<> take_elements(ByteSpan attributes);
  bool is_ours(ByteSpan table_name) const;

  Ruleset ruleset_;
  // Where in the ruleset a chain or a set of that name is.
  std::unordered_map<std::string, std::size_t> chains_;
  std::unordered_map<std::string, std::size_t> sets_;
  std::unordered_set<std::string> anonymous_;
};

// The answer to GETGEN: the generation. Invalid when the message is something else.
Result<std::uint32_t> parse_generation(const NetlinkMessage& message);

}  // namespace mkp::nft
