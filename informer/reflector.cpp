#include "informer/reflector.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <random>
#include <utility>
#include <variant>

#include "informer/pager.h"

namespace mkp {

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

constexpr int kPageSize = 500;
constexpr std::chrono::seconds kLeastWatchTimeout = 5min;
constexpr Duration kInternalErrorQuiet = 1min;
constexpr Duration kSlowList = 10s;
// A streaming list that ends sooner, and before its bookmark, is not asked for again at once.
constexpr Duration kCutShort = 1s;

Backoff::Random real_random() {
  return [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

bool is_temporary(const Error& error) {
  return error.code == Errc::Unavailable || error.code == Errc::Unreachable;
}

}  // namespace

Backoff Reflector::default_backoff() {
  return Backoff(Backoff::Limits{.first = 800ms, .cap = 30s, .factor = 2.0, .jitter = 1.0});
}

Backoff Reflector::default_unreachable_backoff() {
  return Backoff(Backoff::Limits{.first = 100ms, .cap = 800ms, .factor = 2.0, .jitter = 0.5});
}

Reflector::Reflector(ObjectSource& source, ReflectorStore& target, Clock& clock, Options options)
    : source_(source),
      target_(target),
      clock_(clock),
      options_(std::move(options)),
      streaming_lists_(options_.streaming_lists && source.supports_initial_events()),
      reader_(options_.name, options_.expects, clock),
      watch_list_(options_.name, source, reader_, clock),
      delays_(options_.name, options_.backoff, options_.unreachable_backoff, clock),
      internal_errors_(options_.max_internal_error_retry, kInternalErrorQuiet) {
  if (!options_.random) options_.random = real_random();
}

asio::awaitable<void> Reflector::run() {
  for (;;) {
    const Result<> attempt = co_await list_and_watch();
    if (attempt) {
      co_await delays_.wait();
    } else {
      report(attempt.error());
      co_await delays_.wait_after(attempt.error());
    }
  }
}

asio::awaitable<Result<>> Reflector::list_and_watch() {
  std::unique_ptr<EventStream> stream;
  if (streaming_lists_) {
    Result<std::unique_ptr<EventStream>> streamed = co_await stream_list();
    if (streamed) {
      stream = std::move(*streamed);
    } else {
      spdlog::info("{}: cannot be listed as a stream, so it is listed in pages this time: {}",
                   options_.name, streamed.error().what);
    }
  }
  if (!stream) {
    Result<> listed = co_await list();
    if (!listed) co_return listed;
  }
  if (options_.resync_period == Duration::zero()) {
    co_return co_await watch_until_broken(std::move(stream));
  }

  std::variant<Result<>, Error> ended =
      co_await (watch_until_broken(std::move(stream)) || resync_until_failure());
  if (auto* watched = std::get_if<Result<>>(&ended)) co_return std::move(*watched);
  spdlog::warn("{}: resync failed, so everything is listed again: {}", options_.name,
               std::get<Error>(ended).what);
  co_return Result<>();
}

asio::awaitable<Result<std::unique_ptr<EventStream>>> Reflector::stream_list() {
  const TimePoint asked_at = clock_.now();
  for (;;) {
    Result<std::optional<StreamedList>> streamed = co_await request_streamed_list();
    if (!streamed) co_return tl::unexpected<Error>(std::move(streamed.error()));
    std::optional<StreamedList>& list = *streamed;
    if (!list) continue;
    Result<> replaced = replace(std::move(list->objects), list->resource_version, asked_at);
    if (!replaced) co_return fail(std::move(replaced.error()), "unable to sync watch-list result");
    co_return std::move(list->stream);
  }
}

// One request, and the wait after it when it came to nothing; nothing: ask again.
asio::awaitable<Result<std::optional<StreamedList>>> Reflector::request_streamed_list() {
  const TimePoint asked_at = clock_.now();
  const WatchQuery query = watch_query(true);
  Result<std::optional<StreamedList>> streamed =
      co_await watch_list_.request(query, target_.transformer());
  delays_.note(streamed);
  if (streamed) {
    // Each of these costs the server a whole list, so that they had better not follow each other.
    const bool is_cut_short = !*streamed && clock_.now() - asked_at < kCutShort;
    if (is_cut_short) co_await delays_.wait();
    co_return std::move(streamed);
  }
  const Error& error = streamed.error();
  if (error.code == Errc::Expired) {
    // Whatever is the newest will do, and at once. If even that is gone, there is no hurry.
    if (std::exchange(seen_is_unavailable_, true)) co_await delays_.wait();
    co_return std::nullopt;
  }
  if (!is_temporary(error)) co_return std::move(streamed);
  co_await delays_.wait_after(error);
  co_return std::nullopt;
}

asio::awaitable<Result<>> Reflector::list() {
  const TimePoint asked_at = clock_.now();
  Result<Listing> listing = co_await list_in_pages();
  delays_.note(listing);
  if (!listing) {
    co_return fail(std::move(listing.error()), fmt::format("failed to list {}", options_.name));
  }
  Result<> replaced = replace(std::move(listing->objects), listing->resource_version, asked_at);
  if (!replaced) co_return fail(std::move(replaced.error()), "unable to sync list result");
  co_return Result<>();
}

asio::awaitable<Result<Listing>> Reflector::list_in_pages() {
  ListQuery query;
  query.resource_version = relist_version();
  query.limit = page_size(query.resource_version);
  Result<PagedListing> pages = co_await list_pages(source_, query);
  if (!pages && pages.error().code == Errc::Expired) {
    // Whatever is the newest will do, and at once.
    seen_is_unavailable_ = true;
    query.resource_version = relist_version();
    pages = co_await list_pages(source_, query);
  }
  if (!pages) co_return tl::unexpected<Error>(std::move(pages.error()));
  // A source with a cache answers this one out of it, and then knows no limit.
  if (query.resource_version == "0" && pages->paginated) source_pages_all_ = true;
  co_return std::move(pages->listing);
}

asio::awaitable<Result<>> Reflector::watch_until_broken(std::unique_ptr<EventStream> stream) {
  for (;;) {
    const TimePoint asked_at = clock_.now();
    if (!stream) {
      const WatchQuery query = watch_query(false);
      Result<std::unique_ptr<EventStream>> opened = co_await source_.watch(query);
      delays_.note(opened);
      if (opened) {
        stream = std::move(*opened);
      } else if (is_temporary(opened.error())) {
        // What we have seen is still good, so there is nothing to list.
        co_await delays_.wait_after(opened.error());
        continue;
      } else {
        co_return fail(std::move(opened.error()), fmt::format("failed to watch {}", options_.name));
      }
    }
    const StreamEnd end = co_await read(*stream, asked_at);
    stream.reset();
    const bool on = co_await can_watch_on(end);
    if (!on) co_return Result<>();
  }
}

asio::awaitable<StreamEnd> Reflector::read(EventStream& stream, TimePoint asked_at) {
  // A watch from nowhere first repeats what there is, in no order of versions: these say nothing of
  // how far we are.
  bool versions_count = !seen_.empty() && seen_ != "0";
  const StreamReader::Heard heard = [&](const WatchEvent& event) {
    versions_count = versions_count || event.type != WatchEvent::Type::Added;
    if (versions_count) saw(event.resource_version);
    return true;
  };
  co_return co_await reader_.read(stream, target_, asked_at, heard);
}

asio::awaitable<bool> Reflector::can_watch_on(const StreamEnd& end) {
  if (end.worked) delays_.note_success();
  if (end.reason != StreamEnd::Reason::Failed) co_return true;
  const Error& error = end.error;
  if (error.code == Errc::Unavailable) {
    co_await delays_.wait_after(error);
    co_return true;
  }
  if (error.code == Errc::Unreachable) {
    // The connection broke, and what we have seen is still good.
    spdlog::debug("{}: watch broke, and goes on from {}: {}", options_.name, seen_, error.what);
    if (!end.worked) co_await delays_.wait_after(error);
    co_return true;
  }
  if (error.code == Errc::Internal && internal_errors_.allows_retry(clock_.now())) co_return true;
  const bool is_routine = error.code == Errc::Expired;
  spdlog::log(is_routine ? spdlog::level::debug : spdlog::level::warn,
              "{}: watch ended, so everything is listed again: {}", options_.name, error.what);
  co_return false;
}

asio::awaitable<Error> Reflector::resync_until_failure() {
  for (;;) {
    co_await clock_.sleep_until(later(clock_.now(), options_.resync_period));
    if (options_.should_resync && !options_.should_resync()) continue;
    Result<> resynced = target_.resync();
    if (!resynced) co_return std::move(resynced.error());
  }
}

// Of the streaming list from the last version that the source still has, else from anywhere.
WatchQuery Reflector::watch_query(bool initial_events) {
  WatchQuery query;
  if (!initial_events || !seen_is_unavailable_) query.resource_version = seen_;
  query.initial_events = initial_events;
  const auto least = std::max(options_.min_watch_timeout, kLeastWatchTimeout);
  const double seconds = static_cast<double>(least.count()) * (1.0 + options_.random());
  query.timeout = std::chrono::seconds(static_cast<std::chrono::seconds::rep>(seconds));
  return query;
}

std::string Reflector::relist_version() const {
  if (seen_is_unavailable_) return "";
  return seen_.empty() ? "0" : seen_;
}

int Reflector::page_size(const std::string& resource_version) const {
  if (options_.page_size != 0) return options_.page_size;
  if (source_pages_all_ || resource_version.empty() || resource_version == "0") return kPageSize;
  // With a limit a server reads this very version from its database, without one its cache will do.
  return 0;
}

Result<> Reflector::replace(std::vector<ObjectPtr> objects, const std::string& resource_version,
                            TimePoint asked_at) {
  seen_is_unavailable_ = false;
  delays_.note_success();
  const Duration taken = clock_.now() - asked_at;
  if (taken > kSlowList) {
    spdlog::info("{}: it took {} s to list {} objects", options_.name,
                 std::chrono::duration_cast<std::chrono::seconds>(taken).count(), objects.size());
  }
  const bool is_relist = !seen_.empty();
  Result<> replaced = target_.replace(std::move(objects), resource_version);
  if (replaced && is_relist && options_.on_relist) options_.on_relist();
  if (replaced) saw(resource_version);
  return replaced;
}

void Reflector::saw(const std::string& resource_version) {
  seen_ = resource_version;
  target_.update_resource_version(seen_);
}

void Reflector::report(const Error& error) const {
  if (options_.on_watch_error) return options_.on_watch_error(error);
  if (is_temporary(error)) return;  // RetryDelays says it
  if (error.code == Errc::Expired) {
    spdlog::info("{}: is listed again: {}", options_.name, error.what);
    return;
  }
  spdlog::error("{}: {}; what is known stays in use, and it is tried again", options_.name,
                error.what);
}

}  // namespace mkp
