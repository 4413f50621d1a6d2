#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "informer/object_source.h"
#include "informer/signal.h"

namespace mkp {

// Answers as told, in order. A request for which nothing was told yet waits until it is.
class ScriptedSource final : public ObjectSource {
 public:
  // One answer of a stream: an event, its end in good order, or a failure.
  using Step = Result<std::optional<WatchEvent>>;

  void list_returns(Result<Listing> listing) {
    listings_.push_back(std::move(listing));
    told_.notify();
  }
  // A stream that gives these and then waits for watch_sends().
  void watch_returns(std::vector<Step> steps) {
    auto script = std::make_shared<Script>();
    script->steps.assign(std::make_move_iterator(steps.begin()),
                         std::make_move_iterator(steps.end()));
    streams_.emplace_back(std::move(script));
    told_.notify();
  }
  void watch_fails(Errc code, std::string what) {
    streams_.emplace_back(fail(code, std::move(what)));
    told_.notify();
  }
  // The open stream goes on with this.
  void watch_sends(Step step) {
    current_->steps.push_back(std::move(step));
    current_->told.notify();
  }

  static Step event(WatchEvent::Type type, const ObjectPtr& object) {
    return std::optional(WatchEvent{type, object, object->meta()->resource_version});
  }
  static Step added(const ObjectPtr& object) { return event(WatchEvent::Type::Added, object); }
  static Step modified(const ObjectPtr& object) {
    return event(WatchEvent::Type::Modified, object);
  }
  static Step deleted(const ObjectPtr& object) { return event(WatchEvent::Type::Deleted, object); }
  static Step bookmark(std::string resource_version) {
    return std::optional(
        WatchEvent{WatchEvent::Type::Bookmark, nullptr, std::move(resource_version)});
  }
  static Step end_of_initial_events(std::string resource_version) {
    return std::optional(
        WatchEvent{WatchEvent::Type::Bookmark, nullptr, std::move(resource_version), true});
  }
  static Step end() { return std::optional<WatchEvent>(); }

  void support_initial_events() { supports_initial_events_ = true; }

  // The requests since the last call: "list 0, watch 41", or with all that can be asked for
  // `list "" limit 4 continue C1, watch "" initial`.
  std::string requests() { return std::exchange(requests_, {}); }
  // What the watches so far were told to end after.
  const std::vector<std::chrono::seconds>& watch_timeouts() const { return watch_timeouts_; }
  int waiting_requests() const { return waiting_requests_; }
  int open_streams() const { return open_streams_; }

  asio::awaitable<Result<Listing>> list(ListQuery query) override {
    const Counted waiting(waiting_requests_);
    std::string request = "list " + version_text(query.resource_version);
    if (query.limit != 0) request += " limit " + std::to_string(query.limit);
    if (!query.continue_token.empty()) request += " continue " + query.continue_token;
    record(request);
    while (listings_.empty()) co_await told_.wait();
    Result<Listing> listing = std::move(listings_.front());
    listings_.pop_front();
    co_return listing;
  }

  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery query) override {
    const Counted waiting(waiting_requests_);
    watch_timeouts_.push_back(query.timeout);
    record("watch " + version_text(query.resource_version) +
           (query.initial_events ? " initial" : ""));
    while (streams_.empty()) co_await told_.wait();
    Result<std::shared_ptr<Script>> script = std::move(streams_.front());
    streams_.pop_front();
    if (!script) co_return tl::unexpected<Error>(std::move(script.error()));
    current_ = *script;
    co_return std::make_unique<Stream>(*script, open_streams_);
  }
  bool supports_initial_events() const override { return supports_initial_events_; }

 private:
  struct Script {
    std::deque<Step> steps;
    Signal told;
  };

  class Counted {
   public:
    explicit Counted(int& count) : count_(count) { ++count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count_; }

   private:
    int& count_;
  };

  class Stream final : public EventStream {
   public:
    Stream(std::shared_ptr<Script> script, int& open) : script_(std::move(script)), open_(open) {}

    asio::awaitable<Step> next() override {
      while (script_->steps.empty()) co_await script_->told.wait();
      Step step = std::move(script_->steps.front());
      script_->steps.pop_front();
      co_return step;
    }

   private:
    std::shared_ptr<Script> script_;
    Counted open_;
  };

  static std::string version_text(const std::string& version) {
    return version.empty() ? "\"\"" : version;
  }
  void record(const std::string& request) {
    requests_ += (requests_.empty() ? "" : ", ") + request;
  }

  std::deque<Result<Listing>> listings_;
  std::deque<Result<std::shared_ptr<Script>>> streams_;
  std::shared_ptr<Script> current_;
  Signal told_;
  std::string requests_;
  std::vector<std::chrono::seconds> watch_timeouts_;
  bool supports_initial_events_ = false;
  int waiting_requests_ = 0;
  int open_streams_ = 0;
};

}  // namespace mkp
