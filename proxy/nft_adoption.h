#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_layout.h"

namespace mkp {

// What a dump of our table amounts to: the live table in it, and the operations that make the rest
// of the dump conform to the layout. Whatever of it is fit for use stays as it is; traffic through
// it is not touched.
struct Adoption {
  // Counters of shared elements are 0, those of slot chains true.
  LiveTable live;
  // The clients that affinity remembers: kept for as long as anybody may want them.
  std::set<std::string> affinity_sets;
  struct Repair {
    nft::Operation operation;  // serves is not set
    std::string comment;       // of the element that the operation deletes; says whom it served
  };
  std::vector<Repair> repairs;
};

// `ruleset` nothing: the table does not exist, and the repairs create it. A table whose sets are
// not those of this layout (another version of it, say) is replaced as a whole by the repairs.
Adoption adopt(const std::optional<nft::Ruleset>& ruleset, const NftSettings& settings);

}  // namespace mkp
