#pragma once

#include <string>

#include "configs/config.h"
#include "runner/result.h"

namespace mkp {

// The whole configuration as a KubeProxyConfiguration v1alpha1 in YAML, which load_config() reads
// back as an equal one.
std::string to_yaml(const Config& config);

// Replaces the file, or makes it.
Result<> write_config_file(const Config& config, const std::string& path);

}  // namespace mkp
