#pragma once

#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "informer/object_source.h"
#include "informer/signal.h"
#include "tests/fakes/test_object.h"

namespace mkp {

// A faithful list and watch source in memory: every change gets the next resource version, a watch
// from an older one gets what happened since, and one from before what is remembered is told that
// it is too late.
class InMemoryCluster final : public ObjectSource {
 public:
  // Whether those who watch hear of a change. Unheard, they learn of it from the next list or watch
  // only.
  enum class Heard : std::uint8_t { Yes, No };

  void put(const std::string& key, int value, Heard heard = Heard::Yes) {
    auto object =
        std::make_shared<TestObject>(static_cast<const TestObject&>(*test_object(key, value)));
    const bool known = objects_.contains(key);
    change(known ? WatchEvent::Type::Modified : WatchEvent::Type::Added, std::move(object), heard);
  }
  void remove(const std::string& key, Heard heard = Heard::Yes) {
    change(WatchEvent::Type::Deleted, std::make_shared<TestObject>(*objects_.at(key)), heard);
  }
  // Ends all watches and forgets the changes, so that whoever missed one has to list.
  void reset_watches() {
    history_.clear();
    for (const auto& feed : feeds_) {
      feed->ended = true;
      feed->changed.notify();
    }
    feeds_.clear();
  }
  // Every list fails with this until told otherwise.
  void list_fails(std::optional<Error> error) { list_error_ = std::move(error); }
  // The next watch request, or with `in_stream` the open streams, fail once with this.
  void watch_fails_once(Error error) { watch_error_ = std::move(error); }
  void streams_fail(const Error& error) { send(tl::unexpected<Error>(error)); }
  // An event that holds something else than it should.
  void streams_send_nonsense() {
    send(std::optional(WatchEvent{WatchEvent::Type::Added, object_without_key(), "nonsense"}));
  }

  std::string text() const {
    std::vector<ObjectPtr> all;
    for (const auto& [key, object] : objects_) all.push_back(object);
    return sorted_text(all);
  }

  asio::awaitable<Result<Listing>> list(ListQuery query) override {
    (void)query;  // always the newest, which is not older than any
    if (list_error_) co_return tl::unexpected<Error>(*list_error_);
    Listing listing;
    for (const auto& [key, object] : objects_) listing.objects.push_back(object);
    listing.resource_version = std::to_string(version_);
    co_return listing;
  }

  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery query) override {
    if (watch_error_) {
      const Error error = *std::exchange(watch_error_, std::nullopt);
      co_return tl::unexpected<Error>(error);
    }
    const int from = std::stoi(query.resource_version);
    const int oldest = history_.empty() ? version_ : version_of(history_.front()) - 1;
    if (from > version_) co_return fail(Errc::Invalid, "resource version in the future");
    if (from < oldest) {
      co_return fail(Errc::Expired, fmt::format("too old resource version: {} ({})", from, oldest));
    }
    auto feed = std::make_shared<Feed>();
    for (const WatchEvent& event : history_) {
      if (version_of(event) > from) feed->steps.emplace_back(event);
    }
    feeds_.push_back(feed);
    co_return std::make_unique<Stream>(std::move(feed));
  }
  bool supports_initial_events() const override { return false; }

 private:
  using Step = Result<std::optional<WatchEvent>>;

  struct Feed {
    std::deque<Step> steps;
    bool ended = false;
    Signal changed;
  };

  class Stream final : public EventStream {
   public:
    explicit Stream(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}

    asio::awaitable<Step> next() override {
      while (feed_->steps.empty() && !feed_->ended) co_await feed_->changed.wait();
      if (feed_->steps.empty()) co_return std::optional<WatchEvent>();
      Step step = std::move(feed_->steps.front());
      feed_->steps.pop_front();
      co_return step;
    }

   private:
    std::shared_ptr<Feed> feed_;
  };

  static int version_of(const WatchEvent& event) { return std::stoi(event.resource_version); }

  void change(WatchEvent::Type type, std::shared_ptr<TestObject> object, Heard heard) {
    object->metadata.resource_version = std::to_string(++version_);
    const std::string key = *meta_namespace_key(object);
    if (type == WatchEvent::Type::Deleted) {
      objects_.erase(key);
    } else {
      objects_[key] = object;
    }
    history_.push_back(WatchEvent{type, object, object->metadata.resource_version});
    if (heard == Heard::Yes) send(std::optional(history_.back()));
  }

  void send(const Step& step) {
    for (const auto& feed : feeds_) {
      feed->steps.push_back(step);
      feed->changed.notify();
    }
  }

  std::map<std::string, std::shared_ptr<const TestObject>> objects_;
  std::deque<WatchEvent> history_;
  std::vector<std::shared_ptr<Feed>> feeds_;
  std::optional<Error> list_error_;
  std::optional<Error> watch_error_;
  int version_ = 0;
};

}  // namespace mkp
