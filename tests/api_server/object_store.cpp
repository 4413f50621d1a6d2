#include "tests/api_server/object_store.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace mkp::api {
namespace {

template <class Kind>
ObjectDraft draft_of(ObjectKind kind, Kind object, const Extras& extras) {
  ObjectDraft made{.kind = kind,
                   .name_space = object.metadata.name_space,
                   .name = object.metadata.name,
                   .labels = all_extras(object, extras).labels,
                   .fields = {{"metadata.name", object.metadata.name},
                              {"metadata.namespace", object.metadata.name_space}},
                   .encode = {}};
  made.encode = [object = std::move(object), extras](const std::string& version) {
    Kind versioned = object;
    versioned.metadata.resource_version = version;
    return EncodedObject{to_json(versioned, extras), to_protobuf(versioned, extras)};
  };
  return made;
}

}  // namespace

ObjectDraft draft(Service service, const Extras& extras) {
  const std::string cluster_ip = service.cluster_ip;
  const std::string type(type_name(service.type));
  ObjectDraft made = draft_of(ObjectKind::Service, std::move(service), extras);
  made.fields["spec.clusterIP"] = cluster_ip;
  made.fields["spec.type"] = type;
  return made;
}

ObjectDraft draft(EndpointSlice slice, const Extras& extras) {
  return draft_of(ObjectKind::EndpointSlice, std::move(slice), extras);
}

ObjectDraft draft(Node node, const Extras& extras) {
  return draft_of(ObjectKind::Node, std::move(node), extras);
}

ObjectDraft draft(ServiceCidr cidr, const Extras& extras) {
  return draft_of(ObjectKind::ServiceCidr, std::move(cidr), extras);
}

ObjectDraft raw_draft(ObjectKind kind, const std::string& name_space, const std::string& name,
                      const EncodedObject& bytes) {
  return {.kind = kind,
          .name_space = name_space,
          .name = name,
          .labels = {},
          .fields = {{"metadata.name", name}, {"metadata.namespace", name_space}},
          .encode = [bytes](const std::string&) { return bytes; }};
}

ObjectStore::Place ObjectStore::place_of(const std::string& key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

std::uint64_t ObjectStore::put(ObjectDraft draft) {
  const std::uint64_t revision = ++revision_;
  EncodedObject encoded = draft.encode(std::to_string(revision));
  const ObjectKind kind = draft.kind;
  StoredObjectPtr& slot = objects_[kind][Place(draft.name_space, draft.name)];
  auto after = std::make_shared<const StoredObject>(
      StoredObject{std::move(draft), revision, std::move(encoded)});
  StoredObjectPtr before = std::exchange(slot, after);
  record({revision, kind, std::move(before), std::move(after)});
  return revision;
}

void ObjectStore::remove(ObjectKind kind, const std::string& key) {
  Objects& objects = objects_[kind];
  const auto found = objects.find(place_of(key));
  if (found == objects.end()) return;
  StoredObjectPtr before = found->second;
  objects.erase(found);
  record({++revision_, kind, std::move(before), nullptr});
}

void ObjectStore::record(Change change) {
  changes_.push_back(std::move(change));
  tell_(Change(changes_.back()));
}

void ObjectStore::compact(std::uint64_t revision) {
  compacted_ = std::max(compacted_, revision);
  while (!changes_.empty() && changes_.front().revision <= revision) changes_.pop_front();
}

std::vector<StoredObjectPtr> ObjectStore::objects(ObjectKind kind, std::uint64_t revision) const {
  std::vector<StoredObjectPtr> found;
  const auto now = objects_.find(kind);
  if (revision >= revision_) {
    if (now != objects_.end())
      std::ranges::copy(now->second | std::views::values, std::back_inserter(found));
    return found;
  }
  Objects then;
  if (now != objects_.end()) then = now->second;
  for (const Change& change : changes_ | std::views::reverse) {
    if (change.revision <= revision) break;
    if (change.kind != kind) continue;
    const ObjectDraft& draft = change.before ? change.before->draft : change.after->draft;
    const Place place(draft.name_space, draft.name);
    if (change.before) {
      then[place] = change.before;
    } else {
      then.erase(place);
    }
  }
  std::ranges::move(then | std::views::values, std::back_inserter(found));
  return found;
}

StoredObjectPtr ObjectStore::find(ObjectKind kind, const std::string& key) const {
  const auto objects = objects_.find(kind);
  if (objects == objects_.end()) return nullptr;
  const auto found = objects->second.find(place_of(key));
  return found == objects->second.end() ? nullptr : found->second;
}

std::vector<Change> ObjectStore::changes_after(ObjectKind kind, std::uint64_t revision) const {
  std::vector<Change> found;
  for (const Change& change : changes_) {
    if (change.revision > revision && change.kind == kind) found.push_back(change);
  }
  return found;
}

}  // namespace mkp::api
