#include "informer/watch_list.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <map>
#include <utility>
#include <variant>

#include "informer/initial_events_wait.h"
#include "informer/keys.h"

namespace mkp {

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

constexpr Duration kWarningInterval = 10s;

// What initial events have told so far. Changes that happen meanwhile come among them, so that
// updates and deletions count.
class InitialContent final : public EventTarget {
 public:
  explicit InitialContent(Transformer transformer) : transformer_(std::move(transformer)) {}

  Result<> add(const ObjectPtr& object) override {
    const Result<std::string> key = deletion_handling_meta_namespace_key(object);
    if (!key) return tl::unexpected<Error>(key.error());
    ObjectPtr kept = object;
    if (transformer_) {
      Result<ObjectPtr> transformed = transformer_(object);
      if (!transformed) return failed(fail(std::move(transformed.error()), "transforming"));
      kept = std::move(*transformed);
    }
    // Servers send them in the order of their keys.
    objects_.insert_or_assign(objects_.end(), *key, std::move(kept));
    return {};
  }
  Result<> update(const ObjectPtr& object) override { return add(object); }
  Result<> remove(const ObjectPtr& object) override {
    const Result<std::string> key = deletion_handling_meta_namespace_key(object);
    if (!key) return tl::unexpected<Error>(key.error());
    objects_.erase(*key);
    return {};
  }
  void keep(const ObjectPtr& unreadable) override {
    objects_.try_emplace(as_unreadable(unreadable)->key, unreadable);
  }

  // Fails when an object could not be taken: the list would be short of it.
  Result<std::vector<ObjectPtr>> take() {
    if (!outcome_) return tl::unexpected<Error>(outcome_.error());
    std::vector<ObjectPtr> all;
    all.reserve(objects_.size());
    for (auto& [key, object] : objects_) all.push_back(std::move(object));
    return all;
  }

 private:
  Result<> failed(Result<> outcome) {
    outcome_ = outcome;
    return outcome;
  }

  Transformer transformer_;
  std::map<std::string, ObjectPtr> objects_;
  Result<> outcome_;
};

asio::awaitable<void> warn_while_waiting(const InitialEventsWait& wait, Clock& clock) {
  for (;;) {
    co_await clock.sleep_until(later(clock.now(), kWarningInterval));
    const std::optional<std::string> warning = wait.warning(clock.now(), kWarningInterval);
    if (warning) spdlog::warn("{}; what was known before stays in use", *warning);
  }
}

}  // namespace

asio::awaitable<Result<std::optional<StreamedList>>> WatchList::request(WatchQuery query,
                                                                        Transformer transformer) {
  const TimePoint asked_at = clock_.now();
  Result<std::unique_ptr<EventStream>> stream = co_await source_.watch(query);
  if (!stream) co_return tl::unexpected<Error>(std::move(stream.error()));

  InitialContent content(std::move(transformer));
  InitialEventsWait wait(name_, clock_.now());
  std::string version;
  const StreamReader::Heard until_the_bookmark = [&](const WatchEvent& event) {
    wait.saw_event(clock_.now());
    version = event.resource_version;
    return !event.ends_initial_events;
  };
  std::variant<StreamEnd, std::monostate> outcome =
      co_await (reader_.read(**stream, content, asked_at, until_the_bookmark) ||
                warn_while_waiting(wait, clock_));
  StreamEnd& end = std::get<StreamEnd>(outcome);
  if (end.reason == StreamEnd::Reason::Closed) co_return std::nullopt;
  if (end.reason == StreamEnd::Reason::Failed) {
    co_return tl::unexpected<Error>(std::move(end.error));
  }
  Result<std::vector<ObjectPtr>> objects = content.take();
  if (!objects) co_return fail(std::move(objects.error()), "unable to sync watch-list result");
  StreamedList list{std::move(*objects), std::move(version), std::move(*stream)};
  co_return std::move(list);
}

}  // namespace mkp
