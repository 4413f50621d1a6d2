#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/nft_layout.h"

namespace mkp {

// What a change means, in the words of whoever wrote the Services.
struct PlanWord {
  std::uint32_t serves = nft::Operation::kShared;  // as Operation::serves
  std::string line;  // "node port 30080/TCP: endpoints + 10.180.0.2:8080"
};

std::vector<PlanWord> plan_words(const NftChange& change);

}  // namespace mkp
