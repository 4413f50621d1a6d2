#include "informer/delta_fifo.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

namespace mkp {

std::string_view to_text(DeltaType type) {
  switch (type) {
    case DeltaType::Added:
      return "Added";
    case DeltaType::Updated:
      return "Updated";
    case DeltaType::Deleted:
      return "Deleted";
    case DeltaType::Replaced:
      return "Replaced";
    case DeltaType::Sync:
      return "Sync";
  }
  return "?";
}

void drop_duplicate_deletion(Deltas& deltas) {
  std::vector<Delta>& all = deltas.deltas;
  if (all.size() < 2) return;
  const auto newer = all.end() - 1;
  const auto older = newer - 1;
  if (newer->type != DeltaType::Deleted || older->type != DeltaType::Deleted) return;
  all.erase(as_tombstone(older->object) != nullptr ? older : newer);
}

DeltaFifo::DeltaFifo() : DeltaFifo(Options{}) {}

Result<> DeltaFifo::add(const ObjectPtr& object) { return feed(DeltaType::Added, object); }

Result<> DeltaFifo::update(const ObjectPtr& object) { return feed(DeltaType::Updated, object); }

Result<> DeltaFifo::feed(DeltaType type, const ObjectPtr& object) {
  Lock held = lock();
  populated_ = true;
  Result<> queued = enqueue(type, object, Source::Feed);
  if (queued) notify(std::move(held));
  return queued;
}

Result<> DeltaFifo::remove(const ObjectPtr& object) {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  Lock held = lock();
  populated_ = true;
  if (!is_deletion_news(*key)) return {};
  ObjectPtr gone = object;
  if (as_unreadable(object) != nullptr) {
    gone = std::make_shared<DeletedFinalStateUnknown>(*key, last_known(*key));
  }
  Result<> queued = enqueue(DeltaType::Deleted, gone, Source::Feed);
  if (queued) notify(std::move(held));
  return queued;
}

bool DeltaFifo::is_deletion_news(const std::string& key) const {
  if (items_.contains(key)) return true;
  if (options_.known_objects == nullptr) return false;
  const Result<ObjectPtr> known = options_.known_objects->get_by_key(key);
  return !known || *known;
}

Result<> DeltaFifo::enqueue(DeltaType type, const ObjectPtr& object, Source source) {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  return enqueue(type, *key, object, source);
}

Result<> DeltaFifo::enqueue(DeltaType type, const std::string& key, const ObjectPtr& object,
                            Source source) {
  ObjectPtr kept = object;
  if (options_.transformer && source == Source::Feed && as_tombstone(object) == nullptr) {
    Result<ObjectPtr> transformed = options_.transformer(object);
    if (!transformed) return tl::unexpected<Error>(std::move(transformed.error()));
    kept = std::move(*transformed);
  }
  Deltas& deltas = accumulator(key);
  deltas.deltas.push_back(Delta{type, std::move(kept)});
  drop_duplicate_deletion(deltas);
  assert(!deltas.deltas.empty());
  return {};
}

Result<> DeltaFifo::replace(std::vector<ObjectPtr> objects, const std::string& resource_version) {
  (void)resource_version;
  Lock held = lock();
  Replacement found;
  found.unlisted.insert(queue_.begin(), queue_.end());
  const std::size_t queued_before = queue_.size();
  Result<> listed = enqueue_listed(objects, found);
  if (!listed) {
    notify(std::move(held));
    return listed;
  }
  const std::size_t queued = found.listed_again + queue_.size() - queued_before;
  const Result<std::size_t> deleted = infer_deletions(queued_before, found);
  if (deleted && !populated_) {
    populated_ = true;
    initial_population_count_ = queued + *deleted;
  }
  notify(std::move(held));
  if (!deleted) return tl::unexpected<Error>(deleted.error());
  return {};
}

Result<> DeltaFifo::enqueue_listed(const std::vector<ObjectPtr>& objects, Replacement& found) {
  const DeltaType type = options_.emit_replaced ? DeltaType::Replaced : DeltaType::Sync;
  items_.reserve(items_.size() + objects.size());
  for (const ObjectPtr& object : objects) {
    Result<std::string> key = key_of(object);
    if (!key) return tl::unexpected<Error>(std::move(key.error()));
    const std::size_t was_queued = found.unlisted.erase(*key);
    if (as_unreadable(object) != nullptr) {
      found.unreadable.insert(std::move(*key));
      continue;
    }
    found.listed_again += was_queued;
    Result<> queued = enqueue(type, *key, object, Source::Feed);
    if (!queued) return fail(std::move(queued.error()), "couldn't enqueue object");
  }
  return {};
}

// How many deletions it found: first what was queued and was not listed, in the order of the queue;
// then what is known and neither listed nor queued, by key.
Result<std::size_t> DeltaFifo::infer_deletions(std::size_t queued_before,
                                               const Replacement& found) {
  std::vector<std::shared_ptr<const DeletedFinalStateUnknown>> tombstones;
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(queued_before);
  for (auto key = queue_.begin(); key != end; ++key) {
    if (!found.unlisted.contains(*key)) continue;
    tombstones.push_back(std::make_shared<DeletedFinalStateUnknown>(*key, last_known(*key)));
  }
  if (options_.known_objects != nullptr) {
    std::vector<std::string> known = options_.known_objects->list_keys();
    std::sort(known.begin(), known.end());
    for (const std::string& key : known) {
      if (items_.contains(key) || found.unreadable.contains(key)) continue;
      tombstones.push_back(std::make_shared<DeletedFinalStateUnknown>(key, last_known(key)));
    }
  }
  for (const auto& tombstone : tombstones) {
    Result<> queued = enqueue(DeltaType::Deleted, tombstone, Source::Feed);
    if (!queued) return fail(std::move(queued.error()), "couldn't enqueue object");
  }
  return tombstones.size();
}

// What is queued is newer than what is known. Null when neither has it.
ObjectPtr DeltaFifo::last_known(const std::string& key) const {
  const auto queued = items_.find(key);
  if (queued != items_.end()) {
    const ObjectPtr& newest = queued->second.newest()->object;
    const DeletedFinalStateUnknown* gone = as_tombstone(newest);
    return gone != nullptr ? gone->object : newest;
  }
  const Result<ObjectPtr> known = options_.known_objects->get_by_key(key);
  if (!known || !*known) spdlog::debug("{} is to be deleted, but its last state is lost", key);
  return known.value_or(nullptr);
}

Result<> DeltaFifo::resync() {
  if (options_.known_objects == nullptr) return {};
  Lock held = lock();
  std::vector<std::string> known = options_.known_objects->list_keys();
  std::sort(known.begin(), known.end());
  for (const std::string& key : known) {
    Result<> queued = resync_one(key);
    if (queued) continue;
    notify(std::move(held));
    return queued;
  }
  notify(std::move(held));
  return {};
}

Result<> DeltaFifo::resync_one(const std::string& key) {
  const Result<ObjectPtr> known = options_.known_objects->get_by_key(key);
  if (!known || !*known) {
    spdlog::debug("{} cannot be resynced: it is listed as known, but not found", key);
    return {};
  }
  const Result<std::string> own_key = key_of(*known);
  if (!own_key) return tl::unexpected<Error>(own_key.error());
  // What is queued is newer than what is known, and a Sync on top of a deletion would bring the
  // object back.
  if (items_.contains(*own_key)) return {};
  Result<> queued = enqueue(DeltaType::Sync, *known, Source::KnownObjects);
  if (!queued) return fail(std::move(queued.error()), "couldn't queue object");
  return {};
}

Result<> DeltaFifo::add_if_not_present(const ObjectPtr& object) {
  const auto* deltas = dynamic_cast<const Deltas*>(object.get());
  if (deltas == nullptr) {
    return fail(Errc::Invalid,
                fmt::format("object must be of type deltas, but got: {}", describe(object)));
  }
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  Lock held = lock();
  populated_ = true;
  if (items_.contains(*key)) return {};
  accumulator(*key) = *deltas;
  notify(std::move(held));
  return {};
}

std::vector<ObjectPtr> DeltaFifo::list() const {
  const Lock held = lock();
  std::vector<ObjectPtr> all;
  all.reserve(items_.size());
  for (const std::string& key : queue_) all.push_back(items_.at(key).newest()->object);
  return all;
}

std::optional<Deltas> DeltaFifo::get(const ObjectPtr& object) const {
  const Result<std::string> key = key_of(object);
  if (!key) return std::nullopt;
  return get_by_key(*key);
}

Result<std::string> DeltaFifo::key_of(const ObjectPtr& object) const {
  if (const auto* deltas = dynamic_cast<const Deltas*>(object.get())) {
    const Delta* newest = deltas->newest();
    if (newest == nullptr) {
      return key_error(object, Error{Errc::Invalid, "0 length Deltas object; can't get key"});
    }
    return key_of(newest->object);
  }
  if (const auto* tombstone = as_tombstone(object)) return tombstone->key;
  if (const auto* unreadable = as_unreadable(object)) return unreadable->key;
  Result<std::string> key = options_.key(object);
  if (!key) return key_error(object, key.error());
  return key;
}

}  // namespace mkp
