#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mkp {

// A flag of kube-proxy's that sets fields of the configuration.
struct ConfigFlag {
  enum class Takes : std::uint8_t {
    Value,   // the last one counts
    List,    // commas, and all of them count
    Switch,  // --flag or --flag=false
  };
  // A flag that wins over the file of --config.
  enum class Rank : std::uint8_t { BelowFile, AboveFile };

  const char* name = "";  // without dashes
  std::vector<std::string_view> paths;
  std::string_view meaning;  // empty when nothing uses the fields yet
  Takes takes = Takes::Value;
  Rank rank = Rank::BelowFile;
};

std::span<const ConfigFlag> config_flags();

}  // namespace mkp
