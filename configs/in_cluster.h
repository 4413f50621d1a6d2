#pragma once

#include "configs/api_server_config.h"
#include "configs/environment.h"
#include "runner/result.h"

namespace mkp {

// Whether this process looks like one of a pod with a service account.
bool is_in_cluster(const Environment& environment);

// The API server as a pod finds it, with the pod's service account. Without a usable CA the
// system's roots are gone by, and a warning says so. Without a token it fails. The proxy is the
// caller's to add.
Result<ApiServerConfig> in_cluster_config(const Environment& environment);

}  // namespace mkp
