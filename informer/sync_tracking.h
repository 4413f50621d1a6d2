#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <vector>

#include "informer/signal.h"

namespace mkp {

// Whether somebody has all of the initial list, which once true stays true; and waiting for it
// without polling. Belongs to the loop thread.
class SyncLatch {
 public:
  bool has_synced() const { return state_ == State::Synced; }
  void set();
  // It will never be: whoever was to sync has stopped. Nothing, once it has synced.
  void abandon();

  // True once it has synced, false once it never will. Both at once when that is known already.
  asio::awaitable<bool> wait() const;

 private:
  enum class State { Pending, Synced, Abandoned };
  void settle(State state);

  State state_ = State::Pending;
  mutable Signal settled_;
};

// True once all have synced; false when it turns out, in order of the list, that one of them never
// will. To stop waiting, cancel. The latches must outlive the wait.
asio::awaitable<bool> wait_for_cache_sync(std::vector<const SyncLatch*> latches);

// Counts how many items of an initial list are still on their way to one consumer that takes them
// in order. Synced when the upstream has given all and none is outstanding.
class SingleFileTracker {
 public:
  void start() { ++outstanding_; }
  // One more than were started is a bug, and crashes.
  void finished();
  void upstream_has_synced();

  bool has_synced() const { return latch_.has_synced(); }
  const SyncLatch& latch() const { return latch_; }
  void abandon() { latch_.abandon(); }

 private:
  void look();

  std::size_t outstanding_ = 0;
  bool upstream_has_synced_ = false;
  SyncLatch latch_;
};

}  // namespace mkp
