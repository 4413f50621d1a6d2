#include "informer/reflector.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>
#include <variant>

namespace mkp {

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

// The sequence of delays starts over when its last start is longer ago than this.
constexpr Duration kBackoffReset = 2min;
// A watch that ends sooner, and empty, was no watch.
constexpr Duration kVeryShortWatch = 1s;

}  // namespace

Backoff Reflector::default_backoff() {
  return Backoff(Backoff::Limits{.first = 800ms, .cap = 30s, .factor = 2.0, .jitter = 1.0});
}

Reflector::Reflector(ObjectSource& source, ReflectorStore& target, Clock& clock, Options options)
    : source_(source),
      target_(target),
      clock_(clock),
      options_(std::move(options)),
      backoff_started_(clock.now()) {}

asio::awaitable<void> Reflector::run() {
  for (;;) {
    const Result<> attempt = co_await list_and_watch();
    if (!attempt) report(attempt.error());
    co_await back_off();
  }
}

asio::awaitable<Result<>> Reflector::list_and_watch() {
  Result<> listed = co_await list();
  if (!listed) co_return listed;
  if (options_.resync_period == Duration::zero()) co_return co_await watch_until_broken();

  std::variant<Result<>, Error> ended = co_await (watch_until_broken() || resync_until_failure());
  if (auto* watched = std::get_if<Result<>>(&ended)) co_return std::move(*watched);
  spdlog::warn("{}: resync failed, so everything is listed again: {}", options_.name,
               std::get<Error>(ended).what);
  co_return Result<>();
}

asio::awaitable<Result<>> Reflector::list() {
  Result<Listing> listing = co_await source_.list(relist_version());
  if (!listing && listing.error().code == Errc::Expired) {
    // Whatever is the newest will do, and at once.
    seen_is_unavailable_ = true;
    listing = co_await source_.list(relist_version());
  }
  if (!listing) {
    co_return fail(std::move(listing.error()), fmt::format("failed to list {}", options_.name));
  }
  seen_is_unavailable_ = false;
  Result<> replaced = target_.replace(std::move(listing->objects), listing->resource_version);
  if (!replaced) co_return fail(std::move(replaced.error()), "unable to sync list result");
  saw(listing->resource_version);
  co_return Result<>();
}

asio::awaitable<Result<>> Reflector::watch_until_broken() {
  for (;;) {
    const TimePoint asked_at = clock_.now();
    Result<std::unique_ptr<EventStream>> stream = co_await source_.watch(seen_);
    if (!stream && stream.error().code == Errc::Unavailable) {
      // Nobody there, or too busy: what we have seen is still good, so there is nothing to list.
      spdlog::debug("{}: cannot watch yet: {}", options_.name, stream.error().what);
      co_await back_off();
      continue;
    }
    if (!stream) {
      co_return fail(std::move(stream.error()), fmt::format("failed to watch {}", options_.name));
    }
    const StreamEnd end = co_await consume(**stream, asked_at);
    stream->reset();
    if (end.reason == StreamEnd::Reason::Broken) {
      const bool routine = end.error.code == Errc::Expired;
      spdlog::log(routine ? spdlog::level::debug : spdlog::level::warn,
                  "{}: watch ended, so everything is listed again: {}", options_.name,
                  end.error.what);
      co_return Result<>();
    }
    if (end.reason == StreamEnd::Reason::Busy) co_await back_off();
  }
}

asio::awaitable<Reflector::StreamEnd> Reflector::consume(EventStream& stream, TimePoint asked_at) {
  // A watch from nowhere first repeats what there is, in no order of versions: these say nothing of
  // how far we are.
  bool versions_count = !seen_.empty() && seen_ != "0";
  std::size_t events = 0;
  for (;;) {
    Result<std::optional<WatchEvent>> next = co_await stream.next();
    if (!next) {
      const bool busy = next.error().code == Errc::Unavailable;
      co_return StreamEnd{busy ? StreamEnd::Reason::Busy : StreamEnd::Reason::Broken,
                          std::move(next.error())};
    }
    const std::optional<WatchEvent>& event = *next;
    if (!event) break;
    if (!apply(*event)) continue;
    versions_count = versions_count || event->type != WatchEvent::Type::Added;
    if (versions_count) saw(event->resource_version);
    ++events;
  }
  if (events == 0 && clock_.now() - asked_at < kVeryShortWatch) {
    Error why{Errc::Invalid,
              fmt::format("very short watch: {}: Unexpected watch close - watch lasted less than a "
                          "second and no items received",
                          options_.name)};
    co_return StreamEnd{StreamEnd::Reason::Broken, std::move(why)};
  }
  co_return StreamEnd{};
}

bool Reflector::apply(const WatchEvent& event) {
  if (event.type == WatchEvent::Type::Bookmark) {
    target_.bookmark(event.resource_version);
    return true;
  }
  const bool fits = event.object && event.object->meta() != nullptr &&
                    (!options_.expects || options_.expects(*event.object));
  if (!fits) {
    spdlog::error("{}: an event of another kind was passed over", options_.name);
    return false;
  }
  Result<> applied;
  switch (event.type) {
    case WatchEvent::Type::Added:
      applied = target_.add(event.object);
      break;
    case WatchEvent::Type::Modified:
      applied = target_.update(event.object);
      break;
    case WatchEvent::Type::Deleted:
      applied = target_.remove(event.object);
      break;
    case WatchEvent::Type::Bookmark:
      break;
  }
  if (!applied) {
    spdlog::error("{}: an event was lost, so its object may be out of date: {}", options_.name,
                  applied.error().what);
  }
  return true;
}

asio::awaitable<Error> Reflector::resync_until_failure() {
  for (;;) {
    co_await clock_.sleep_until(later(clock_.now(), options_.resync_period));
    if (options_.should_resync && !options_.should_resync()) continue;
    Result<> resynced = target_.resync();
    if (!resynced) co_return std::move(resynced.error());
  }
}

// All that retries shares one sequence of delays.
asio::awaitable<void> Reflector::back_off() {
  const TimePoint now = clock_.now();
  if (now - backoff_started_ > kBackoffReset) {
    options_.backoff.reset();
    backoff_started_ = now;
  }
  co_await clock_.sleep_until(later(now, options_.backoff.next()));
}

void Reflector::saw(const std::string& resource_version) {
  seen_ = resource_version;
  target_.update_resource_version(seen_);
}

std::string Reflector::relist_version() const {
  if (seen_is_unavailable_) return "";
  return seen_.empty() ? "0" : seen_;
}

void Reflector::report(const Error& error) const {
  if (options_.on_watch_error) return options_.on_watch_error(error);
  if (error.code == Errc::Expired) {
    spdlog::info("{}: is listed again: {}", options_.name, error.what);
    return;
  }
  spdlog::error("{}: {}; what is known stays in use, and it is tried again", options_.name,
                error.what);
}

}  // namespace mkp
