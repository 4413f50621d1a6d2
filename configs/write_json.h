#pragma once

#include <string>

#include "configs/config.h"
#include "runner/result.h"

namespace mkp {

// The whole configuration as a KubeProxyConfiguration v1alpha1 in JSON: what to_yaml() says. Fails
// when it is larger than 1 MiB.
Result<std::string> to_json(const Config& config);

}  // namespace mkp
