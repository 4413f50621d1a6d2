#include "proxy/service_changes.h"

#include <utility>

namespace mkp {

bool same_to_proxy(const Service& left, const Service& right) {
  Service other = right;
  other.metadata.resource_version = left.metadata.resource_version;
  return left == other;
}

void ServiceChanges::note(const std::shared_ptr<const Service>& before,
                          const std::shared_ptr<const Service>& after) {
  const std::shared_ptr<const Service>& either = after ? after : before;
  if (!either) return;
  ++noted_;
  const ServiceName name{either->metadata.name_space, either->metadata.name};
  const auto [entry, added] = pending_.try_emplace(name, ServiceChange{name, before, nullptr});
  ServiceChange& change = entry->second;
  change.current = after;

  const bool same = change.previous && change.current
                        ? same_to_proxy(*change.previous, *change.current)
                        : change.previous == change.current;
  if (same) pending_.erase(entry);
}

std::vector<ServiceChange> ServiceChanges::take() {
  std::vector<ServiceChange> changes;
  changes.reserve(pending_.size());
  for (auto& [name, change] : pending_) changes.push_back(std::move(change));
  pending_.clear();
  return changes;
}

}  // namespace mkp
