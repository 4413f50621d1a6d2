#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/object_source.h"
#include "informer/store.h"
#include "informer/stream_reader.h"
#include "runner/clock.h"

namespace mkp {

// A collection that came as the initial events of a watch, and the stream, still open, that tells
// what happens to it from then on.
struct StreamedList {
  std::vector<ObjectPtr> objects;  // by key
  std::string resource_version;
  std::unique_ptr<EventStream> stream;
};

// A streaming list (WatchList): the server sends one object after the other rather than all at
// once, which spares its memory, and so ours. Source, reader and clock are borrowed.
class WatchList {
 public:
  WatchList(std::string name, ObjectSource& source, const StreamReader& reader, Clock& clock)
      : name_(std::move(name)), source_(source), reader_(reader), clock_(clock) {}

  // One request. Nothing when the stream ended in good order, but before the bookmark. What came is
  // gathered aside, so that half a list never reaches anybody; `transformer` sees it first.
  asio::awaitable<Result<std::optional<StreamedList>>> request(WatchQuery query,
                                                               Transformer transformer);

 private:
  std::string name_;
  ObjectSource& source_;
  const StreamReader& reader_;
  Clock& clock_;
};

}  // namespace mkp
