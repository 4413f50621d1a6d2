#pragma once

#include <map>
#include <optional>

#include "runner/clock.h"
#include "runner/ip_address.h"

namespace mkp {

// Whether this node's rules keep up with the cluster. A family is unhealthy from the moment that a
// change has waited `timeout` for its sync, until one succeeds; syncs that fail, or the lack of
// changes, mean nothing by themselves. Belongs to the loop thread.
class ProxyHealth {
 public:
  // `clock` is borrowed for life.
  ProxyHealth(const Clock& clock, Duration timeout) : clock_(clock), timeout_(timeout) {}

  // A change waits for the family's next sync. Of several, the oldest counts.
  void queued(IpFamily family);
  // The family's rules are up to date: no change waits any more.
  void updated(IpFamily family);

  bool is_healthy() const;
  bool is_healthy(IpFamily family) const;

  // When each family was last updated; without those that never were.
  const std::map<IpFamily, TimePoint>& last_updated() const { return last_updated_; }

 private:
  const Clock& clock_;
  Duration timeout_;
  std::map<IpFamily, TimePoint> last_updated_;
  std::map<IpFamily, TimePoint> oldest_pending_;
};

}  // namespace mkp
