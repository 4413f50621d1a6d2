#include "informer/indexer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "informer/crash.h"

namespace mkp {

namespace {

tl::unexpected<Error> no_such_index(const std::string& name) {
  return fail(Errc::NotFound, fmt::format("Index with name {} does not exist", name));
}

}  // namespace

Result<std::vector<std::string>> meta_namespace_index(const ObjectPtr& object) {
  const ObjectMeta* meta = object ? object->meta() : nullptr;
  if (meta == nullptr) return fail(Errc::Invalid, "object has no meta: " + describe(object));
  return std::vector<std::string>{meta->name_space};
}

KeyFunc index_func_to_key_func(IndexFunc index) {
  return [index = std::move(index)](const ObjectPtr& object) -> Result<std::string> {
    Result<std::vector<std::string>> values = index(object);
    if (!values) return tl::unexpected<Error>(std::move(values.error()));
    if (values->empty()) return fail(Errc::Invalid, "unexpected empty indexKeys");
    if (values->size() > 1) {
      return fail(Errc::Invalid, fmt::format("too many keys: {}", fmt::join(*values, ", ")));
    }
    return std::move(values->front());
  };
}

std::string to_text(const TransactionError& error) {
  std::string why;
  for (const Error& one : error.errors) why += (why.empty() ? "" : ", ") + one.what;
  return fmt::format("failed to execute ({}/{}) transactions failed due to: {}",
                     error.errors.size(), error.total, why);
}

Indexer::Indexer() : Indexer(Options{}) {}

Indexer::Indexer(Options options)
    : key_(std::move(options.key)), transformer_(std::move(options.transformer)) {
  // Cannot clash: there is nothing yet to clash with.
  (void)add_indexers(options.indexers);
}

Result<> Indexer::add(const ObjectPtr& object) {
  return apply(TransactionEntry{TransactionEntry::Type::Add, object});
}

Result<> Indexer::update(const ObjectPtr& object) {
  return apply(TransactionEntry{TransactionEntry::Type::Update, object});
}

Result<> Indexer::remove(const ObjectPtr& object) {
  return apply(TransactionEntry{TransactionEntry::Type::Delete, object});
}

Result<> Indexer::apply(const TransactionEntry& entry) {
  const Result<std::string> key = key_of(entry.object);
  if (!key) return tl::unexpected<Error>(key.error());
  if (entry.type == TransactionEntry::Type::Delete) {
    drop(*key);
  } else {
    Result<ObjectPtr> kept = transformed(entry.object);
    if (!kept) return tl::unexpected<Error>(std::move(kept.error()));
    put(*key, std::move(*kept));
  }
  saw_version_of(entry.object);
  return {};
}

Result<> Indexer::replace(std::vector<ObjectPtr> objects, const std::string& resource_version) {
  std::unordered_map<std::string, ObjectPtr> items;
  items.reserve(objects.size());
  for (const ObjectPtr& object : objects) {
    Result<std::string> key = key_of(object);
    if (!key) return tl::unexpected<Error>(std::move(key.error()));
    if (as_unreadable(object) != nullptr) {
      const auto known = items_.find(*key);
      if (known != items_.end()) items.insert(*known);
      continue;
    }
    Result<ObjectPtr> kept = transformed(object);
    if (!kept) return tl::unexpected<Error>(std::move(kept.error()));
    items.insert_or_assign(std::move(*key), std::move(*kept));
  }
  items_ = std::move(items);
  for (auto& [name, index] : indices_) index.clear();
  for (const auto& [key, object] : items_) reindex(key, nullptr, object);
  sync_version_ = resource_version;
  return {};
}

std::vector<ObjectPtr> Indexer::list() const {
  std::vector<ObjectPtr> all;
  all.reserve(items_.size());
  for (const auto& [key, object] : items_) all.push_back(object);
  return all;
}

std::vector<std::string> Indexer::list_keys() const {
  std::vector<std::string> keys;
  keys.reserve(items_.size());
  for (const auto& [key, object] : items_) keys.push_back(key);
  return keys;
}

Result<ObjectPtr> Indexer::get(const ObjectPtr& object) const {
  const Result<std::string> key = key_of(object);
  if (!key) return tl::unexpected<Error>(key.error());
  return get_by_key(*key);
}

Result<ObjectPtr> Indexer::get_by_key(const std::string& key) const {
  const auto found = items_.find(key);
  return found == items_.end() ? nullptr : found->second;
}

std::optional<TransactionError> Indexer::transaction(const std::vector<TransactionEntry>& entries) {
  TransactionError outcome;
  outcome.total = entries.size();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Result<> applied = apply(entries[i]);
    if (applied) {
      outcome.successful_indices.push_back(i);
    } else {
      outcome.errors.push_back(std::move(applied.error()));
    }
  }
  if (outcome.errors.empty()) return std::nullopt;
  return outcome;
}

Result<std::vector<ObjectPtr>> Indexer::index(const std::string& name,
                                              const ObjectPtr& object) const {
  const Index* found = find_index(name);
  if (found == nullptr) return no_such_index(name);
  const Result<std::vector<std::string>> values = indexers_.at(name)(object);
  if (!values) return tl::unexpected<Error>(values.error());
  std::set<std::string> keys;
  for (const std::string& value : *values) {
    const auto members = found->find(value);
    if (members != found->end()) keys.insert(members->second.begin(), members->second.end());
  }
  std::vector<ObjectPtr> sharing;
  sharing.reserve(keys.size());
  for (const std::string& key : keys) sharing.push_back(items_.at(key));
  return sharing;
}

Result<std::vector<ObjectPtr>> Indexer::by_index(const std::string& name,
                                                 const std::string& value) const {
  const Index* found = find_index(name);
  if (found == nullptr) return no_such_index(name);
  std::vector<ObjectPtr> members;
  const auto keys = found->find(value);
  if (keys == found->end()) return members;
  members.reserve(keys->second.size());
  for (const std::string& key : keys->second) members.push_back(items_.at(key));
  return members;
}

Result<std::vector<std::string>> Indexer::index_keys(const std::string& name,
                                                     const std::string& value) const {
  const Index* found = find_index(name);
  if (found == nullptr) return no_such_index(name);
  const auto keys = found->find(value);
  if (keys == found->end()) return std::vector<std::string>{};
  return std::vector<std::string>(keys->second.begin(), keys->second.end());
}

std::vector<std::string> Indexer::list_index_func_values(const std::string& name) const {
  std::vector<std::string> values;
  if (const Index* found = find_index(name)) {
    for (const auto& [value, keys] : *found) values.push_back(value);
  }
  return values;
}

Result<> Indexer::add_indexers(const Indexers& more) {
  std::vector<std::string> taken;
  for (const auto& [name, function] : more) {
    if (indexers_.contains(name)) taken.push_back(name);
  }
  if (!taken.empty()) {
    return fail(Errc::Exists, fmt::format("indexer conflict: {}", fmt::join(taken, ", ")));
  }
  for (const auto& [name, function] : more) {
    indexers_.emplace(name, function);
    Index& index = indices_[name];
    for (const auto& [key, object] : items_) {
      reindex_one(name, function, index, key, nullptr, object);
    }
  }
  return {};
}

Result<std::string> Indexer::key_of(const ObjectPtr& object) const {
  if (const auto* unreadable = as_unreadable(object)) return unreadable->key;
  Result<std::string> key = key_(object);
  if (!key) return key_error(object, key.error());
  return key;
}

Result<ObjectPtr> Indexer::transformed(const ObjectPtr& object) const {
  if (!transformer_) return object;
  Result<ObjectPtr> kept = transformer_(object);
  if (!kept) return fail(std::move(kept.error()), "transforming");
  return kept;
}

void Indexer::put(const std::string& key, ObjectPtr object) {
  ObjectPtr& slot = items_[key];
  const ObjectPtr before = std::exchange(slot, std::move(object));
  reindex(key, before, slot);
}

void Indexer::drop(const std::string& key) {
  const auto found = items_.find(key);
  if (found == items_.end()) return;
  reindex(key, found->second, nullptr);
  items_.erase(found);
}

void Indexer::reindex(const std::string& key, const ObjectPtr& before, const ObjectPtr& after) {
  for (const auto& [name, function] : indexers_) {
    reindex_one(name, function, indices_.at(name), key, before, after);
  }
}

void Indexer::reindex_one(const std::string& name, const IndexFunc& function, Index& index,
                          const std::string& key, const ObjectPtr& before, const ObjectPtr& after) {
  const auto values_of = [&](const ObjectPtr& object) -> std::vector<std::string> {
    if (!object) return {};
    Result<std::vector<std::string>> values = function(object);
    if (values) return std::move(*values);
    crash(fmt::format("unable to calculate an index entry for key \"{}\" on index \"{}\": {}", key,
                      name, values.error().what));
  };
  const std::vector<std::string> old_values = values_of(before);
  const std::vector<std::string> new_values = values_of(after);
  if (old_values.size() == 1 && old_values == new_values) return;
  for (const std::string& value : old_values) {
    const auto members = index.find(value);
    if (members == index.end()) continue;
    members->second.erase(key);
    // Empty sets would pile up, and a value with no member is no value.
    if (members->second.empty()) index.erase(members);
  }
  for (const std::string& value : new_values) index[value].insert(key);
}

void Indexer::saw_version_of(const ObjectPtr& object) {
  if (const ObjectMeta* meta = object->meta()) sync_version_ = meta->resource_version;
}

const Indexer::Index* Indexer::find_index(const std::string& name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? nullptr : &found->second;
}

}  // namespace mkp
