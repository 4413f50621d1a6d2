#pragma once

#include <string>
#include <string_view>

#include "configs/config.h"
#include "runner/result.h"

namespace mkp {

// The longest time between two syncs, even if nothing happens; kube-proxy's too.
inline constexpr Duration kFullSyncPeriod = std::chrono::hours(1);

// Everything that is wrong with it, a line each in Error::what: "nftables.masqueradeBit: 32 is not
// between 0 and 31".
Result<> validate(const Config& config);

// This node's name, as its Node object and the slices have it: hostnameOverride or else the given
// host name, trimmed and in lower case.
Result<std::string> node_name(const Config& config, std::string_view host_name);

}  // namespace mkp
