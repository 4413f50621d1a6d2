#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "runner/clock.h"

namespace mkp {

// Growing delays between attempts: first, first*factor, ... up to the cap, each stretched by a
// random share of itself so that many clients that fail together do not come back together. Belongs
// to one thread.
class Backoff {
 public:
  struct Limits {
    Duration first{};
    Duration cap{};
    double factor = 2.0;
    double jitter = 0.0;  // a delay d becomes d + [0, jitter)*d, as in client-go's wait.Backoff
  };
  // A number in [0, 1); tests pass one that is no surprise.
  using Random = std::function<double()>;

  explicit Backoff(Limits limits, Random random = real_random())
      : limits_(limits), random_(std::move(random)), current_(limits.first) {}

  // How long to wait before the next attempt.
  Duration next() {
    const double delay = static_cast<double>(current_.count());
    const Duration jittered(static_cast<Duration::rep>(delay * (1.0 + limits_.jitter * random_())));
    const Duration grown(static_cast<Duration::rep>(
        std::min(delay * limits_.factor, static_cast<double>(limits_.cap.count()))));
    current_ = std::max(current_, grown);
    return jittered;
  }

  // The attempt succeeded: the next failure starts small again.
  void reset() { current_ = limits_.first; }

 private:
  static Random real_random() {
    return [engine = std::mt19937_64(std::random_device{}())]() mutable {
      return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
    };
  }

  Limits limits_;
  Random random_;
  Duration current_;
};

}  // namespace mkp
