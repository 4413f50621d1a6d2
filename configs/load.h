#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"
#include "runner/result.h"

namespace mkp {

struct LoadedConfig {
  Config config;
  // Unknown fields and fields given twice, with file and line. They must not keep a node down: the
  // file may have been written for a newer kube-proxy.
  std::vector<std::string> warnings;
};

// Reads a KubeProxyConfiguration v1alpha1 in YAML or JSON. What is absent, null or, where
// Kubernetes sees no difference, zero keeps its default. Every wrong type, name and value is
// reported at once, a line each, `file` being what it is called there:
//   kube-proxy.yaml:7: nftables.minSyncPeriod: "5 s" is not a duration such as 10ms or 1m30s
Result<LoadedConfig> load_config(std::string_view text, std::string_view file);

Result<LoadedConfig> load_config_file(const std::string& path);

}  // namespace mkp
