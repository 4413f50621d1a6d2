#pragma once

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "runner/clock.h"

namespace mkp {

// The wait for the bookmark that ends a stream's initial events: what to say when it is long.
class InitialEventsWait {
 public:
  InitialEventsWait(std::string name, TimePoint since) : name_(std::move(name)), since_(since) {}

  void saw_event(TimePoint now) { last_event_ = now; }

  // Asked each `interval`. Nothing while events arrive.
  std::optional<std::string> warning(TimePoint now, Duration interval) const {
    if (!last_event_) {
      return fmt::format(
          "{}: awaiting required bookmark event for initial events stream, no events received for "
          "{}",
          name_, seconds_text(now - since_));
    }
    if (now - *last_event_ < interval) return std::nullopt;
    return fmt::format(
        "{}: hasn't received required bookmark event marking the end of initial events stream, "
        "received last event {} ago",
        name_, seconds_text(now - *last_event_));
  }

 private:
  static std::string seconds_text(Duration time) {
    return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(time).count());
  }

  std::string name_;
  TimePoint since_;
  std::optional<TimePoint> last_event_;
};

}  // namespace mkp
