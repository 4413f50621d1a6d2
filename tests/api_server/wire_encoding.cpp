#include "tests/api_server/wire_encoding.h"

#include <protozero/pbf_writer.hpp>

#include "tests/api_server/json_text.h"

namespace mkp::api {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

void add(protozero::pbf_writer& to, protozero::pbf_tag_type field, std::string_view text) {
  to.add_string(field, text.data(), text.size());
}

// runtime.Unknown behind its magic bytes.
std::string enveloped(std::string_view api_version, std::string_view kind, const std::string& raw) {
  std::string bytes("k8s\0", 4);
  protozero::pbf_writer envelope(bytes);
  {
    protozero::pbf_writer type(envelope, 1);
    add(type, 1, api_version);
    add(type, 2, kind);
  }
  envelope.add_bytes(2, raw);
  envelope.add_string(3, "");
  envelope.add_string(4, "");
  return bytes;
}

// An object's JSON with the kind that only lists leave out. What is no JSON object stays what it
// is.
std::string with_kind(const Resource& resource, const std::string& json) {
  if (json.size() < 2 || json.front() != '{') return json;
  return fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\"{}{}", resource.kind_name,
                     resource.api_version(), json == "{}" ? "" : ",", json.substr(1));
}

std::string framed(std::string_view type, const std::string& object) {
  std::string message;
  protozero::pbf_writer event(message);
  add(event, 1, type);
  {
    protozero::pbf_writer extension(event, 2);
    extension.add_bytes(1, object);
  }
  const std::size_t size = message.size();
  const std::string length{static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                           static_cast<char>(size >> 8), static_cast<char>(size)};
  return length + message;
}

std::string json_frame(std::string_view type, const std::string& object) {
  return JsonObject().string("type", type).member("object", object).text() + "\n";
}

std::string list_json(const Resource& resource, const ListPage& page) {
  JsonObject metadata;
  metadata.string("resourceVersion", std::to_string(page.revision))
      .nonempty("continue", page.continue_token);
  if (page.remaining) metadata.number("remainingItemCount", *page.remaining);
  return JsonObject()
      .string("kind", fmt::format("{}List", resource.kind_name))
      .string("apiVersion", resource.api_version())
      .member("metadata", metadata.text())
      .member("items", json_array(page.objects,
                                  [](const StoredObjectPtr& object) -> const std::string& {
                                    return object->encoded.json;
                                  }))
      .text();
}

std::string list_protobuf(const Resource& resource, const ListPage& page) {
  std::string bytes;
  protozero::pbf_writer list(bytes);
  {
    protozero::pbf_writer metadata(list, 1);
    metadata.add_string(1, "");
    metadata.add_string(2, std::to_string(page.revision));
    metadata.add_string(3, page.continue_token);
    if (page.remaining) metadata.add_int64(4, *page.remaining);
  }
  for (const StoredObjectPtr& object : page.objects) {
    list.add_message(2, object->encoded.protobuf);
  }
  return enveloped(resource.api_version(), fmt::format("{}List", resource.kind_name), bytes);
}

// An empty object but for its version.
EncodedObject bookmark(std::uint64_t revision, bool ends_initial_events) {
  JsonObject metadata;
  metadata.string("resourceVersion", std::to_string(revision));
  std::string bytes;
  protozero::pbf_writer object(bytes);
  protozero::pbf_writer message(object, 1);
  message.add_string(1, "");
  message.add_string(6, std::to_string(revision));
  if (ends_initial_events) {
    constexpr const char* kAnnotation = "k8s.io/initial-events-end";
    metadata.member("annotations", JsonObject().string(kAnnotation, "true").text());
    protozero::pbf_writer entry(message, 12);
    entry.add_string(1, kAnnotation);
    entry.add_string(2, "true");
    entry.commit();
  }
  message.commit();
  const std::string json = JsonObject().member("metadata", metadata.text()).text();
  return {json, bytes};
}

}  // namespace

std::optional<Encoding> negotiate(std::string_view accept) {
  if (accept.empty()) return Encoding::Json;
  while (!accept.empty()) {
    std::string_view clause = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(accept.size(), clause.size() + 1));
    while (clause.starts_with(' ')) clause.remove_prefix(1);
    const bool converted = clause.find("as=") != std::string_view::npos;
    const std::string_view type = clause.substr(0, clause.find(';'));
    if (converted) continue;
    if (type == kProtobufType) return Encoding::Protobuf;
    if (type == kJsonType || type == "*/*" || type == "application/*") return Encoding::Json;
  }
  return std::nullopt;
}

std::string content_type(Encoding encoding, bool watch) {
  if (encoding == Encoding::Json) return std::string(kJsonType);
  return std::string(kProtobufType) + (watch ? ";stream=watch" : "");
}

std::string list_body(Encoding encoding, const Resource& resource, const ListPage& page) {
  return encoding == Encoding::Json ? list_json(resource, page) : list_protobuf(resource, page);
}

std::string object_body(Encoding encoding, const Resource& resource, const EncodedObject& object) {
  if (encoding == Encoding::Json) return with_kind(resource, object.json);
  return enveloped(resource.api_version(), resource.kind_name, object.protobuf);
}

std::string status_body(Encoding encoding, const StatusAnswer& status) {
  if (encoding == Encoding::Json) return to_json(status);
  return enveloped("v1", "Status", to_protobuf(status));
}

std::string event_frame(Encoding encoding, const Resource& resource, std::string_view type,
                        const EncodedObject& object) {
  const std::string body = object_body(encoding, resource, object);
  return encoding == Encoding::Json ? json_frame(type, body) : framed(type, body);
}

std::string bookmark_frame(Encoding encoding, const Resource& resource, std::uint64_t revision,
                           bool ends_initial_events) {
  return event_frame(encoding, resource, "BOOKMARK", bookmark(revision, ends_initial_events));
}

std::string error_frame(Encoding encoding, const StatusAnswer& status) {
  const std::string body = status_body(encoding, status);
  return encoding == Encoding::Json ? json_frame("ERROR", body) : framed("ERROR", body);
}

}  // namespace mkp::api
