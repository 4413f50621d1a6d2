#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "informer/objects.h"
#include "runner/result.h"

namespace mkp {

// Gives an object the key under which stores and queues hold it. Deterministic, and independent of
// what may change during the object's life.
using KeyFunc = std::function<Result<std::string>(const ObjectPtr&)>;

// An object that only stands for its key.
struct ExplicitKey final : Object {
  explicit ExplicitKey(std::string text) : key(std::move(text)) {}
  std::string key;
};

// The tombstone of an object whose deletion nobody saw: it was known, and is missing from a full
// list. `object` is its last known state, which may be stale and may be null.
struct DeletedFinalStateUnknown final : Object {
  DeletedFinalStateUnknown(std::string of, ObjectPtr last_known)
      : key(std::move(of)), object(std::move(last_known)) {}
  std::string key;
  ObjectPtr object;
};

// An object that is there but could not be decoded, in a list or in an event: whatever is known of
// it stays as it is. In a Deleted event: it is gone, and its last state cannot be read.
struct UnreadableObject final : Object {
  explicit UnreadableObject(std::string of) : key(std::move(of)) {}
  std::string key;
};

// Null when the object is no such thing.
const DeletedFinalStateUnknown* as_tombstone(const ObjectPtr& object);
const UnreadableObject* as_unreadable(const ObjectPtr& object);

// Namespace and name: what a key says.
struct ObjectName {
  std::string name_space;  // empty for cluster-scoped kinds
  std::string name;
  std::strong_ordering operator<=>(const ObjectName&) const = default;
};

// "namespace/name", or "name" when there is no namespace.
std::string to_text(const ObjectName& name);

// The key of an ExplicitKey or UnreadableObject, else of the object's metadata; a failure for what
// has none.
Result<std::string> meta_namespace_key(const ObjectPtr& object);

// The same, and a tombstone's own key. The key function of informers.
Result<std::string> deletion_handling_meta_namespace_key(const ObjectPtr& object);
Result<ObjectName> deletion_handling_object_name(const ObjectPtr& object);

// The inverse of to_text. Fails on more than one slash.
Result<ObjectName> split_meta_namespace_key(std::string_view key);

// client-go's KeyError: no key could be computed for `object` because of `cause`, whose code it
// keeps.
tl::unexpected<Error> key_error(const ObjectPtr& object, const Error& cause);

// An object in a message: its name, or what it is when it has none.
std::string describe(const ObjectPtr& object);

}  // namespace mkp
