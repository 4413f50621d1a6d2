#include "proxy/proxy_health.h"

#include <algorithm>

namespace mkp {

void ProxyHealth::queued(IpFamily family) { oldest_pending_.try_emplace(family, clock_.now()); }

void ProxyHealth::updated(IpFamily family) {
  oldest_pending_.erase(family);
  last_updated_.insert_or_assign(family, clock_.now());
}

bool ProxyHealth::is_healthy() const {
  return std::ranges::all_of(last_updated_,
                             [this](const auto& entry) { return is_healthy(entry.first); });
}

bool ProxyHealth::is_healthy(IpFamily family) const {
  const auto pending = oldest_pending_.find(family);
  return pending == oldest_pending_.end() || clock_.now() - pending->second < timeout_;
}

}  // namespace mkp
