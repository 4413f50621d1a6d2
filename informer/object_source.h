#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/objects.h"
#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// One whole collection, as it was at resource_version.
struct Listing {
  std::vector<ObjectPtr> objects;
  std::string resource_version;
};

struct WatchEvent {
  enum class Type : std::uint8_t { Added, Modified, Deleted, Bookmark };
  Type type = Type::Added;
  ObjectPtr object;              // for Deleted the last known state; null for a Bookmark
  std::string resource_version;  // where to go on from after this event
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
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  // `resource_version` as in the API: "" the newest, "0" whatever is at hand, else not older than
  // this.
  virtual asio::awaitable<Result<Listing>> list(std::string resource_version) = 0;
  virtual asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(
      std::string resource_version) = 0;
};

}  // namespace mkp
