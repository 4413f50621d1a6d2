#include "proxy/endpoint_changes.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace mkp {
namespace {

// The slice, or null when a proxy has no use for it.
std::shared_ptr<const EndpointSlice> usable(const std::shared_ptr<const EndpointSlice>& slice) {
  if (!slice || slice->address_type == AddressType::Fqdn || slice->service_name.empty())
    return nullptr;
  return slice;
}

}  // namespace

bool same_to_proxy(const EndpointSlice& left, const EndpointSlice& right) {
  return left.service_name == right.service_name && left.address_type == right.address_type &&
         left.ports == right.ports && left.endpoints == right.endpoints;
}

void EndpointChanges::note(const std::shared_ptr<const EndpointSlice>& before,
                           const std::shared_ptr<const EndpointSlice>& after) {
  const std::shared_ptr<const EndpointSlice>& either = after ? after : before;
  if (!either) return;
  ++noted_;
  const bool news = !before || !before->service_name.empty();
  if (after && after->service_name.empty() && news) {
    spdlog::warn(
        "EndpointSlice {}/{} has no label kubernetes.io/service-name, so its endpoints get no "
        "traffic: "
        "set the label to the name of its Service",
        after->metadata.name_space, after->metadata.name);
  }
  const auto key = std::make_pair(either->metadata.name_space, either->metadata.name);
  const auto [entry, added] = pending_.try_emplace(key, EndpointChange{usable(before), nullptr});
  EndpointChange& change = entry->second;
  change.current = usable(after);

  const bool same = change.previous && change.current
                        ? same_to_proxy(*change.previous, *change.current)
                        : change.previous == change.current;
  if (same) pending_.erase(entry);
}

std::vector<EndpointChange> EndpointChanges::take() {
  std::vector<EndpointChange> changes;
  changes.reserve(pending_.size());
  for (auto& [key, change] : pending_) changes.push_back(std::move(change));
  pending_.clear();
  return changes;
}

}  // namespace mkp
