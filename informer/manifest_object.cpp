#include "informer/manifest_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "informer/decode_text.h"

namespace mkp {

namespace {

// A DNS-1123 subdomain, which every name of ours has to be.
bool is_name(std::string_view text) {
  const auto inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  constexpr std::size_t kLongest = 253;
  if (text.empty() || text.size() > kLongest) return false;
  if (!std::all_of(text.begin(), text.end(), inner)) return false;
  const auto end = [](char c) { return c != '-' && c != '.'; };
  return end(text.front()) && end(text.back());
}

std::string read_name(const ManifestField& field) {
  std::string name = field.text();
  if (!name.empty() && !is_name(name)) {
    field.note(fmt::format("\"{}\" is not a name (lower-case letters, digits, '-' and '.')", name));
    name.clear();
  }
  return name;
}

}  // namespace

ObjectMeta manifest_metadata(const ManifestField& document, ObjectKind kind) {
  const ManifestField metadata = document["metadata"];
  ObjectMeta meta;
  meta.name = read_name(metadata["name"]);
  if (is_namespaced(kind)) {
    const ManifestField name_space = metadata["namespace"];
    meta.name_space = read_name(name_space);
    if (meta.name_space.empty()) meta.name_space = "default";
  }
  meta.uid = metadata["uid"].text();
  const ManifestField created = metadata["creationTimestamp"];
  if (const std::string text = created.text(); !text.empty()) {
    const std::optional<std::int64_t> seconds = seconds_since_1970(text);
    if (!seconds) created.note(fmt::format("\"{}\" is not a time (2006-01-02T15:04:05Z)", text));
    meta.creation_timestamp = seconds.value_or(0);
  }
  return meta;
}

bool is_left_out(const ManifestField& document, ObjectKind kind) {
  const ManifestField labels = document["metadata"]["labels"];
  switch (kind) {
    case ObjectKind::Service:
      if (labels.has("service.kubernetes.io/service-proxy-name")) return true;
      return document["spec"]["clusterIP"].text() == "None";
    case ObjectKind::EndpointSlice:
      return labels.has("service.kubernetes.io/headless");
    case ObjectKind::Node:
    case ObjectKind::ServiceCidr:
      break;
  }
  return false;
}

std::string manifest_key(const ObjectMeta& meta) {
  return meta.name_space.empty() ? meta.name : meta.name_space + '/' + meta.name;
}

std::shared_ptr<Object> new_object(ObjectKind kind) {
  return with_type_of(
      kind, []<class Type>(Type*) -> std::shared_ptr<Object> { return std::make_shared<Type>(); });
}

bool same_object(ObjectKind kind, const Object& one, const Object& other) {
  return with_type_of(kind, [&]<class Type>(Type*) {
    return static_cast<const Type&>(one) == static_cast<const Type&>(other);
  });
}

std::shared_ptr<Object> copy_object(ObjectKind kind, const Object& object) {
  return with_type_of(kind, [&]<class Type>(Type*) -> std::shared_ptr<Object> {
    return std::make_shared<Type>(static_cast<const Type&>(object));
  });
}

ObjectMeta& metadata_of(ObjectKind kind, Object& object) {
  return *with_type_of(kind,
                       [&]<class Type>(Type*) { return &static_cast<Type&>(object).metadata; });
}

}  // namespace mkp
