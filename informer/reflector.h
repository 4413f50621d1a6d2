#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/object_source.h"
#include "informer/retry_delays.h"
#include "informer/retry_window.h"
#include "informer/store.h"
#include "informer/stream_reader.h"
#include "informer/watch_list.h"
#include "runner/backoff.h"
#include "runner/clock.h"

namespace mkp {

// Keeps a store or queue true to one collection of a source: lists it, watches it, and when the
// watch cannot go on lists it again, for ever. Belongs to the loop thread; source, target and clock
// are borrowed.
//
// A list is a streaming one where the source knows those, and else, or when that one fails, comes
// in pages. What is known stays in use until a whole list has arrived, and nothing is listed while
// the source is busy or unreachable but can still be watched from the last version seen.
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
    std::function<void()> on_relist{};  // after every list but the first; must be quick
    // Delays after whatever went wrong, but for a source that is unreachable: see RetryDelays.
    Backoff backoff = default_backoff();
    Backoff unreachable_backoff = default_unreachable_backoff();
    bool streaming_lists = true;  // false: not even where the source knows them
    // Objects a page. Zero: what suits the source, which is 500, or all at once where a limit would
    // keep a server from answering out of its cache.
    int page_size = 0;
    // Watches are to last between this and twice as long, at random, so that they do not all end
    // together. Less than 5 minutes count as 5 minutes.
    std::chrono::seconds min_watch_timeout = std::chrono::minutes(5);
    // For how long streams that end with Errc::Internal are followed by a watch at once rather than
    // by a list. Zero: never.
    Duration max_internal_error_retry{};
    Backoff::Random random{};  // for the time that a watch lasts; nothing given: real
  };
  // client-go's: 800 ms, doubling up to 30 s, each stretched by up to its own length.
  static Backoff default_backoff();
  // 100 ms, doubling up to 800 ms, each stretched by up to half: after an outage of any length the
  // source is asked within 1.2 s of its return, and where that leads to a list, that is asked for
  // within 1.6 s more.
  static Backoff default_unreachable_backoff();

  Reflector(ObjectSource& source, ReflectorStore& target, Clock& clock, Options options);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Ends by cancellation only.
  asio::awaitable<void> run();

  // One attempt: a list, then watches as long as the source can go on from what was seen. Fails
  // only when the list or a request for a watch did; a watch that worked and broke is the routine
  // end of an attempt.
  asio::awaitable<Result<>> list_and_watch();

  // Empty before the first list.
  const std::string& last_sync_resource_version() const { return seen_; }
  bool is_streaming_lists() const { return streaming_lists_; }

 private:
  // A whole list by way of a stream, which goes on from there.
  asio::awaitable<Result<std::unique_ptr<EventStream>>> stream_list();
  asio::awaitable<Result<std::optional<StreamedList>>> request_streamed_list();
  asio::awaitable<Result<>> list();
  asio::awaitable<Result<Listing>> list_in_pages();
  // `stream`: where to begin; may be null.
  asio::awaitable<Result<>> watch_until_broken(std::unique_ptr<EventStream> stream);
  asio::awaitable<StreamEnd> read(EventStream& stream, TimePoint asked_at);
  // False: list again.
  asio::awaitable<bool> can_watch_on(const StreamEnd& end);
  asio::awaitable<Error> resync_until_failure();

  WatchQuery watch_query(bool initial_events);
  std::string relist_version() const;
  int page_size(const std::string& resource_version) const;
  Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version,
                   TimePoint asked_at);
  void saw(const std::string& resource_version);
  void report(const Error& error) const;

  ObjectSource& source_;
  ReflectorStore& target_;
  Clock& clock_;
  Options options_;
  bool streaming_lists_;
  StreamReader reader_;
  WatchList watch_list_;
  RetryDelays delays_;
  RetryWindow internal_errors_;
  std::string seen_;                  // the resource version to go on from
  bool seen_is_unavailable_ = false;  // the source could not list at it
  bool source_pages_all_ = false;     // it has no cache that would answer in one piece
};

}  // namespace mkp
