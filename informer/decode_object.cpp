#include "informer/decode_object.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "informer/keys.h"

namespace mkp {

namespace {

constexpr std::string_view kCoreVersion = "v1";

std::string_view api_version_of(ObjectKind kind) {
  if (kind == ObjectKind::EndpointSlice) return "discovery.k8s.io/v1";
  return kind == ObjectKind::ServiceCidr ? "networking.k8s.io/v1" : kCoreVersion;
}

Result<> expect(const WireType& type, std::string_view api_version, const std::string& kind) {
  // networking.k8s.io/v1beta1 has the same fields.
  const bool same_version =
      type.api_version == api_version || type.api_version == fmt::format("{}beta1", api_version);
  if (same_version && type.kind == kind) return {};
  return fail(Errc::Invalid, fmt::format("it is {} {}, not a {} {}", brief(type.api_version),
                                         brief(type.kind), api_version, kind));
}

// Part of a key: neither empty nor with what would make it another key or break a line.
bool is_key_part(std::string_view text) {
  const auto fits = [](char c) { return c > ' ' && c <= '~' && c != '/'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

// Empty when the name cannot be read.
std::string key_of(ObjectKind kind, const ObjectMeta& meta) {
  if (!is_key_part(meta.name)) return {};
  if (!is_namespaced(kind)) return meta.name;
  return is_key_part(meta.name_space) ? to_text(ObjectName{meta.name_space, meta.name})
                                      : std::string();
}

}  // namespace

Result<> expect_object(ObjectKind kind, const WireType& type) {
  return expect(type, api_version_of(kind), std::string(to_text(kind)));
}

Result<> expect_list(ObjectKind kind, const WireType& type) {
  return expect(type, api_version_of(kind), fmt::format("{}List", to_text(kind)));
}

Result<> expect_status(const WireType& type) { return expect(type, kCoreVersion, "Status"); }

Result<EventType> event_type_of(std::string_view word) {
  if (word == "ADDED") return EventType::Added;
  if (word == "MODIFIED") return EventType::Modified;
  if (word == "DELETED") return EventType::Deleted;
  if (word == "BOOKMARK") return EventType::Bookmark;
  if (word == "ERROR") return EventType::Error;
  return fail(Errc::Invalid, fmt::format("an event's type is {}, which is not known", brief(word)));
}

ObjectPtr publish(ObjectKind kind, Fate fate, std::shared_ptr<const Object> object,
                  const DecodeProblem& problem) {
  const ObjectMeta& meta = *object->meta();
  std::string key = key_of(kind, meta);
  if (key.empty()) {
    spdlog::error("{} {}/{} from the API server is left out, as its name cannot be read: {}",
                  to_text(kind), brief(meta.name_space), brief(meta.name),
                  problem.found() ? problem.text() : "metadata: has no name of use");
    return nullptr;
  }
  if (problem.found()) {
    const std::string_view outcome = fate == Fate::Stays
                                         ? "cannot be read, so it stays as it was"
                                         : "is gone, though its last state cannot be read";
    spdlog::error("{} {} from the API server {}: {}", to_text(kind), key, outcome, problem.text());
    return std::make_shared<UnreadableObject>(std::move(key));
  }
  if (!problem.left_out().empty()) {
    spdlog::warn("{} {} from the API server is used but for a part that is not known here: {}",
                 to_text(kind), key, problem.left_out());
  }
  return object;
}

Result<WireEvent> object_event(EventType type, ObjectKind kind,
                               std::shared_ptr<const Object> object, const DecodeProblem& problem) {
  WatchEvent event;
  event.resource_version = object->meta()->resource_version;
  if (event.resource_version.empty()) {
    return fail(Errc::Invalid,
                problem.found() ? problem.text() : "metadata.resourceVersion: is missing");
  }
  const Fate fate = type == EventType::Deleted ? Fate::Goes : Fate::Stays;
  event.object = publish(kind, fate, std::move(object), problem);
  if (!event.object) {
    event.type = WatchEvent::Type::Bookmark;
  } else if (type == EventType::Deleted) {
    event.type = WatchEvent::Type::Deleted;
  } else if (type == EventType::Modified) {
    event.type = WatchEvent::Type::Modified;
  }
  return event;
}

Result<WireEvent> bookmark_event(std::string resource_version, std::string_view initial_events_end,
                                 const DecodeProblem& problem) {
  if (problem.found()) return fail(Errc::Invalid, "bookmark: " + problem.text());
  if (resource_version.empty()) {
    return fail(Errc::Invalid, "bookmark: metadata.resourceVersion: is missing");
  }
  WatchEvent event;
  event.type = WatchEvent::Type::Bookmark;
  event.resource_version = std::move(resource_version);
  event.ends_initial_events = initial_events_end == "true";
  return event;
}

Result<Listing> finished(Listing listing, const DecodeProblem& problem) {
  if (problem.found()) return fail(Errc::Invalid, problem.text());
  if (listing.resource_version.empty()) {
    return fail(Errc::Invalid, "metadata.resourceVersion: is missing");
  }
  return listing;
}

}  // namespace mkp
