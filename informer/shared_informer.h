#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/controller.h"
#include "informer/delta_fifo.h"
#include "informer/event_handler.h"
#include "informer/indexer.h"
#include "informer/listener.h"
#include "informer/object_source.h"
#include "informer/signal.h"
#include "informer/sync_tracking.h"
#include "runner/clock.h"

namespace mkp {

// One collection of the cluster, mirrored once for any number of handlers. Belongs to the loop
// thread; handlers, source and clock are borrowed and outlive it.
class SharedInformer {
 public:
  struct Options {
    std::string name = "object";                   // for logs, such as "Service"
    std::function<bool(const Object&)> expects{};  // see Reflector::Options
    Duration default_resync_period{};  // how often handlers see everything again; zero: never
    KeyFunc key = deletion_handling_meta_namespace_key;
    Indexers indexers{};
    Backoff backoff = Reflector::default_backoff();
    std::function<void()> on_relist{};  // see Reflector::Options
  };
  // A handler's registration: to ask whether it has heard all of the initial list, and to remove
  // it.
  using Registration = std::shared_ptr<Listener>;

  SharedInformer(ObjectSource& source, Clock& clock, Options options);
  SharedInformer(const SharedInformer&) = delete;
  SharedInformer& operator=(const SharedInformer&) = delete;

  // Lists, watches and tells handlers. Once in a lifetime, until cancelled; no handler is called
  // after that. A second run() returns at once.
  asio::awaitable<void> run();
  bool is_stopped() const { return state_ == State::Stopped; }

  // The initial list is in the indexer and on its way to the handlers; whether one of them has
  // heard all of it, its registration knows.
  bool has_synced() const { return synced_.has_synced(); }
  const SyncLatch& synced() const { return synced_; }
  // Something is queued, or on its way to a handler. False: the handlers know all that the source
  // has told.
  bool has_pending() const;
  std::string last_sync_resource_version() const;

  // To read from. Only the informer writes to it.
  const Indexer& indexer() const { return indexer_; }
  Result<> add_indexers(const Indexers& more);

  // The handler first hears of all objects that there are, as initial adds, then of every later
  // change. The same handler may register again and is told twice then. Fails once the informer has
  // stopped.
  Result<Registration> add_event_handler(ResourceEventHandler& handler);
  Result<Registration> add_event_handler(ResourceEventHandler& handler, Duration resync_period);
  // When this returns, the handler is not called any more but for a call that is under way, if the
  // handler itself is the caller. What is not registered here is passed over.
  void remove_event_handler(const Registration& registration);
  std::size_t listener_count() const { return listeners_.size(); }
  Duration resync_check_period() const { return resync_check_period_; }

  // Both only before run().
  Result<> set_transform(Transformer transformer);
  Result<> set_watch_error_handler(std::function<void(const Error&)> handler);

 private:
  enum class State { New, Running, Stopped };

  Controller::Options controller_options();
  void stop();
  // Hands what is pending to the handlers, for ever.
  asio::awaitable<void> deliver();
  void deliver_pending();
  void distribute(const Notification& what, DeltaType why);
  // Whether any listener's time has come to see everything again.
  bool should_resync();
  asio::awaitable<void> announce_sync();
  // The period that a new handler gets, and makes the informer look that often if it still can.
  Duration admit_resync_period(Duration desired);

  ObjectSource& source_;
  Clock& clock_;
  Options options_;
  Transformer transformer_;
  std::function<void(const Error&)> on_watch_error_;
  State state_ = State::New;
  Duration resync_check_period_;
  Indexer indexer_;
  std::vector<Registration> listeners_;
  Signal undelivered_;
  SyncLatch synced_;
  std::optional<DeltaFifo> queue_;        // from run() on
  std::optional<Controller> controller_;  // from run() on
};

}  // namespace mkp
