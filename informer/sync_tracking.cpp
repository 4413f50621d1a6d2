#include "informer/sync_tracking.h"

#include "informer/crash.h"

namespace mkp {

void SyncLatch::set() { settle(State::Synced); }

void SyncLatch::abandon() { settle(State::Abandoned); }

void SyncLatch::settle(State state) {
  if (state_ != State::Pending) return;
  state_ = state;
  settled_.notify();
}

asio::awaitable<bool> SyncLatch::wait() const {
  while (state_ == State::Pending) co_await settled_.wait();
  co_return state_ == State::Synced;
}

asio::awaitable<bool> wait_for_cache_sync(std::vector<const SyncLatch*> latches) {
  for (const SyncLatch* latch : latches) {
    const bool synced = co_await latch->wait();
    if (!synced) co_return false;
  }
  co_return true;
}

void SingleFileTracker::finished() {
  if (outstanding_ == 0) crash("more initial items were finished than started");
  --outstanding_;
  look();
}

void SingleFileTracker::upstream_has_synced() {
  upstream_has_synced_ = true;
  look();
}

void SingleFileTracker::look() {
  if (upstream_has_synced_ && outstanding_ == 0) latch_.set();
}

}  // namespace mkp
