#pragma once

#include <deque>

#include "informer/controller.h"
#include "informer/event_handler.h"
#include "informer/sync_tracking.h"
#include "runner/clock.h"

namespace mkp {

// One handler's place at an informer: what it has still to hear, in order and however much that is,
// and when it wants to see everything again. Belongs to the loop thread.
class Listener {
 public:
  // `desired_resync`: how often the handler asked to see everything again, zero for never.
  Listener(ResourceEventHandler& handler, Duration desired_resync, Duration check_period,
           TimePoint now);

  void enqueue(Notification notification);
  // Calls the handler with the oldest of what is pending; false when nothing was.
  bool deliver_one();
  bool has_pending() const { return !pending_.empty(); }
  // Nothing is delivered from now on.
  void remove();
  bool is_removed() const { return removed_; }

  // The informer has put all of the initial list into listeners' buffers.
  void upstream_has_synced() { tracker_.upstream_has_synced(); }
  // The handler has heard all of the initial list.
  bool has_synced() const { return tracker_.has_synced(); }
  const SyncLatch& synced() const { return tracker_.latch(); }

  // How often it really sees everything again, given how often anybody looks.
  void determine_resync_period(Duration check_period);
  Duration resync_period() const { return resync_period_; }
  // Whether its time has come; if so it is syncing until asked again.
  bool should_resync(TimePoint now);
  bool is_syncing() const { return is_syncing_; }

 private:
  ResourceEventHandler& handler_;
  std::deque<Notification> pending_;
  SingleFileTracker tracker_;
  bool removed_ = false;
  Duration desired_resync_;
  Duration resync_period_{};
  TimePoint registered_at_;
  TimePoint next_resync_{};
  bool is_syncing_ = true;
};

}  // namespace mkp
