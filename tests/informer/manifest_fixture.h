#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "informer/keys.h"
#include "informer/manifest_source.h"

namespace mkp {

inline std::string service_manifest(std::string_view name, std::string_view cluster_ip,
                                    std::string_view more = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Service\nmetadata: {{namespace: shop, name: {}}}\n"
      "spec: {{clusterIP: {}, ports: [{{port: 80}}]{}}}\n",
      name, cluster_ip, more);
}

inline std::string node_manifest(std::string_view name) {
  return fmt::format("apiVersion: v1\nkind: Node\nmetadata: {{name: {}}}\n", name);
}

// A real directory with a source on it, and what its feeds tell.
class ManifestSourceTest : public testing::Test {
 protected:
  ManifestSourceTest() : root_(make_root()), directory_(root_ / "manifests") {
    std::filesystem::create_directory(directory_);
    source_ = std::make_unique<ManifestSource>(directory_.string());
    source_->on_reading([this] { heard_ += "read\n"; });
  }
  ~ManifestSourceTest() override { std::filesystem::remove_all(root_); }

  // Writes in place, as an editor without backups and `cp` do.
  void write(const std::string& name, std::string_view text) {
    std::ofstream(directory_ / name) << text;
  }
  // Replaces the file in one step, as most tools do.
  void replace(const std::string& name, std::string_view text) {
    const std::filesystem::path next = root_ / "next";
    std::ofstream(next) << text;
    std::filesystem::rename(next, directory_ / name);
  }

  // Begins to follow Services and Nodes, once the source has been read.
  void follow() {
    ASSERT_TRUE(source_->read_now().has_value());
    asio::co_spawn(loop_, source_->run(), asio::detached);
    asio::co_spawn(loop_, follow_feed(source_->source(ObjectKind::Service)), asio::detached);
    asio::co_spawn(loop_, follow_feed(source_->source(ObjectKind::Node)), asio::detached);
    loop_.poll();
    heard_.clear();
  }

  asio::awaitable<void> follow_feed(ObjectSource& feed) {
    const ListQuery newest;
    Result<Listing> listing = co_await feed.list(newest);
    if (!listing) co_return;
    for (const ObjectPtr& object : listing->objects) heard_ += "listed " + describe(object) + "\n";
    const WatchQuery from_there{listing->resource_version, false, {}};
    Result<std::unique_ptr<EventStream>> stream = co_await feed.watch(from_there);
    if (!stream) co_return;
    for (;;) {
      Result<std::optional<WatchEvent>> event = co_await (*stream)->next();
      if (!event || !*event) co_return;
      heard_ += told(**event) + "\n";
    }
  }

  static std::string told(const WatchEvent& event) {
    static constexpr std::string_view kTypes[] = {"added", "modified", "deleted", "bookmark"};
    const auto* service = dynamic_cast<const Service*>(event.object.get());
    return fmt::format("{} {}{}", kTypes[static_cast<std::size_t>(event.type)],
                       meta_namespace_key(event.object).value(),
                       service == nullptr ? "" : " " + service->cluster_ip);
  }

  void run_until(const std::function<bool()>& reached) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!reached() && std::chrono::steady_clock::now() < deadline) {
      loop_.restart();
      loop_.run_one_for(std::chrono::seconds(1));
    }
    ASSERT_TRUE(reached()) << heard_;
  }

  // What is heard up to and without the end of the next reading; a reading that tells nothing is
  // "".
  std::string next_reading() {
    run_until([this] { return heard_.find("read\n") != std::string::npos; });
    const std::size_t end = heard_.find("read\n");
    std::string text = heard_.substr(0, end);
    heard_.erase(0, end + 5);
    return text;
  }

  // What is heard before a file that is written now: shows that something was not told.
  std::string heard_before_a_mark() {
    const std::string mark = fmt::format("mark-{}", ++marks_);
    replace(mark + ".yaml", node_manifest(mark));
    run_until([&] { return heard_.find("added " + mark + "\nread\n") != std::string::npos; });
    const std::string text = heard_.substr(0, heard_.find("added " + mark));
    heard_.clear();
    return text;
  }

  std::string problems() const {
    std::string text;
    for (const ManifestProblem& problem : source_->problems()) text += to_text(problem) + "\n";
    return text;
  }

  std::vector<std::string> listed(ObjectKind kind) {
    std::vector<std::string> keys;
    asio::co_spawn(loop_, list_keys(source_->source(kind), keys), asio::detached);
    loop_.restart();
    loop_.poll();
    return keys;
  }

  static asio::awaitable<void> list_keys(ObjectSource& feed, std::vector<std::string>& keys) {
    const ListQuery newest;
    Result<Listing> listing = co_await feed.list(newest);
    if (!listing) co_return;
    for (const ObjectPtr& object : listing->objects) {
      keys.push_back(meta_namespace_key(object).value());
    }
  }

  static std::filesystem::path make_root() {
    std::string path = testing::TempDir() + "manifests-XXXXXX";
    return mkdtemp(path.data());
  }

  std::filesystem::path root_;
  std::filesystem::path directory_;
  std::string heard_;
  int marks_ = 0;
  std::unique_ptr<ManifestSource> source_;
  asio::io_context loop_;  // last: dies first
};

}  // namespace mkp
