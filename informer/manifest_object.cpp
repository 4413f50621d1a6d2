#include "informer/manifest_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

namespace mkp {

namespace {

// Calls `visit` with a value of the type that stands for the kind, which tells it the type.
template <class Visit>
auto with_type(ObjectKind kind, Visit visit) {
  switch (kind) {
    case ObjectKind::Service:
      return visit(static_cast<Service*>(nullptr));
    case ObjectKind::EndpointSlice:
      return visit(static_cast<EndpointSlice*>(nullptr));
    case ObjectKind::Node:
      return visit(static_cast<Node*>(nullptr));
    case ObjectKind::ServiceCidr:
      break;
  }
  return visit(static_cast<ServiceCidr*>(nullptr));
}

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

// The number that `text` consists of at [at, at + digits).
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  const char* end = text.data() + at + count;
  const auto [stop, error] = std::from_chars(text.data() + at, end, value);
  if (error != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

// Seconds that a zone ("Z", "+02:00") is ahead of UTC.
std::optional<int> zone_seconds(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || zone[3] != ':' || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const std::optional<int> hours = digits(zone, 1, 2);
  const std::optional<int> minutes = digits(zone, 4, 2);
  if (!hours || !minutes) return std::nullopt;
  const int seconds = *hours * 3600 + *minutes * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

// RFC 3339: 2026-11-30T18:55:51Z, perhaps with a fraction, which is dropped.
std::optional<std::int64_t> seconds_since_1970(std::string_view text) {
  constexpr std::size_t kLengths[] = {4, 2, 2, 2, 2, 2};
  constexpr std::string_view kBetween = "--T::";
  int parts[6] = {};
  std::size_t at = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::optional<int> part = digits(text, at, kLengths[i]);
    if (!part) return std::nullopt;
    parts[i] = *part;
    at += kLengths[i];
    if (i < 5 && (at >= text.size() || text[at++] != kBetween[i])) return std::nullopt;
  }
  if (at < text.size() && text[at] == '.') {
    at = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
  }
  const std::optional<int> zone = zone_seconds(text.substr(at));
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!zone || !day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  const int seconds = parts[3] * 3600 + parts[4] * 60 + parts[5] - *zone;
  return days * 86400 + seconds;
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

bool is_namespaced(ObjectKind kind) {
  return kind == ObjectKind::Service || kind == ObjectKind::EndpointSlice;
}

std::shared_ptr<Object> new_object(ObjectKind kind) {
  return with_type(
      kind, []<class Type>(Type*) -> std::shared_ptr<Object> { return std::make_shared<Type>(); });
}

bool same_object(ObjectKind kind, const Object& one, const Object& other) {
  return with_type(kind, [&]<class Type>(Type*) {
    return static_cast<const Type&>(one) == static_cast<const Type&>(other);
  });
}

std::shared_ptr<Object> copy_object(ObjectKind kind, const Object& object) {
  return with_type(kind, [&]<class Type>(Type*) -> std::shared_ptr<Object> {
    return std::make_shared<Type>(static_cast<const Type&>(object));
  });
}

ObjectMeta& metadata_of(ObjectKind kind, Object& object) {
  return *with_type(kind, [&]<class Type>(Type*) { return &static_cast<Type&>(object).metadata; });
}

}  // namespace mkp
