#include "tests/api_server/watch_session.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace mkp::api {
namespace {

constexpr std::size_t kWriteBytes = 65536;  // frames that wait are sent together, up to that
constexpr auto kLastBookmark = std::chrono::seconds(2);  // before the end

}  // namespace

WatchSession::WatchSession(ServerState& state, const ApiRequest& request, ListParameters parameters,
                           Encoding encoding, const asio::any_io_executor& loop)
    : state_(state),
      request_(request),
      parameters_(std::move(parameters)),
      encoding_(encoding),
      deadline_(
          later(state.clock.now(), parameters_.timeout.value_or(state.settings.longest_watch))),
      wake_(loop, asio::steady_timer::time_point::max()) {
  begin();
  state_.watches.insert(this);
}

WatchSession::~WatchSession() { state_.watches.erase(this); }

void WatchSession::begin() {
  const bool everything = parameters_.send_initial_events.value_or(parameters_.revision == 0);
  if (everything) {
    tell_everything();
  } else if (parameters_.revision != 0 && parameters_.revision < state_.store.compacted()) {
    fail(expired_watch(parameters_.revision, state_.store.compacted()));
  } else if (parameters_.revision != 0) {
    for (const Change& change :
         state_.store.changes_after(request_.resource->kind, parameters_.revision)) {
      if (std::optional<std::string> frame = frame_of(change)) push(std::move(*frame));
    }
  }
  backlog_ = frames_.size() + state_.settings.watch_backlog;
}

void WatchSession::tell_everything() {
  for (const StoredObjectPtr& object : state_.store.objects(request_.resource->kind)) {
    const ObjectDraft& draft = object->draft;
    if (!parameters_.matches(draft.name_space, draft.labels, draft.fields)) continue;
    push(event_frame(encoding_, *request_.resource, "ADDED", object->encoded));
  }
  if (parameters_.bookmarks && parameters_.send_initial_events.value_or(false)) {
    push(bookmark_frame(encoding_, *request_.resource, state_.store.revision(), true));
  }
}

void WatchSession::push(std::string frame) {
  frames_.push_back(std::move(frame));
  wake_.cancel();
}

std::optional<std::string> WatchSession::frame_of(const Change& change) const {
  const auto selected = [this](const StoredObjectPtr& object) {
    return object && parameters_.matches(object->draft.name_space, object->draft.labels,
                                         object->draft.fields);
  };
  const bool before = selected(change.before);
  const bool after = selected(change.after);
  if (!before && !after) return std::nullopt;
  if (after) {
    return event_frame(encoding_, *request_.resource, before ? "MODIFIED" : "ADDED",
                       change.after->encoded);
  }
  // As it last was, but for the version.
  const EncodedObject last = change.before->draft.encode(std::to_string(change.revision));
  return event_frame(encoding_, *request_.resource, "DELETED", last);
}

void WatchSession::tell(const Change& change) {
  // A watch from a version that is still to come waits for what follows that.
  if (change.kind != request_.resource->kind || change.revision <= parameters_.revision) return;
  std::optional<std::string> frame = frame_of(change);
  if (!frame) return;
  push(std::move(*frame));
  if (frames_.size() > backlog_) end({.connection = Ending::Reset});
}

void WatchSession::bookmark() {
  if (!parameters_.bookmarks) return;
  push(bookmark_frame(encoding_, *request_.resource, state_.store.revision(), false));
}

void WatchSession::fail(const StatusAnswer& status) {
  push(error_frame(encoding_, status));
  end({});
}

void WatchSession::raw(std::string frame) { push(std::move(frame)); }

void WatchSession::end(const WatchEnd& how) {
  if (!end_) end_ = how;
  wake_.cancel();
}

// Of any object that there is.
std::string WatchSession::an_event() const {
  const auto objects = state_.store.objects(request_.resource->kind);
  if (objects.empty()) {
    return bookmark_frame(encoding_, *request_.resource, state_.store.revision(), false);
  }
  return event_frame(encoding_, *request_.resource, "MODIFIED", objects.front()->encoded);
}

bool WatchSession::compresses() const {
  return state_.settings.gzip_watches &&
         request_.header("accept-encoding").find("gzip") != std::string::npos;
}

asio::awaitable<bool> WatchSession::run(ResponseWriter& writer, Connection& connection,
                                        std::string& unread) {
  using namespace asio::experimental::awaitable_operators;
  Headers headers{{"Content-Type", content_type(encoding_, true)}};
  if (compresses()) headers.emplace_back("Content-Encoding", "gzip");
  const bool begun = co_await writer.begin(200, std::move(headers));
  if (!begun) co_return false;
  co_await (pump(writer, connection) || alarms(connection) || client_leaves(connection, unread));
  co_return ended_well_;
}

asio::awaitable<void> WatchSession::pump(ResponseWriter& writer, Connection& connection) {
  for (;;) {
    while (!frames_.empty()) {
      std::string bytes;
      while (!frames_.empty() && bytes.size() < kWriteBytes) {
        bytes += frames_.front();
        frames_.pop_front();
      }
      if (compresses()) bytes = gzipped(bytes, 1);
      const bool sent = co_await writer.chunk(std::move(bytes));
      if (!sent) co_return;
    }
    if (end_) {
      const WatchEnd how = *end_;
      co_return co_await finish(how, writer, connection);
    }
    co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<void> WatchSession::finish(const WatchEnd& how, ResponseWriter& writer,
                                           Connection& connection) {
  if (how.half_an_event) {
    const std::string event = an_event();
    std::string half = fmt::format("{:x}\r\n{}", event.size(), event.substr(0, event.size() / 2));
    const bool sent = co_await writer.raw(std::move(half));
    if (!sent) co_return;
  }
  if (how.connection) {
    co_await connection.end(*how.connection);
  } else {
    ended_well_ = co_await writer.finish();
  }
}

// Bookmarks, and the end in time. Never returns, as pump() is to.
asio::awaitable<void> WatchSession::alarms(Connection& connection) {
  Clock& clock = state_.clock;
  const TimePoint last = deadline_ - kLastBookmark;
  for (TimePoint next = later(clock.now(), state_.settings.bookmark_every); next < last;
       next = later(clock.now(), state_.settings.bookmark_every)) {
    co_await clock.sleep_until(next);
    bookmark();
  }
  if (clock.now() < last) {
    co_await clock.sleep_until(last);
    bookmark();
  }
  co_await clock.sleep_until(deadline_);
  end({});
  co_await connection.end(Ending::Silence);
}

asio::awaitable<void> WatchSession::client_leaves(Connection& connection, std::string& unread) {
  std::array<char, 1024> space{};
  for (;;) {
    const std::size_t got = co_await connection.read_some(space);
    if (got == 0) co_return;
    unread.append(space.data(), got);
  }
}

}  // namespace mkp::api
