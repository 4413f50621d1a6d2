#pragma once

#include <simdjson.h>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/ip_address.h"
#include "runner/result.h"

namespace mkp {

// A value of nft's JSON as one text: "10.96.0.1", "80"; a concatenation "10.96.0.1 . tcp . 80".
// Nothing for a value that is no constant, an interval included.
std::optional<std::string> constant_text(simdjson::dom::element value);

// A set or a map, named or part of a rule.
class ListedSet {
 public:
  struct Entry {
    std::vector<simdjson::dom::element> key;      // its fields
    std::optional<simdjson::dom::element> value;  // of a map
  };

  // `entries`: the array "elem" of a named one, "set" of an anonymous one.
  void read(simdjson::dom::array entries);
  void add(simdjson::dom::element entry);

  // The entry that the fields of a packet find, intervals included; null when there is none.
  const Entry* find(const std::vector<std::string>& fields) const;
  // All constant keys.
  const std::map<std::vector<std::string>, Entry>& constants() const { return constants_; }

  std::vector<std::string> type;         // "ipv4_addr", "inet_proto" ...; empty if anonymous
  std::optional<std::uint64_t> timeout;  // of its entries, seconds

 private:
  std::map<std::vector<std::string>, Entry> constants_;
  std::vector<Entry> intervals_;
};

// A base chain or a regular one.
struct ListedChain {
  std::string name;
  std::string hook;  // empty: a regular one
  std::int64_t priority = 0;
  std::vector<simdjson::dom::array> rules;  // the statements of each
};

// A table as `nft -j list table` prints it: the kernel's rules in the words of a program that is
// neither proxy's.
class ListedTable {
 public:
  // The table of the network namespace that the calling thread is in; one without anything in it
  // when there is no such table.
  static Result<ListedTable> list(IpFamily family, const std::string& name);
  // What nft printed.
  static Result<ListedTable> read(IpFamily family, const std::string& json);

  IpFamily family() const { return family_; }
  // Null when there is none of that name.
  const ListedChain* chain(std::string_view name) const;
  const ListedSet* set(std::string_view name) const;
  const std::map<std::string, ListedSet, std::less<>>& sets() const { return sets_; }
  // The base chains of a hook, in the order in which a packet meets them.
  std::vector<const ListedChain*> base_chains(std::string_view hook) const;

 private:
  void take(simdjson::dom::object object);

  IpFamily family_ = IpFamily::Ipv4;
  // Owns all that the elements refer to, and must stay where it is.
  std::unique_ptr<simdjson::dom::parser> parser_ = std::make_unique<simdjson::dom::parser>();
  std::map<std::string, ListedSet, std::less<>> sets_;
  std::map<std::string, ListedChain, std::less<>> chains_;
};

}  // namespace mkp
