#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "informer/indexer.h"
#include "informer/reflector.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/scripted_source.h"
#include "tests/fakes/test_loop.h"
#include "tests/fakes/test_object.h"

namespace mkp {

// Remembers how the reflector told it of its progress.
class WatchedStore final : public ReflectorStore {
 public:
  Result<> add(const ObjectPtr& object) override { return inner_.add(object); }
  Result<> update(const ObjectPtr& object) override { return inner_.update(object); }
  Result<> remove(const ObjectPtr& object) override { return inner_.remove(object); }
  Result<> replace(std::vector<ObjectPtr> objects, const std::string& resource_version) override {
    return inner_.replace(std::move(objects), resource_version);
  }
  Result<> resync() override {
    ++resyncs;
    if (resync_error) return tl::unexpected<Error>(*resync_error);
    return {};
  }
  void update_resource_version(const std::string& resource_version) override {
    versions += (versions.empty() ? "" : ", ") + resource_version;
  }

  std::string content() const { return sorted_text(inner_.list()); }

  int resyncs = 0;
  std::optional<Error> resync_error;
  std::string versions;

 private:
  Indexer inner_;
};

// A reflector over a scripted source, on fake time and without jitter.
class ReflectorTest : public testing::Test {
 protected:
  using Source = ScriptedSource;

  ReflectorTest() {
    options_.backoff =
        Backoff({.first = std::chrono::milliseconds(800), .cap = std::chrono::seconds(30)});
    options_.unreachable_backoff =
        Backoff({.first = std::chrono::milliseconds(100), .cap = std::chrono::seconds(1)});
    options_.on_watch_error = [this](const Error& error) { watch_error_ = error.what; };
  }

  void start() { loop_.start(run()); }
  // The source knows streaming lists.
  void stream_lists() { api_.support_initial_events(); }
  // Lists `objects` at `version`, whatever was asked for.
  void list_returns(std::vector<ObjectPtr> objects, std::string version) {
    api_.list_returns(Listing{std::move(objects), std::move(version)});
  }
  // A page, with more behind it where there is a token.
  void page_returns(std::vector<ObjectPtr> objects, std::string version, std::string token) {
    api_.list_returns(Listing{std::move(objects), std::move(version), std::move(token)});
  }
  void watch_sends(Source::Step step) {
    api_.watch_sends(std::move(step));
    loop_.settle();
  }
  std::string last_version() const { return reflector_.value().last_sync_resource_version(); }
  // A second passes first, so that the watch that ends was no very short one.
  void watch_ends() {
    loop_.pass(std::chrono::seconds(1));
    watch_sends(Source::end());
  }
  // Fake time until the source was asked `count` times to watch, in milliseconds.
  int milliseconds_until_watches(std::size_t count) {
    int passed = 0;
    while (watches_ < count && passed < 10'000) {
      loop_.pass(std::chrono::milliseconds(1));
      ++passed;
      count_watches();
    }
    return passed;
  }
  void count_watches() {
    const std::string requests = api_.requests();
    for (std::size_t at = requests.find("watch"); at != std::string::npos;
         at = requests.find("watch", at + 1)) {
      ++watches_;
    }
    lists_ += requests.find("list") != std::string::npos ? 1 : 0;
  }

  FakeClock clock_;
  ScriptedSource api_;
  WatchedStore store_;
  Reflector::Options options_;
  std::string watch_error_;
  std::optional<Reflector> reflector_;
  std::size_t watches_ = 0;
  int lists_ = 0;
  ReflectorStore* target_ = &store_;
  TestLoop loop_{clock_};

 private:
  asio::awaitable<void> run() {
    reflector_.emplace(api_, *target_, clock_, options_);
    return reflector_->run();
  }
};

}  // namespace mkp
