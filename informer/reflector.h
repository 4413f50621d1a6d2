#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "informer/object_source.h"
#include "informer/store.h"
#include "runner/backoff.h"
#include "runner/clock.h"

namespace mkp {

// Keeps a store or queue true to one collection of a source: lists it, watches it, and when the
// watch cannot go on lists it again, for ever. Belongs to the loop thread; source, target and clock
// are borrowed.
class Reflector {
 public:
  struct Options {
    std::string name = "reflector";  // for logs: what is reflected, such as "Service"
    // Objects that it says no to are logged and passed over. Nothing given: all are welcome.
    std::function<bool(const Object&)> expects{};
    Duration resync_period{};               // zero: never
    std::function<bool()> should_resync{};  // asked each period; nothing given: yes
    // Told why a list, or the request for a watch, failed; must be quick. Nothing given: logged.
    std::function<void(const Error&)> on_watch_error{};
    Backoff backoff = default_backoff();
  };
  // client-go's: 800 ms, doubling up to 30 s, each stretched by up to its own length.
  static Backoff default_backoff();

  Reflector(ObjectSource& source, ReflectorStore& target, Clock& clock, Options options);

  // Ends by cancellation only.
  asio::awaitable<void> run();

  // One attempt: a list, then watches as long as the source can go on from what was seen. Fails
  // only when the list or a request for a watch did; a watch that worked and broke is the routine
  // end of an attempt.
  asio::awaitable<Result<>> list_and_watch();

  // Empty before the first list.
  const std::string& last_sync_resource_version() const { return seen_; }

 private:
  // Why a stream is not read any more.
  struct StreamEnd {
    enum class Reason { Closed, Busy, Broken } reason = Reason::Closed;
    Error error;
  };

  asio::awaitable<Result<>> list();
  asio::awaitable<Result<>> watch_until_broken();
  asio::awaitable<StreamEnd> consume(EventStream& stream, TimePoint asked_at);
  asio::awaitable<Error> resync_until_failure();
  asio::awaitable<void> back_off();

  // False when the event is not for us.
  bool apply(const WatchEvent& event);
  void saw(const std::string& resource_version);
  std::string relist_version() const;
  void report(const Error& error) const;

  ObjectSource& source_;
  ReflectorStore& target_;
  Clock& clock_;
  Options options_;
  TimePoint backoff_started_;
  std::string seen_;                  // the resource version to go on from
  bool seen_is_unavailable_ = false;  // the source could not list at it
};

}  // namespace mkp
