#include "configs/environment.h"

#include <unistd.h>

namespace mkp {

std::string Environment::variable(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

Environment Environment::of_this_process() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

}  // namespace mkp
