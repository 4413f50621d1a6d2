#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "informer/object_source.h"
#include "informer/store.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// Why a stream is not read any more.
struct StreamEnd {
  enum class Reason : std::uint8_t { Closed, Enough, Failed } reason = Reason::Closed;
  Error error{};        // of Failed
  bool worked = false;  // an event came, or it lasted a second: it was no very short watch
};

// Brings the events of watches where they belong. Belongs to the loop thread; the clock is
// borrowed.
class StreamReader {
 public:
  // `expects`: see Reflector::Options.
  StreamReader(std::string name, std::function<bool(const Object&)> expects, Clock& clock)
      : name_(std::move(name)), expects_(std::move(expects)), clock_(clock) {}

  // Told of each event that was for us, after the target; says whether to read on.
  using Heard = std::function<bool(const WatchEvent&)>;

  // Until the stream ends, or `heard` has had enough. What the target refuses is logged and does
  // not end it. `asked_at`: when the stream was asked for. One that ends in good order within a
  // second of that, and empty, was no watch, and counts as failed. Stream and target outlive the
  // call.
  asio::awaitable<StreamEnd> read(EventStream& stream, EventTarget& target, TimePoint asked_at,
                                  Heard heard) const;

 private:
  // False when the event is not for us.
  bool apply(const WatchEvent& event, EventTarget& target) const;
  bool is_welcome(const WatchEvent& event) const;

  std::string name_;
  std::function<bool(const Object&)> expects_;
  Clock& clock_;
};

}  // namespace mkp
