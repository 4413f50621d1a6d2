#pragma once

#include <optional>

#include "runner/clock.h"

namespace mkp {

// For how long failures may be answered by trying again at once (client-go's RetryWithDeadline). A
// window opens with a failure. Once it is over, or when `quiet` passed without a failure, the next
// failure opens a new one.
class RetryWindow {
 public:
  // `length` zero: never at once.
  RetryWindow(Duration length, Duration quiet) : length_(length), quiet_(quiet) {}

  // There was a failure at `now`: whether to try again at once.
  bool allows_retry(TimePoint now) {
    if (last_ && now - *last_ >= quiet_) opened_.reset();
    last_ = now;
    if (!opened_) opened_ = now;
    if (length_ <= Duration::zero()) return false;
    if (now - *opened_ <= length_) return true;
    opened_.reset();
    return false;
  }

 private:
  Duration length_;
  Duration quiet_;
  std::optional<TimePoint> opened_;
  std::optional<TimePoint> last_;
};

}  // namespace mkp
