#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "informer/object_source.h"

namespace mkp {

// The objects of one kind out of a directory of manifests, as list and watch. Versions are numbers
// of readings; the events of one reading share one, and only the last of them carries it, so that
// whoever loses the stream in between sees the whole reading again. Outlives its streams.
class ManifestFeed final : public ObjectSource {
 public:
  using List = std::function<std::vector<ObjectPtr>()>;
  // `progress` is called when a stream has taken what there was, or is gone.
  ManifestFeed(List objects, std::function<void()> progress);

  asio::awaitable<Result<Listing>> list(ListQuery query) override;
  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery query) override;
  bool supports_initial_events() const override { return false; }

  // A reading is complete; `events` is what it changed, perhaps nothing.
  void add_reading(std::uint64_t reading, std::vector<WatchEvent> events);

  // How many events there have been so far, and whether every open stream has taken that many and
  // asked for more.
  std::uint64_t end() const { return first_ + events_.size(); }
  bool is_taken(std::uint64_t end) const;

 private:
  class Stream;
  struct Reading {
    std::uint64_t number = 0;
    std::uint64_t end = 0;  // of its events
  };

  List objects_;
  std::function<void()> progress_;
  std::uint64_t reading_ = 0;  // 0: none yet
  // The last reading with events is kept whole; before that, a few thousand events.
  std::deque<WatchEvent> events_;
  std::uint64_t first_ = 0;       // number of events that came before events_
  std::deque<Reading> readings_;  // those with events that are still in events_
  std::uint64_t base_ = 0;        // the oldest reading that one can watch from
  std::set<Stream*> streams_;
};

}  // namespace mkp
