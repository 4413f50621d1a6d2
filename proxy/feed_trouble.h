#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "informer/objects.h"
#include "informer/signal.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// What keeps the objects of one kind from coming, as an operator should hear of it: once, and again
// after ten minutes, however often it is tried. Belongs to the loop thread.
class FeedTrouble {
 public:
  FeedTrouble(ObjectKind kind, const Clock& clock) : kind_(kind), clock_(clock) {}

  // A list, or the request for a watch, failed.
  void note(const Error& error);

  // Returns once the source has said that it does not know such objects at all. That they are
  // forbidden counts for nothing: a server says so to everybody while it starts.
  asio::awaitable<void> wait_until_refused() const;

 private:
  void log(const Error& error) const;

  ObjectKind kind_;
  const Clock& clock_;
  std::string logged_;
  TimePoint logged_at_;
  bool refused_ = false;
  mutable Signal noted_;
};

}  // namespace mkp
