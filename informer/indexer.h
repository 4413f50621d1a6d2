#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "informer/keys.h"
#include "informer/store.h"

namespace mkp {

// The values under which an index lists an object. Must succeed for whatever is stored: a failure
// there is a bug.
using IndexFunc = std::function<Result<std::vector<std::string>>(const ObjectPtr&)>;
using Indexers = std::map<std::string, IndexFunc>;

inline constexpr const char* kNamespaceIndex = "namespace";
Result<std::vector<std::string>> meta_namespace_index(const ObjectPtr& object);

// A key function from an index function that gives exactly one value.
KeyFunc index_func_to_key_func(IndexFunc index);

struct TransactionEntry {
  enum class Type : std::uint8_t { Add, Update, Delete };
  Type type = Type::Add;
  ObjectPtr object;
};

// Which entries of a transaction were applied although others were not.
struct TransactionError {
  std::vector<std::size_t> successful_indices;
  std::size_t total = 0;
  std::vector<Error> errors;
};
std::string to_text(const TransactionError& error);

// A store with named indices: the last known objects. Belongs to the loop thread.
class Indexer final : public Store {
 public:
  struct Options {
    KeyFunc key = deletion_handling_meta_namespace_key;
    Indexers indexers{};
    Transformer transformer{};  // sees what add, update and replace store, after the key was taken
  };
  Indexer();
  explicit Indexer(Options options);

  Result<> add(const ObjectPtr& object) override;
  Result<> update(const ObjectPtr& object) override;
  Result<> remove(const ObjectPtr& object) override;
  // All or nothing: an object without a key leaves the store as it was. For an UnreadableObject
  // stands what was stored under its key, if anything was.
  Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version) override;
  // A store is in sync with itself.
  Result<> resync() override { return {}; }
  Transformer transformer() const override { return transformer_; }
  void bookmark(const std::string& resource_version) override { sync_version_ = resource_version; }

  std::vector<ObjectPtr> list() const override;
  std::vector<std::string> list_keys() const override;
  Result<ObjectPtr> get(const ObjectPtr& object) const override;
  Result<ObjectPtr> get_by_key(const std::string& key) const override;
  std::size_t size() const { return items_.size(); }

  // Applies what it can, in order; nothing returned when that was all of it.
  std::optional<TransactionError> transaction(const std::vector<TransactionEntry>& entries);

  // The position that the last applied change brought the store to.
  const std::string& last_store_sync_resource_version() const { return sync_version_; }

  // The stored objects, each once, that share a value of that index with `object`.
  Result<std::vector<ObjectPtr>> index(const std::string& name, const ObjectPtr& object) const;
  Result<std::vector<ObjectPtr>> by_index(const std::string& name, const std::string& value) const;
  // The keys of by_index, ascending.
  Result<std::vector<std::string>> index_keys(const std::string& name,
                                              const std::string& value) const;
  // The values that at least one object has; none for an unknown index.
  std::vector<std::string> list_index_func_values(const std::string& name) const;
  const Indexers& indexers() const { return indexers_; }
  // Indexes what is there already, too. Adds none of them when one of the names is taken.
  Result<> add_indexers(const Indexers& more);

 private:
  using Index = std::unordered_map<std::string, std::set<std::string>>;  // value to keys

  Result<std::string> key_of(const ObjectPtr& object) const;
  Result<ObjectPtr> transformed(const ObjectPtr& object) const;
  Result<> apply(const TransactionEntry& entry);
  void put(const std::string& key, ObjectPtr object);
  void drop(const std::string& key);
  // Either may be null: a key that comes, or one that goes.
  void reindex(const std::string& key, const ObjectPtr& before, const ObjectPtr& after);
  static void reindex_one(const std::string& name, const IndexFunc& function, Index& index,
                          const std::string& key, const ObjectPtr& before, const ObjectPtr& after);
  void saw_version_of(const ObjectPtr& object);
  const Index* find_index(const std::string& name) const;

  KeyFunc key_;
  Transformer transformer_;
  Indexers indexers_;
  std::map<std::string, Index> indices_;
  std::unordered_map<std::string, ObjectPtr> items_;
  std::string sync_version_;
};

}  // namespace mkp
