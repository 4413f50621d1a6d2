#include "informer/fifo.h"

#include <unordered_set>
#include <utility>

namespace mkp {

Result<> Fifo::add(const ObjectPtr& object) {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  Lock held = lock();
  populated_ = true;
  accumulator(*key) = object;
  notify(std::move(held));
  return {};
}

Result<> Fifo::remove(const ObjectPtr& object) {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  const Lock held = lock();
  populated_ = true;
  items_.erase(*key);
  return {};
}

Result<> Fifo::add_if_not_present(const ObjectPtr& object) {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  Lock held = lock();
  populated_ = true;
  if (items_.contains(*key)) return {};
  accumulator(*key) = object;
  notify(std::move(held));
  return {};
}

Result<> Fifo::replace(std::vector<ObjectPtr> objects, const std::string& resource_version) {
  (void)resource_version;
  std::unordered_map<std::string, ObjectPtr> items;
  std::deque<std::string> queue;
  for (ObjectPtr& object : objects) {
    const Result<std::string> key = key_of(object);
    if (!key) return tl::unexpected<Error>(key.error());
    if (items.insert_or_assign(*key, std::move(object)).second) queue.push_back(*key);
  }
  Lock held = lock();
  if (!populated_) initial_population_count_ = queue.size();
  populated_ = true;
  items_ = std::move(items);
  queue_ = std::move(queue);
  notify(std::move(held));
  return {};
}

Result<> Fifo::resync() {
  Lock held = lock();
  const std::unordered_set<std::string> queued(queue_.begin(), queue_.end());
  for (const auto& [key, object] : items_) {
    if (!queued.contains(key)) queue_.push_back(key);
  }
  notify(std::move(held));
  return {};
}

std::vector<ObjectPtr> Fifo::list() const {
  const Lock held = lock();
  std::vector<ObjectPtr> all;
  all.reserve(items_.size());
  for (const auto& [key, object] : items_) all.push_back(object);
  return all;
}

Result<ObjectPtr> Fifo::get(const ObjectPtr& object) const {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  return get_by_key(*key).value_or(nullptr);
}

Result<std::string> Fifo::key_of(const ObjectPtr& object) const {
  Result<std::string> key = key_(object);
  if (!key) return key_error(object, key.error());
  return key;
}

}  // namespace mkp
