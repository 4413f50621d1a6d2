#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mkp {

// The name that was probably meant: the one that fewest insertions, deletions and replacements of a
// letter, case aside, make of `misspelt`. Nothing when even that one has little in common with it.
std::optional<std::string> nearest_name(std::string_view misspelt,
                                        const std::vector<std::string>& names);

}  // namespace mkp
