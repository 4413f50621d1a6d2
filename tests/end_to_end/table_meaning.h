#pragma once

#include <map>
#include <set>
#include <string>

#include "runner/result.h"
#include "tests/end_to_end/listed_table.h"

namespace mkp {

// What clients dial, in nft's words: "10.96.0.1 . tcp . 443"; a node port: "tcp . 30080".
using FrontendKeys = std::set<std::vector<std::string>>;

// The frontends that sets and maps of a table speak of: whatever is keyed as one.
FrontendKeys frontends_of(const ListedTable& table);

// Addresses of one IP family.
struct Surroundings {
  std::string node;               // the node's own; it answers on node ports
  std::set<std::string> clients;  // who else dials: pods, and hosts outside
};

// By frontend and client, a line each ("10.96.0.1 . tcp . 443 from 10.180.0.7"), what may become
// of a new connection; see PacketWalk. Invalid when a rule cannot be read.
using TableMeaning = std::map<std::string, std::set<std::string>>;
Result<TableMeaning> meaning_of(const ListedTable& table, const FrontendKeys& frontends,
                                const Surroundings& surroundings);

// Where they differ: line and both sides. Empty when they say the same.
std::string differences(const TableMeaning& one, const TableMeaning& other);

}  // namespace mkp
