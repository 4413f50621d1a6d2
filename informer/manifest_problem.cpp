#include "informer/manifest_problem.h"

#include <fmt/format.h>

namespace mkp {

std::string to_text(const ManifestProblem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += fmt::format(":{}", problem.line);
  for (const std::string* part : {&problem.object, &problem.field, &problem.what}) {
    if (part->empty()) continue;
    if (!text.empty()) text += ": ";
    text += *part;
  }
  return text;
}

}  // namespace mkp
