#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/api_server/object_store.h"
#include "tests/api_server/status_answer.h"

namespace mkp::api {

enum class Encoding : std::uint8_t { Json, Protobuf };

// What an Accept header asks for: its first clause that is one of ours, as a Table is not. Nothing
// when it takes neither.
std::optional<Encoding> negotiate(std::string_view accept);

// "application/vnd.kubernetes.protobuf;stream=watch".
std::string content_type(Encoding encoding, bool watch);

struct ListPage {
  std::vector<StoredObjectPtr> objects;
  std::uint64_t revision = 0;
  std::string continue_token{};             // empty: the last page
  std::optional<std::int64_t> remaining{};  // objects after this page
};

// Whole bodies.
std::string list_body(Encoding encoding, const Resource& resource, const ListPage& page);
std::string object_body(Encoding encoding, const Resource& resource, const EncodedObject& object);
std::string status_body(Encoding encoding, const StatusAnswer& status);

// Frames of a watch. `type` is ADDED, MODIFIED or DELETED.
std::string event_frame(Encoding encoding, const Resource& resource, std::string_view type,
                        const EncodedObject& object);
std::string bookmark_frame(Encoding encoding, const Resource& resource, std::uint64_t revision,
                           bool ends_initial_events);
std::string error_frame(Encoding encoding, const StatusAnswer& status);

}  // namespace mkp::api
