#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <map>
#include <string>

#include "informer/api_client.h"
#include "informer/signal.h"
#include "proxy/types.h"
#include "runner/clock.h"
#include "runner/wall_time.h"

namespace mkp {

// Something that people who look at an object should read: an Event of events.k8s.io/v1.
struct ClusterEvent {
  enum class Type : std::uint8_t { Normal, Warning };
  // What it is about: this node, or a Service when that is named.
  ServiceName service;
  Type type = Type::Normal;
  std::string reason;  // "Starting"
  std::string action;  // "StartKubeProxy"
  std::string note;

  auto operator<=>(const ClusterEvent&) const = default;
};

// Tells the API server of events. What it does not take is lost: an event is news, not state.
// Belongs to the loop thread.
class EventRecorder {
 public:
  EventRecorder(ApiClient& client, std::string node_name, Clock& clock);

  // Nothing happens to one that was told within the last six minutes, and to more than a few dozen
  // at once.
  void note(ClusterEvent event);

  const std::string& node_name() const { return node_name_; }

  // Sends what is noted, for ever.
  asio::awaitable<void> run();
  // Returns once all that was noted is sent, or after two seconds; while run() runs.
  asio::awaitable<void> flush();

 private:
  asio::awaitable<void> send(ClusterEvent event);
  asio::awaitable<void> wait_until_sent();

  ApiClient& client_;
  std::string node_name_;
  Clock& clock_;
  std::deque<ClusterEvent> waiting_;
  std::map<ClusterEvent, TimePoint> told_;
  bool sending_ = false;
  Signal noted_;
  Signal sent_;
};

// The event as the API wants it. `unique` makes its name another one than those of the same object.
std::string to_json(const ClusterEvent& event, const std::string& node_name, WallTime time,
                    std::uint64_t unique);

}  // namespace mkp
