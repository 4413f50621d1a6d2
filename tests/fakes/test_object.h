#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "informer/delta_fifo.h"
#include "informer/keys.h"
#include "informer/objects.h"

namespace mkp {

// The least that a store or queue can hold: a name, and a value that tells versions apart.
struct TestObject final : Object {
  ObjectMeta metadata;
  int value = 0;
  std::vector<std::string> labels;

  const ObjectMeta* meta() const override { return &metadata; }
};

// `key` is "name" or "namespace/name".
inline ObjectPtr test_object(const std::string& key, int value = 0,
                             std::vector<std::string> labels = {}) {
  auto object = std::make_shared<TestObject>();
  const std::size_t slash = key.find('/');
  if (slash != std::string::npos) object->metadata.name_space = key.substr(0, slash);
  object->metadata.name = slash == std::string::npos ? key : key.substr(slash + 1);
  object->metadata.resource_version = std::to_string(value);
  object->value = value;
  object->labels = std::move(labels);
  return object;
}

// Has no metadata, so that no key function of ours can name it.
inline ObjectPtr object_without_key() { return std::make_shared<Object>(); }

inline ObjectPtr tombstone(const std::string& key, ObjectPtr last = nullptr) {
  return std::make_shared<DeletedFinalStateUnknown>(key, std::move(last));
}

// "foo 10", "tombstone foo 10", "tombstone foo null"
inline std::string text(const ObjectPtr& object) {
  if (const auto* plain = dynamic_cast<const TestObject*>(object.get())) {
    return fmt::format("{} {}", *meta_namespace_key(object), plain->value);
  }
  if (const auto* gone = dynamic_cast<const DeletedFinalStateUnknown*>(object.get())) {
    if (!gone->object) return fmt::format("tombstone {} null", gone->key);
    const std::string last = text(gone->object);
    return fmt::format("tombstone {}", last);
  }
  return object ? "other" : "null";
}

// "Added foo 10, Deleted tombstone foo 10"
inline std::string text(const Deltas& deltas) {
  std::string all;
  for (const Delta& delta : deltas.deltas) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", to_text(delta.type), text(delta.object));
  }
  return all;
}

inline std::string sorted_text(std::vector<std::string> parts) {
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "a 1, b 2", whatever the order in the store.
inline std::string sorted_text(const std::vector<ObjectPtr>& objects) {
  std::vector<std::string> parts;
  for (const ObjectPtr& object : objects) parts.push_back(text(object));
  return sorted_text(std::move(parts));
}

}  // namespace mkp
