#pragma once

#include <functional>
#include <string>
#include <vector>

#include "informer/keys.h"
#include "informer/objects.h"
#include "runner/result.h"

namespace mkp {

// Makes of an object, before anybody else sees it, the one to keep: for instance without the fields
// that nobody reads. Quick, and idempotent.
using Transformer = std::function<Result<ObjectPtr>(const ObjectPtr&)>;

// Where the events of a watch go.
class EventTarget {
 public:
  virtual ~EventTarget() = default;
  virtual Result<> add(const ObjectPtr& object) = 0;
  virtual Result<> update(const ObjectPtr& object) = 0;
  // (`delete` is a keyword.) An absent key is no failure.
  // The object may be an UnreadableObject (keys.h): what has its key is gone.
  virtual Result<> remove(const ObjectPtr& object) = 0;
  // The object of this UnreadableObject was added or changed, to something that cannot be read:
  // what is known of it stays as it is.
  virtual void keep(const ObjectPtr& unreadable) { (void)unreadable; }

  // How far the source has been heard, for those who keep account of it.
  virtual void bookmark(const std::string& resource_version) { (void)resource_version; }
};

// What a reflector writes into: a store, or a queue.
class ReflectorStore : public EventTarget {
 public:
  // The content is `objects` from now on, as listed at `resource_version`. Where an
  // UnreadableObject is among them, what is known under its key stays as it is.
  virtual Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version) = 0;
  virtual Result<> resync() = 0;

  // What it makes of each object that comes in, so that whoever gathers objects for it can do so
  // at once and need not hold the originals. Empty when nothing.
  virtual Transformer transformer() const { return {}; }
  // The version to go on from, whenever that moves.
  virtual void update_resource_version(const std::string& resource_version) {
    (void)resource_version;
  }
};

// What a consumer knows already: what a DeltaFifo asks before it reports a deletion.
class KnownObjects {
 public:
  virtual ~KnownObjects() = default;
  virtual std::vector<std::string> list_keys() const = 0;
  // Null when there is no such object.
  virtual Result<ObjectPtr> get_by_key(const std::string& key) const = 0;
};

// Objects by key.
class Store : public ReflectorStore, public KnownObjects {
 public:
  // In no particular order.
  virtual std::vector<ObjectPtr> list() const = 0;
  // What is stored under the key of `object`; null when nothing is.
  virtual Result<ObjectPtr> get(const ObjectPtr& object) const = 0;
};

}  // namespace mkp
