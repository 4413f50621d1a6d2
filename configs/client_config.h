#pragma once

#include <string>

#include "configs/api_server_config.h"
#include "configs/environment.h"
#include "configs/kubeconfig.h"
#include "runner/result.h"

namespace mkp {

// Where the API server and our credentials are said. Neither: in the pod that we are.
struct ClientSource {
  std::string kubeconfig;  // a file; empty: none
  std::string master;      // a URL that takes the place of the kubeconfig's server; empty: none
};

// How to reach the API server, read and checked: what cannot work fails here with everything that
// is wrong, a line each, and what is merely doubtful is in the warnings. A kubeconfig that says
// nothing at all is as none.
//
// Files of tokens and certificates must be readable, and hold what they should, but an empty CA
// file is taken for one that is still to come. They stay files in the outcome, as they are rotated.
Result<ApiServerConfig> load_client_config(const ClientSource& source,
                                           const Environment& environment);

// The same of a kubeconfig that is loaded, or empty.
Result<ApiServerConfig> client_config_of(const Kubeconfig& kubeconfig, const std::string& master,
                                         const Environment& environment);

}  // namespace mkp
