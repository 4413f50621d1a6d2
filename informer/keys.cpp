#include "informer/keys.h"

#include <fmt/format.h>

namespace mkp {

namespace {

// `text` in double quotes, as Go's %q writes plain text.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

const DeletedFinalStateUnknown* as_tombstone(const ObjectPtr& object) {
  return dynamic_cast<const DeletedFinalStateUnknown*>(object.get());
}

const UnreadableObject* as_unreadable(const ObjectPtr& object) {
  return dynamic_cast<const UnreadableObject*>(object.get());
}

std::string to_text(const ObjectName& name) {
  return name.name_space.empty() ? name.name : name.name_space + '/' + name.name;
}

Result<std::string> meta_namespace_key(const ObjectPtr& object) {
  if (!object) return fail(Errc::Invalid, "object has no meta: it is null");
  if (const ObjectMeta* meta = object->meta()) {
    return meta->name_space.empty() ? meta->name : meta->name_space + '/' + meta->name;
  }
  if (const auto* explicit_key = dynamic_cast<const ExplicitKey*>(object.get())) {
    return explicit_key->key;
  }
  if (const auto* unreadable = as_unreadable(object)) return unreadable->key;
  return fail(Errc::Invalid, "object has no meta: its type does not carry any");
}

Result<std::string> deletion_handling_meta_namespace_key(const ObjectPtr& object) {
  if (const auto* tombstone = as_tombstone(object)) return tombstone->key;
  return meta_namespace_key(object);
}

Result<ObjectName> deletion_handling_object_name(const ObjectPtr& object) {
  const Result<std::string> key = deletion_handling_meta_namespace_key(object);
  if (!key) return tl::unexpected<Error>(key.error());
  return split_meta_namespace_key(*key);
}

Result<ObjectName> split_meta_namespace_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return ObjectName{{}, std::string(key)};
  if (key.find('/', slash + 1) != std::string_view::npos) {
    return fail(Errc::Invalid, "unexpected key format: " + quoted(key));
  }
  return ObjectName{std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

tl::unexpected<Error> key_error(const ObjectPtr& object, const Error& cause) {
  return fail(cause.code,
              fmt::format("couldn't create key for object {}: {}", describe(object), cause.what));
}

std::string describe(const ObjectPtr& object) {
  if (!object) return "<null>";
  if (const auto* tombstone = as_tombstone(object)) return "tombstone of " + tombstone->key;
  const Result<std::string> key = meta_namespace_key(object);
  return key ? *key : "<object without metadata>";
}

}  // namespace mkp
