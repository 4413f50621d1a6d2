#pragma once

#include <map>
#include <string>
#include <string_view>

namespace mkp {

// What a process finds around itself.
struct Environment {
  std::map<std::string, std::string> variables;
  std::string root;  // in front of the paths that every pod has; empty: they are the machine's

  // Empty also when it is not set.
  std::string variable(const std::string& name) const;

  static Environment of_this_process();
};

}  // namespace mkp
