#pragma once

#include <cstdint>

#include "runner/clock.h"

namespace mkp {

// A rate limiter: earns one token each `interval`, holds at most `burst` of them and starts full.
// It counts in integer nanoseconds of earned time, a token being `interval` of them, so that a
// token is there exactly when its time has passed; client-go's counts fractions of tokens and needs
// care where they round. It has no clock: the caller passes the time. Time that goes backwards
// earns nothing. Belongs to one thread.
class TokenBucket {
 public:
  // `interval` > 0 and `burst` >= 1.
  TokenBucket(Duration interval, int burst);

  // Takes a token if there is one; otherwise changes nothing.
  bool allow(TimePoint now);

  // Takes a token even if it is not earned yet; returns how long to wait until it is. allow() says
  // no until such debt is paid.
  Duration reserve(TimePoint now);

  // The time up to `now` earns nothing that was not counted yet: what is to be limited was still
  // under way.
  void earn_from(TimePoint now);

 private:
  // The earned time as it is at `now`.
  Duration advance(TimePoint now) const;

  Duration interval_;
  Duration capacity_;
  Duration credit_;  // negative while in debt
  TimePoint last_ = TimePoint::min();
};

}  // namespace mkp
