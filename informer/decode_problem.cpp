#include "informer/decode_problem.h"

#include <fmt/format.h>

namespace mkp {

void DecodeProblem::note(std::string_view field, std::string_view what) {
  if (text_.empty()) text_ = located(field, what);
}

void DecodeProblem::leave_out(std::string_view field, std::string_view what) {
  if (left_out_.empty()) left_out_ = located(field, what);
}

std::string DecodeProblem::located(std::string_view field, std::string_view what) const {
  std::string path(field);
  for (const Within* within = innermost_; within != nullptr; within = within->outer_) {
    std::string part(within->field_);
    if (within->element_) part += fmt::format("[{}]", *within->element_);
    if (!part.empty()) path = path.empty() ? part : fmt::format("{}.{}", part, path);
  }
  return path.empty() ? std::string(what) : fmt::format("{}: {}", path, what);
}

std::string brief(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const bool printable = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    out += printable ? c : '?';
  }
  return out + (text.size() > kLongest ? "...\"" : "\"");
}

}  // namespace mkp
