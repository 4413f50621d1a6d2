#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/objects.h"
#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// What to list; as in the API.
struct ListQuery {
  // "" the newest, "0" whatever is at hand, else not older than this. Empty with a
  // `continue_token`.
  std::string resource_version;
  int limit = 0;               // objects a page; 0: all at once. A source may ignore it.
  std::string continue_token;  // of the page before; empty: the first page

  bool operator==(const ListQuery&) const = default;
};

// A collection, or a page of one, as it was at resource_version.
struct Listing {
  // An UnreadableObject (keys.h) stands for what is there but could not be decoded.
  std::vector<ObjectPtr> objects;
  std::string resource_version;
  std::string continue_token{};  // empty: nothing is missing behind this page
};

// What to watch; as in the API.
struct WatchQuery {
  std::string resource_version;  // events after this
  // sendInitialEvents: first an Added for everything there is, then the bookmark that
  // ends_initial_events, then what changes.
  bool initial_events = false;
  std::chrono::seconds timeout{};  // after which the source may end the stream; 0: as it likes

  bool operator==(const WatchQuery&) const = default;
};

struct WatchEvent {
  enum class Type : std::uint8_t { Added, Modified, Deleted, Bookmark };
  Type type = Type::Added;
  // For Deleted the last known state; null for a Bookmark. An UnreadableObject (keys.h) when there
  // was something that could not be decoded.
  ObjectPtr object;
  std::string resource_version;      // where to go on from after this event
  bool ends_initial_events = false;  // of a Bookmark
};

// The events that follow a list, in the order in which they happened.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // The next event; nothing when the stream ended in good order, so that watching on from the last
  // seen version is right. Errc::Expired: that version is gone, list again.
  virtual asio::awaitable<Result<std::optional<WatchEvent>>> next() = 0;
};

// List and watch of one kind (client-go's ListerWatcher): the seam towards whoever knows the
// objects. Called from the loop thread, one request at a time.
//
// Failures of a request, and of a stream: Errc::Expired, the version asked for is gone, or not
// there yet; Unavailable, too busy (429); Unreachable, nobody answered; Internal, a failure of the
// source's own (500); Denied, NotFound and Invalid, asking again will not help.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  virtual asio::awaitable<Result<Listing>> list(ListQuery query) = 0;
  virtual asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery query) = 0;
  // Whether it knows WatchQuery::initial_events at all. A server that does not says Invalid.
  virtual bool supports_initial_events() const { return true; }
};

}  // namespace mkp
