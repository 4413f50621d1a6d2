#include "configs/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace mkp {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Levenshtein's distance, one row of the table at a time.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (same_letter(from[i], to[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[to.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view misspelt,
                                        const std::vector<std::string>& names) {
  std::optional<std::string> nearest;
  // More than a third of the letters wrong is another word.
  std::size_t best = std::max<std::size_t>(misspelt.size() / 3, 1) + 1;
  for (const std::string& name : names) {
    const std::size_t wrong = distance(misspelt, name);
    if (wrong >= best) continue;
    best = wrong;
    nearest = name;
  }
  return nearest;
}

}  // namespace mkp
