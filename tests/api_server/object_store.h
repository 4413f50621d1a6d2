#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/api_server/object_encoding.h"
#include "tests/api_server/resources.h"

namespace mkp::api {

struct EncodedObject {
  std::string json;      // without kind and apiVersion
  std::string protobuf;  // without the envelope
};

// An object that is to be stored. It gets its resource version when it is.
struct ObjectDraft {
  ObjectKind kind = ObjectKind::Service;
  std::string name_space;  // empty for cluster-scoped kinds
  std::string name;
  Labels labels;
  std::map<std::string, std::string> fields;  // what field selectors see
  std::function<EncodedObject(const std::string& resource_version)> encode;

  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
};

ObjectDraft draft(Service service, const Extras& extras = {});
ObjectDraft draft(EndpointSlice slice, const Extras& extras = {});
ObjectDraft draft(Node node, const Extras& extras = {});
ObjectDraft draft(ServiceCidr cidr, const Extras& extras = {});
// Bytes that go out as they are, whatever they mean.
ObjectDraft raw_draft(ObjectKind kind, const std::string& name_space, const std::string& name,
                      const EncodedObject& bytes);

// An object as it was from `revision` on.
struct StoredObject {
  ObjectDraft draft;
  std::uint64_t revision = 0;
  EncodedObject encoded;
};
using StoredObjectPtr = std::shared_ptr<const StoredObject>;

// One change, of one object. The object in `before` has its own old version; what a watch sends of
// a deletion has the change's.
struct Change {
  std::uint64_t revision = 0;
  ObjectKind kind = ObjectKind::Service;
  StoredObjectPtr before;  // null: it did not exist
  StoredObjectPtr after;   // null: it was deleted
};

// All objects of an API server, with one resource version for every change of any, and a memory of
// the changes.
class ObjectStore {
 public:
  // The new version. A raw object keeps what its bytes say of that.
  std::uint64_t put(ObjectDraft draft);
  // Does nothing when there is no such object.
  void remove(ObjectKind kind, const std::string& key);
  // A change of nothing that anybody watches.
  void advance() { ++revision_; }

  std::uint64_t revision() const { return revision_; }
  // Changes up to that revision, this one included, are forgotten.
  void compact(std::uint64_t revision);
  void compact() { compact(revision_); }
  // The latest change that is forgotten; a watch may begin at this revision or later.
  std::uint64_t compacted() const { return compacted_; }

  // In the order of their keys, as they were at that revision, which is not compacted.
  std::vector<StoredObjectPtr> objects(ObjectKind kind, std::uint64_t revision) const;
  std::vector<StoredObjectPtr> objects(ObjectKind kind) const { return objects(kind, revision_); }
  StoredObjectPtr find(ObjectKind kind, const std::string& key) const;
  // The changes of a kind after that revision, which is not compacted.
  std::vector<Change> changes_after(ObjectKind kind, std::uint64_t revision) const;

  // Called with each change, once it is made.
  void on_change(std::function<void(const Change&)> tell) { tell_ = std::move(tell); }

 private:
  // By namespace, then name: byte order of the two, not of the key.
  using Place = std::pair<std::string, std::string>;
  using Objects = std::map<Place, StoredObjectPtr>;

  static Place place_of(const std::string& key);
  void record(Change change);

  std::uint64_t revision_ = 1;
  std::uint64_t compacted_ = 0;
  std::map<ObjectKind, Objects> objects_;
  std::deque<Change> changes_;
  std::function<void(const Change&)> tell_ = [](const Change&) {};
};

}  // namespace mkp::api
