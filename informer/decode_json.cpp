#include <fmt/format.h>

#include <utility>

#include "informer/decode_object.h"
#include "informer/json_document.h"
#include "informer/json_frame.h"
#include "informer/json_objects.h"

namespace mkp {

namespace {

constexpr std::size_t kLargestFrame = std::size_t{16} << 20;

tl::unexpected<Error> no_json(const JsonReader& json) {
  return fail(Errc::Invalid, std::string("it is no JSON: ") + json.error());
}

std::shared_ptr<const Object> read_object(ObjectKind kind, JsonReader& json, JsonValue value,
                                          WireType& type) {
  return with_type_of(kind, [&]<class Type>(Type*) -> std::shared_ptr<const Object> {
    auto object = std::make_shared<Type>();
    read_json(json, value, *object, type);
    return object;
  });
}

void read_list_meta(JsonReader& json, JsonValue value, Listing& listing) {
  json.fields(value, "metadata", [&](std::string_view key, JsonValue field) {
    if (key == "resourceVersion") {
      listing.resource_version = json.text(field, "resourceVersion");
    } else if (key == "continue") {
      listing.continue_token = json.text(field, "continue");
    }
  });
}

void read_items(JsonReader& json, JsonValue value, ObjectKind kind, Listing& listing) {
  json.elements(value, "items", [&](JsonValue item) {
    DecodeProblem problem;
    JsonReader reader(problem);
    WireType type;
    std::shared_ptr<const Object> object = read_object(kind, reader, item, type);
    json.join(reader);
    if (json.broken()) return;
    if (ObjectPtr given = publish(kind, Fate::Stays, std::move(object), problem)) {
      listing.objects.push_back(std::move(given));
    }
  });
}

Result<Listing> read_list(ObjectKind kind, std::string body) {
  Listing listing;
  WireType type;
  DecodeProblem problem;
  JsonReader json(problem);
  JsonDocument document(std::move(body));
  document.fields(json, [&](std::string_view key, JsonValue value) {
    if (read_json_type(json, key, value, type)) return;
    if (key == "metadata") read_list_meta(json, value, listing);
    if (key == "items") read_items(json, value, kind, listing);
  });
  if (json.broken()) return no_json(json);
  if (Result<> expected = expect_list(kind, type); !expected) {
    return tl::unexpected<Error>(expected.error());
  }
  return finished(std::move(listing), problem);
}

void read_causes(JsonReader& json, JsonValue value, ApiStatus& status) {
  json.elements(value, "causes", [&](JsonValue element) {
    ApiStatus::Cause cause;
    json.fields(element, "", [&](std::string_view key, JsonValue field) {
      if (key == "reason") {
        cause.reason = json.text(field, "reason");
      } else if (key == "message") {
        cause.message = json.text(field, "message");
      }
    });
    status.causes.push_back(std::move(cause));
  });
}

void read_details(JsonReader& json, JsonValue value, ApiStatus& status) {
  json.fields(value, "details", [&](std::string_view key, JsonValue field) {
    if (key == "causes") {
      read_causes(json, field, status);
    } else if (key == "retryAfterSeconds") {
      status.retry_after_seconds =
          static_cast<std::int32_t>(json.number(field, "retryAfterSeconds").value_or(0));
    }
  });
}

// One field of a Status.
void read_status(JsonReader& json, std::string_view key, JsonValue field, ApiStatus& status) {
  if (key == "status") {
    status.status = json.text(field, "status");
  } else if (key == "message") {
    status.message = json.text(field, "message");
  } else if (key == "reason") {
    status.reason = json.text(field, "reason");
  } else if (key == "details") {
    read_details(json, field, status);
  } else if (key == "code") {
    status.code = static_cast<std::int32_t>(json.number(field, "code").value_or(0));
  }
}

// What an event's object turned out to be, whatever its type said.
struct EventObject {
  WireType type;
  std::shared_ptr<const Object> object;
  ApiStatus status;
  ObjectMeta meta;  // of a bookmark
  std::string initial_events_end;
};

void read_event_object(ObjectKind kind, EventType type, JsonReader& json, JsonValue value,
                       EventObject& read) {
  if (type == EventType::Error) {
    json.fields(value, "", [&](std::string_view key, JsonValue field) {
      if (!read_json_type(json, key, field, read.type)) read_status(json, key, field, read.status);
    });
  } else if (type == EventType::Bookmark) {
    json.fields(value, "", [&](std::string_view key, JsonValue field) {
      if (read_json_type(json, key, field, read.type) || key != "metadata") return;
      read_json_meta(json, field, read.meta, wanted_meta_of_bookmark(read.initial_events_end));
    });
  } else {
    read.object = read_object(kind, json, value, read.type);
  }
}

Result<WireEvent> event_of(ObjectKind kind, EventType type, EventObject read,
                           const DecodeProblem& problem) {
  // A Status is told as far as it can be read: any of it is better than none.
  const Result<> expected =
      type == EventType::Error ? expect_status(read.type) : expect_object(kind, read.type);
  if (!expected) return tl::unexpected<Error>(expected.error());
  if (type == EventType::Error) return std::move(read.status);
  if (type == EventType::Bookmark) {
    return bookmark_event(std::move(read.meta.resource_version), read.initial_events_end, problem);
  }
  return object_event(type, kind, std::move(read.object), problem);
}

Result<WireEvent> read_event(ObjectKind kind, std::string_view frame) {
  // A server writes the type first, so that once through the text is enough.
  Result<EventType> type = fail(Errc::Invalid, "an event has no type");
  bool too_early = false;
  EventObject read;
  DecodeProblem problem;
  JsonReader json(problem);
  const auto visit = [&](std::string_view key, JsonValue value) {
    if (key == "type" && !type) type = event_type_of(json.text(value, "type"));
    if (key != "object") return;
    too_early = !type;
    if (type) read_event_object(kind, *type, json, value, read);
  };
  JsonDocument document{std::string(frame)};
  document.fields(json, visit);
  if (json.broken()) return no_json(json);
  if (!type) return tl::unexpected<Error>(type.error());
  if (!too_early) return event_of(kind, *type, std::move(read), problem);

  JsonDocument again{std::string(frame)};
  again.fields(json, [&](std::string_view key, JsonValue value) {
    if (key == "object") read_event_object(kind, *type, json, value, read);
  });
  if (json.broken()) return no_json(json);
  return event_of(kind, *type, std::move(read), problem);
}

class JsonFormat final : public WireFormat {
 public:
  std::string_view media_type() const override { return "application/json"; }

  Result<Listing> decode_list(ObjectKind kind, std::string body) const override {
    Result<Listing> listing = read_list(kind, std::move(body));
    if (listing) return listing;
    return fail(std::move(listing.error()), fmt::format("list of {} in JSON", to_text(kind)));
  }

  Result<std::size_t> frame_size(std::string_view bytes, std::size_t seen) const override {
    return json_frame_size(bytes, seen, kLargestFrame);
  }

  Result<WireEvent> decode_event(ObjectKind kind, std::string_view frame) const override {
    Result<WireEvent> event = read_event(kind, frame);
    if (event) return event;
    return fail(std::move(event.error()), fmt::format("event of a {} in JSON", to_text(kind)));
  }

  Result<ApiStatus> decode_status(std::string_view body) const override {
    ApiStatus status;
    WireType type;
    DecodeProblem problem;
    JsonReader json(problem);
    JsonDocument document{std::string(body)};
    document.fields(json, [&](std::string_view key, JsonValue field) {
      if (!read_json_type(json, key, field, type)) read_status(json, key, field, status);
    });
    if (json.broken()) return no_json(json);
    if (Result<> expected = expect_status(type); !expected) {
      return tl::unexpected<Error>(expected.error());
    }
    return status;
  }
};

}  // namespace

const WireFormat& json_format() {
  static const JsonFormat format;
  return format;
}

}  // namespace mkp
