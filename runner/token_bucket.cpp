#include "runner/token_bucket.h"

#include <algorithm>
#include <cassert>

namespace mkp {
namespace {

// a - b for a >= b, which two signed ends can be too far apart to say.
std::uint64_t distance(Duration::rep a, Duration::rep b) {
  return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

Duration times(Duration interval, int count) {
  if (interval > Duration::max() / count) return Duration::max();
  return interval * count;
}

}  // namespace

TokenBucket::TokenBucket(Duration interval, int burst)
    : interval_(interval), capacity_(times(interval, std::max(burst, 1))), credit_(capacity_) {
  assert(interval > Duration::zero() && burst >= 1);
}

bool TokenBucket::allow(TimePoint now) {
  const Duration credit = advance(now);
  if (credit < interval_) return false;
  credit_ = credit - interval_;
  earn_from(now);
  return true;
}

Duration TokenBucket::reserve(TimePoint now) {
  const Duration credit = advance(now);
  earn_from(now);
  // A debt beyond all time is as good as endless.
  credit_ = credit < Duration::min() + interval_ ? Duration::min() : credit - interval_;
  if (credit_ >= Duration::zero()) return Duration::zero();
  return credit_ == Duration::min() ? Duration::max() : -credit_;
}

void TokenBucket::earn_from(TimePoint now) { last_ = std::max(last_, now); }

Duration TokenBucket::advance(TimePoint now) const {
  if (now <= last_) return credit_;
  const std::uint64_t elapsed =
      distance(now.time_since_epoch().count(), last_.time_since_epoch().count());
  if (elapsed >= distance(capacity_.count(), credit_.count())) return capacity_;
  return Duration(
      static_cast<Duration::rep>(static_cast<std::uint64_t>(credit_.count()) + elapsed));
}

}  // namespace mkp
