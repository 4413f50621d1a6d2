#pragma once

#include <string>

#include "netlink/ruleset.h"
#include "proxy/backend.h"
#include "proxy/nft_layout.h"

namespace mkp {

PlanSize plan_size(const NftChange& change);

// A diff grouped by Service port, what serves everybody first; in each group what changes in words,
// behind '#', and then the operations. See Plan::to_text().
std::string plan_text(const NftChange& change);

// One operation on our table, in nft's syntax.
std::string operation_text(const nft::Operation& operation, IpFamily family);

}  // namespace mkp
