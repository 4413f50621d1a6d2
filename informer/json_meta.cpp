#include "informer/decode_text.h"
#include "informer/json_objects.h"

namespace mkp {

namespace {

std::int64_t read_time(JsonReader& json, JsonValue value, std::string_view name) {
  const std::string_view text = json.text(value, name);
  if (text.empty()) return 0;
  const std::optional<std::int64_t> seconds = seconds_since_1970(text);
  if (!seconds) {
    json.problem().note(name, brief(text) + " is not a time (2006-01-02T15:04:05Z)");
  }
  return seconds.value_or(0);
}

// A map of strings, of which one key is wanted.
void read_map(JsonReader& json, JsonValue value, std::string_view name, std::string_view wanted,
              std::string& stored) {
  json.fields(value, name, [&](std::string_view key, JsonValue field) {
    if (key == wanted) stored = json.text(field, wanted);
  });
}

}  // namespace

bool read_json_type(JsonReader& json, std::string_view key, JsonValue value, WireType& type) {
  if (key == "kind") {
    type.kind = json.text(value, key);
  } else if (key == "apiVersion") {
    type.api_version = json.text(value, key);
  } else {
    return false;
  }
  return true;
}

void read_json_meta(JsonReader& json, JsonValue value, ObjectMeta& meta, const WantedMeta& wanted) {
  json.fields(value, "metadata", [&](std::string_view key, JsonValue field) {
    if (key == "name") {
      meta.name = json.text(field, "name");
    } else if (key == "namespace") {
      meta.name_space = json.text(field, "namespace");
    } else if (key == "uid") {
      meta.uid = json.text(field, "uid");
    } else if (key == "resourceVersion") {
      meta.resource_version = json.text(field, "resourceVersion");
    } else if (key == "creationTimestamp") {
      meta.creation_timestamp = read_time(json, field, "creationTimestamp");
    } else if (key == "deletionTimestamp" && wanted.deleting) {
      *wanted.deleting = json.present(field);
    } else if (key == "labels" && wanted.label_value) {
      read_map(json, field, "labels", wanted.label, *wanted.label_value);
    } else if (key == "annotations" && wanted.annotation_value) {
      read_map(json, field, "annotations", wanted.annotation, *wanted.annotation_value);
    }
  });
}

}  // namespace mkp
