#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "runner/result.h"

namespace mkp {

// A JSON string with its quotes. `text` is UTF-8; bytes that are none become U+FFFD.
std::string json_quoted(std::string_view text);

// A YAML value as JSON. Fails on one that is nested deeper than 64 levels, or of more than 1 MiB,
// to which a few aliases may grow.
Result<std::string> json_of(const YAML::Node& value);

}  // namespace mkp
