#include "informer/manifest_feed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <string>
#include <utility>
#include <vector>

namespace mkp {
namespace {

WatchEvent added(std::string name) {
  auto node = std::make_shared<Node>();
  node->metadata.name = std::move(name);
  return {WatchEvent::Type::Added, std::move(node), ""};
}

class ManifestFeedTest : public testing::Test {
 protected:
  std::unique_ptr<EventStream> watch(const std::string& version) {
    std::unique_ptr<EventStream> stream;
    asio::co_spawn(loop_, feed_.watch(WatchQuery{version, false, {}}),
                   [&](const std::exception_ptr&, Result<std::unique_ptr<EventStream>> result) {
                     if (result) stream = std::move(*result);
                     failure_ = result ? "" : result.error().what;
                   });
    settle();
    return stream;
  }

  // Asks once; what comes is appended to taken_.
  void ask(EventStream& stream) {
    asio::co_spawn(loop_, stream.next(),
                   [this](const std::exception_ptr&, Result<std::optional<WatchEvent>> event) {
                     taken_ += event ? fmt::format("{}@{} ", (*event)->object->meta()->name,
                                                   (*event)->resource_version)
                                     : event.error().what + " ";
                   });
    settle();
  }

  void settle() {
    loop_.restart();
    loop_.poll();
  }

  std::string list(const std::string& version) {
    std::string text;
    asio::co_spawn(loop_, feed_.list(ListQuery{version, 0, {}}),
                   [&](const std::exception_ptr&, const Result<Listing>& listing) {
                     text = listing ? fmt::format("{} objects at {}", listing->objects.size(),
                                                  listing->resource_version)
                                    : listing.error().what;
                   });
    settle();
    return text;
  }

  std::vector<ObjectPtr> objects_;
  int progress_ = 0;
  ManifestFeed feed_{[this] { return objects_; }, [this] { ++progress_; }};
  std::string failure_;
  std::string taken_;
  asio::io_context loop_;
};

TEST_F(ManifestFeedTest, ListsNothingBeforeTheFirstReading) {
  EXPECT_EQ(list(""), "list manifests: they have not been read yet");
}

TEST_F(ManifestFeedTest, ListsTheObjectsAtTheVersionOfTheLastReading) {
  feed_.add_reading(1, {added("a")});
  objects_ = {added("a").object};
  EXPECT_EQ(list(""), "1 objects at 1");
  feed_.add_reading(2, {});
  EXPECT_EQ(list("0"), "1 objects at 2");
  EXPECT_EQ(list("3"), "list manifests: version 3 is yet to come");
}

TEST_F(ManifestFeedTest, WakesAStreamThatWaits) {
  feed_.add_reading(1, {});
  const std::unique_ptr<EventStream> stream = watch("1");
  ask(*stream);
  EXPECT_EQ(taken_, "");
  feed_.add_reading(2, {added("a")});
  settle();
  EXPECT_EQ(taken_, "a@2 ");
}

TEST_F(ManifestFeedTest, ReplaysWhatHasHappenedSinceAVersion) {
  feed_.add_reading(1, {added("listed")});
  feed_.add_reading(2, {added("a")});
  feed_.add_reading(3, {});
  feed_.add_reading(4, {added("b")});
  const std::unique_ptr<EventStream> stream = watch("1");
  ask(*stream);
  ask(*stream);
  EXPECT_EQ(taken_, "a@2 b@4 ");
  taken_.clear();
  const std::unique_ptr<EventStream> later = watch("3");
  ask(*later);
  EXPECT_EQ(taken_, "b@4 ");
}

TEST_F(ManifestFeedTest, GivesTheVersionOfAReadingToItsLastEventOnly) {
  feed_.add_reading(1, {});
  feed_.add_reading(2, {added("a"), added("b")});
  const std::unique_ptr<EventStream> stream = watch("1");
  ask(*stream);
  ask(*stream);
  EXPECT_EQ(taken_, "a@1 b@2 ");
}

TEST_F(ManifestFeedTest, ExpiresVersionsThatItDoesNotKnow) {
  feed_.add_reading(3, {});
  for (const std::string version : {"", "0", "2", "4", "-1", "3x"}) {
    EXPECT_EQ(watch(version), nullptr) << version;
    EXPECT_EQ(failure_, "watch manifests: version \"" + version + "\" is not remembered");
  }
  EXPECT_NE(watch("3"), nullptr);
}

TEST_F(ManifestFeedTest, ForgetsOldReadingsButNeverTheLast) {
  feed_.add_reading(1, {});
  const std::unique_ptr<EventStream> slow = watch("1");
  feed_.add_reading(2, {added("a")});
  std::vector<WatchEvent> many(5000, added("x"));
  many.back() = added("last");
  feed_.add_reading(3, many);
  EXPECT_EQ(watch("1"), nullptr);
  ask(*slow);
  EXPECT_EQ(taken_, "watch manifests: more has happened than is remembered ");
  taken_.clear();
  const std::unique_ptr<EventStream> stream = watch("2");
  ask(*stream);
  EXPECT_EQ(taken_, "x@2 ");
}

TEST_F(ManifestFeedTest, CountsAnEventAsTakenWhenTheNextIsAskedFor) {
  feed_.add_reading(1, {});
  const std::unique_ptr<EventStream> stream = watch("1");
  feed_.add_reading(2, {added("a")});
  const std::uint64_t end = feed_.end();
  EXPECT_FALSE(feed_.is_taken(end));
  ask(*stream);
  EXPECT_FALSE(feed_.is_taken(end));
  progress_ = 0;
  ask(*stream);
  EXPECT_TRUE(feed_.is_taken(end));
  EXPECT_EQ(progress_, 1);
  feed_.add_reading(3, {added("b")});  // ends the wait before the stream
  settle();
}

TEST_F(ManifestFeedTest, DoesNotWaitForAStreamThatIsClosed) {
  feed_.add_reading(1, {});
  std::unique_ptr<EventStream> stream = watch("1");
  feed_.add_reading(2, {added("a")});
  EXPECT_FALSE(feed_.is_taken(feed_.end()));
  progress_ = 0;
  stream.reset();
  EXPECT_TRUE(feed_.is_taken(feed_.end()));
  EXPECT_EQ(progress_, 1);
}

}  // namespace
}  // namespace mkp
