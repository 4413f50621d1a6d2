#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "proxy/cluster_state.h"
#include "proxy/family_proxier.h"
#include "runner/result.h"

namespace mkp {

// syncProxyRules: takes what changed and makes the kernel's rules true to it, in every family.
// Belongs to the sync thread.
class Proxier {
 public:
  // The families are borrowed for life; IPv4 first. `api_server`: see ApiServerSlices.
  explicit Proxier(std::vector<FamilyProxier*> families,
                   std::optional<IpAddress> api_server = std::nullopt)
      : families_(std::move(families)), cluster_(api_server) {}

  // One sync. A family that fails does not stop the others; the failure says all of them, and the
  // next sync takes up what was left.
  Result<SyncReport> sync(ClusterChanges changes);

  // Services of which something cannot be served, counted once a family.
  std::size_t services_with_problems() const;

  // What the syncs have changed for UDP flows since this was last asked for, also those of which
  // one family failed.
  std::vector<UdpChanges> take_udp_changes();

  // How the syncs and cleanups since this was last asked for went: each family's in their order.
  std::vector<FamilyOutcome> take_outcomes();

  // Whether some family's rules are in place: its last sync succeeded.
  bool serves() const;
  // Whether chains are waiting for cleanup(), also where another family failed.
  bool cleanup_due() const;

  // Removes chains that earlier syncs left without a user.
  Result<SyncReport> cleanup();

  // What a sync would do; nothing is applied. The families' diffs one after the other.
  Result<FamilyProxier::Preview> preview(ClusterChanges changes);

 private:
  std::vector<FamilyProxier*> families_;
  ClusterState cluster_;
};

}  // namespace mkp
