#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "informer/decode_problem.h"
#include "informer/object_types.h"
#include "informer/wire_format.h"

namespace mkp {

// What encoded things say that they are: the outer shell of every list, object and Status.
struct WireType {
  std::string api_version;
  std::string kind;
};
// Fails with Invalid unless it is an object of this kind, or a list of such.
Result<> expect_object(ObjectKind kind, const WireType& type);
Result<> expect_list(ObjectKind kind, const WireType& type);
Result<> expect_status(const WireType& type);

enum class EventType : std::uint8_t { Added, Modified, Deleted, Bookmark, Error };
Result<EventType> event_type_of(std::string_view word);

enum class Fate : std::uint8_t { Stays, Goes };

// What a source gives out for an object: itself, an UnreadableObject when there is a problem, or
// null when not even its name is known. What is not given out as it is, is logged.
ObjectPtr publish(ObjectKind kind, Fate fate, std::shared_ptr<const Object> object,
                  const DecodeProblem& problem);

// The event of an object that is added, modified or deleted. One whose name cannot be read is left
// out: a Bookmark in its place says where to go on from. Fails with Invalid when it does not say
// that.
Result<WireEvent> object_event(EventType type, ObjectKind kind,
                               std::shared_ptr<const Object> object, const DecodeProblem& problem);
Result<WireEvent> bookmark_event(std::string resource_version, std::string_view initial_events_end,
                                 const DecodeProblem& problem);

// The list itself could be read as far as it goes.
Result<Listing> finished(Listing listing, const DecodeProblem& problem);

}  // namespace mkp
