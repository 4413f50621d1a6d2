#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "informer/delta_fifo.h"
#include "informer/reflector.h"
#include "informer/signal.h"
#include "informer/store.h"
#include "informer/sync_tracking.h"

namespace mkp {

// What a handler is told.
struct Notification {
  enum class Type : std::uint8_t { Add, Update, Delete };
  Type type = Type::Add;
  ObjectPtr old;     // for an Update
  ObjectPtr object;  // for a Delete the last known state, or a tombstone
  bool is_in_initial_list = false;
};

using Notify = std::function<void(const Notification& what, DeltaType why)>;

// Brings `store` up to date with all that happened to one object, and tells each step. What the
// store has, not what the delta calls itself, decides between Add and Update. A store that fails
// ends it there.
Result<> process_deltas(Store& store, const Deltas& deltas, bool is_in_initial_list,
                        const Notify& notify);

// Fills a queue from a source and empties it into a process function, both on the loop thread.
// Queue, source and clock are borrowed; the queue's wake-up is this controller's.
class Controller {
 public:
  struct Options {
    Reflector::Options reflector;
    DeltaFifo::Process process;
  };
  Controller(DeltaFifo& queue, ObjectSource& source, Clock& clock, Options options);

  // Ends by cancellation, and closes the queue then.
  asio::awaitable<void> run();

  // The initial list has gone through the process function.
  const SyncLatch& synced() const { return synced_; }
  const std::string& last_sync_resource_version() const {
    return reflector_.last_sync_resource_version();
  }

 private:
  // Until the queue was closed and is empty.
  asio::awaitable<void> process_queue();
  // False when there will be no more.
  bool drain();

  DeltaFifo& queue_;
  DeltaFifo::Process process_;
  Reflector reflector_;
  Signal queued_;
  SyncLatch synced_;
};

}  // namespace mkp
