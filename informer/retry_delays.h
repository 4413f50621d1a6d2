#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <utility>

#include "runner/backoff.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// The delays between the requests of one reflector, in two sequences, as there are two reasons to
// wait. A source that answers, but has no time or fails, is given long and growing delays: each
// request costs it something. One that nobody answers for costs nothing to ask, and when it is back
// everybody wants to know it within seconds; so that sequence is short, and with the first answer
// the long one starts anew. Both are stretched at random, by Backoff: reflectors and nodes that
// lost a source together do not come back together. Belongs to the loop thread.
class RetryDelays {
 public:
  // `name`: for logs, as the reflector's.
  RetryDelays(std::string name, Backoff busy, Backoff unreachable, Clock& clock)
      : name_(std::move(name)),
        busy_(std::move(busy)),
        unreachable_(std::move(unreachable)),
        clock_(clock),
        busy_since_(clock.now()) {}

  // After an attempt that ended as it should.
  asio::awaitable<void> wait();
  // After a failure. Says so in the log when it is Errc::Unavailable; of an outage whoever has the
  // source tells, once for all who read from it. `error` outlives the call.
  asio::awaitable<void> wait_after(const Error& error);

  // Every outcome of a request: any but Errc::Unreachable is an answer.
  template <class T>
  void note(const Result<T>& outcome) {
    if (outcome || outcome.error().code != Errc::Unreachable) note_answer();
  }
  // A list arrived, or a watch was of use: the next outage is one of its own.
  void note_success() { unreachable_.reset(); }

 private:
  asio::awaitable<void> wait_unreachable(const Error& error);
  void note_answer();
  void start_over();

  std::string name_;
  Backoff busy_;
  Backoff unreachable_;
  Clock& clock_;
  TimePoint busy_since_;  // when that sequence started
  bool is_unreachable_ = false;
};

}  // namespace mkp
