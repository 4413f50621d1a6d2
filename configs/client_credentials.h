#pragma once

#include <string>
#include <utility>
#include <vector>

#include "configs/api_server_config.h"
#include "configs/kubeconfig.h"
#include "configs/kubeconfig_findings.h"
#include "configs/kubeconfig_validation.h"

namespace mkp {

// Impersonate-User and so on; the keys of Impersonate-Extra- are encoded as header names must be.
std::vector<std::pair<std::string, std::string>> impersonation_headers(const KubeconfigUser& user);

// Puts what the chosen cluster and user say about trust and credentials into `config`, whose
// server, TLS settings and proxy are set. Opens the files that they name, and adds what cannot be
// used to the findings, what is doubtful to the warnings. `file` is the kubeconfig's path.
void add_credentials(const std::string& file, const ChosenEntries& chosen, ApiServerConfig& config,
                     KubeconfigFindings& findings);

}  // namespace mkp
