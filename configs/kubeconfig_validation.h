#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/kubeconfig.h"
#include "runner/result.h"

namespace mkp {

// The entries of a kubeconfig that current-context leads to. Empty ones where it leads nowhere.
struct ChosenEntries {
  std::string context;  // its name
  KubeconfigCluster cluster;
  KubeconfigUser user;
};

// Follows current-context. `master`, unless it is empty, takes the place of the cluster's server,
// and of the name that its certificate must have; then no context is needed.
//
// Fails with everything that is wrong with these entries, a line each, in Kubernetes' words; what
// is wrong with others hurts nobody. Opens no file.
//   invalid configuration: /etc/kubeconfig: line 7: user "node": exec: command must be ...
Result<ChosenEntries> choose_entries(const Kubeconfig& kubeconfig, std::string_view master);

}  // namespace mkp
