#include "informer/listener.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace mkp {

Listener::Listener(ResourceEventHandler& handler, Duration desired_resync, Duration check_period,
                   TimePoint now)
    : handler_(handler), desired_resync_(desired_resync), registered_at_(now) {
  determine_resync_period(check_period);
}

void Listener::enqueue(Notification notification) {
  if (removed_) return;
  if (notification.is_in_initial_list) tracker_.start();
  pending_.push_back(std::move(notification));
}

bool Listener::deliver_one() {
  if (pending_.empty()) return false;
  // Out of the buffer first: the handler may remove this very listener.
  const Notification next = std::move(pending_.front());
  pending_.pop_front();
  switch (next.type) {
    case Notification::Type::Add:
      handler_.on_add(next.object, next.is_in_initial_list);
      break;
    case Notification::Type::Update:
      handler_.on_update(next.old, next.object);
      break;
    case Notification::Type::Delete:
      handler_.on_delete(next.object);
      break;
  }
  if (next.is_in_initial_list) tracker_.finished();
  return true;
}

void Listener::remove() {
  removed_ = true;
  pending_.clear();
  tracker_.abandon();
}

void Listener::determine_resync_period(Duration check_period) {
  resync_period_ = Duration::zero();
  if (desired_resync_ != Duration::zero() && check_period == Duration::zero()) {
    spdlog::warn("a handler asked for a resync, which this informer does not do");
  } else if (desired_resync_ != Duration::zero()) {
    resync_period_ = std::max(desired_resync_, check_period);
  }
  next_resync_ = later(registered_at_, resync_period_);
}

bool Listener::should_resync(TimePoint now) {
  is_syncing_ = resync_period_ != Duration::zero() && now >= next_resync_;
  if (is_syncing_) next_resync_ = later(now, resync_period_);
  return is_syncing_;
}

}  // namespace mkp
