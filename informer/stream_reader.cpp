#include "informer/stream_reader.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>

#include "informer/keys.h"

namespace mkp {

namespace {

using namespace std::chrono_literals;

// A watch that ends sooner, and empty, was no watch.
constexpr Duration kVeryShortWatch = 1s;

Result<> applied(const WatchEvent& event, EventTarget& target) {
  switch (event.type) {
    case WatchEvent::Type::Added:
      return target.add(event.object);
    case WatchEvent::Type::Modified:
      return target.update(event.object);
    case WatchEvent::Type::Deleted:
      return target.remove(event.object);
    case WatchEvent::Type::Bookmark:
      target.bookmark(event.resource_version);
      return {};
  }
  return {};
}

}  // namespace

asio::awaitable<StreamEnd> StreamReader::read(EventStream& stream, EventTarget& target,
                                              TimePoint asked_at, Heard heard) const {
  StreamEnd end;
  for (;;) {
    Result<std::optional<WatchEvent>> next = co_await stream.next();
    end.worked = end.worked || clock_.now() - asked_at >= kVeryShortWatch;
    if (!next) {
      end.reason = StreamEnd::Reason::Failed;
      end.error = std::move(next.error());
      co_return std::move(end);
    }
    const std::optional<WatchEvent>& event = *next;
    if (!event) break;
    if (!apply(*event, target)) continue;
    end.worked = true;
    if (heard(*event)) continue;
    end.reason = StreamEnd::Reason::Enough;
    co_return std::move(end);
  }
  if (!end.worked) {
    end.reason = StreamEnd::Reason::Failed;
    end.error.what = fmt::format(
        "very short watch: {}: Unexpected watch close - watch lasted less than a second and no "
        "items received",
        name_);
  }
  co_return std::move(end);
}

bool StreamReader::apply(const WatchEvent& event, EventTarget& target) const {
  const bool readable = as_unreadable(event.object) == nullptr;
  // The source has said what is wrong with it. That it is gone can be told all the same.
  if (!readable && event.type != WatchEvent::Type::Deleted) {
    target.keep(event.object);
    return true;
  }
  if (readable && !is_welcome(event)) {
    spdlog::error("{}: an event of another kind was passed over", name_);
    return false;
  }
  const Result<> outcome = applied(event, target);
  if (!outcome) {
    spdlog::error("{}: an event was lost, so its object may be out of date: {}", name_,
                  outcome.error().what);
  }
  return true;
}

bool StreamReader::is_welcome(const WatchEvent& event) const {
  if (event.type == WatchEvent::Type::Bookmark) return true;
  return event.object && event.object->meta() != nullptr && (!expects_ || expects_(*event.object));
}

}  // namespace mkp
