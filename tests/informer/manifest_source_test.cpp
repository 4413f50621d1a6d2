#include "informer/manifest_source.h"

#include <gmock/gmock.h>

#include "tests/informer/manifest_fixture.h"

namespace mkp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ManifestSourceTest, ListsInTheOrderOfFileNamesThenPositions) {
  write("b.yaml", service_manifest("one", "172.30.0.1"));
  write("a.yml",
        service_manifest("two", "172.30.0.2") + "---\n" + service_manifest("alpha", "172.30.0.3"));
  write("c.json", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-1"}})");
  ASSERT_TRUE(source_->read_now().has_value());
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/two", "shop/alpha", "shop/one"));
  EXPECT_THAT(listed(ObjectKind::Node), ElementsAre("worker-1"));
  EXPECT_THAT(listed(ObjectKind::EndpointSlice), IsEmpty());
}

TEST_F(ManifestSourceTest, ReadsOnlyVisibleManifestFiles) {
  write("a.txt", node_manifest("a"));
  write(".b.yaml", node_manifest("b"));
  write("c.yaml~", node_manifest("c"));
  write("d.yaml", node_manifest("d"));
  std::filesystem::create_directory(directory_ / "e.yaml");
  ASSERT_TRUE(source_->read_now().has_value());
  EXPECT_THAT(listed(ObjectKind::Node), ElementsAre("d"));
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, FailsToReadADirectoryThatIsNotThere) {
  ManifestSource source((root_ / "nowhere" / "manifests").string());
  const Result<> read = source.read_now();
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, Errc::NotFound);
}

TEST_F(ManifestSourceTest, FailsToReadAFileAsADirectory) {
  write("a.yaml", "");
  ManifestSource source((directory_ / "a.yaml").string());
  EXPECT_FALSE(source.read_now().has_value());
}

TEST_F(ManifestSourceTest, ReadsADirectoryWithNothingInIt) {
  ASSERT_TRUE(source_->read_now().has_value());
  EXPECT_THAT(listed(ObjectKind::Service), IsEmpty());
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, TellsOfAFileThatIsCreatedChangedAndRemoved) {
  follow();
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  EXPECT_EQ(next_reading(), "added shop/web 172.30.0.1\n");
  write("a.yaml", service_manifest("web", "172.30.0.2"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
  std::filesystem::remove(directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.2\n");
}

TEST_F(ManifestSourceTest, TellsOfAFileThatIsReplacedMovedAwayAndMovedBack) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  replace("a.yaml", service_manifest("web", "172.30.0.2"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
  std::filesystem::rename(directory_ / "a.yaml", root_ / "a.yaml");
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.2\n");
  std::filesystem::rename(root_ / "a.yaml", directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "added shop/web 172.30.0.2\n");
}

TEST_F(ManifestSourceTest, SeesARewriteOfTheSameSizeWithinOneTickOfTheKernel) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  write("a.yaml", service_manifest("web", "172.30.0.2"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
  write("a.yaml", service_manifest("web", "172.30.0.3"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.3\n");
}

TEST_F(ManifestSourceTest, TellsNothingOfAnObjectThatDidNotChange) {
  const std::string web = service_manifest("web", "172.30.0.1");
  write("a.yaml", web + "---\n" + service_manifest("api", "172.30.0.2"));
  follow();
  write("a.yaml", "# a comment\n" + web + "---\n" + service_manifest("api", "172.30.0.3"));
  EXPECT_EQ(next_reading(), "modified shop/api 172.30.0.3\n");
}

TEST_F(ManifestSourceTest, ReadsHardAndSymbolicLinksWhenTheyAppear) {
  std::ofstream(root_ / "one") << service_manifest("one", "172.30.0.1");
  std::ofstream(root_ / "two") << service_manifest("two", "172.30.0.2");
  follow();
  std::filesystem::create_hard_link(root_ / "one", directory_ / "one.yaml");
  EXPECT_EQ(next_reading(), "added shop/one 172.30.0.1\n");
  std::filesystem::create_symlink(root_ / "two", directory_ / "two.yaml");
  EXPECT_EQ(next_reading(), "added shop/two 172.30.0.2\n");
}

TEST_F(ManifestSourceTest, TellsWhatGoesBeforeWhatTakesItsPlaceAndOtherwiseInFileOrder) {
  write("b.yaml", service_manifest("old", "172.30.0.1"));
  follow();
  write("c.yaml", service_manifest("last", "172.30.0.4"));
  write("b.yaml", service_manifest("new", "172.30.0.2"));
  write("a.yaml", service_manifest("first", "172.30.0.3"));
  EXPECT_EQ(next_reading(),
            "added shop/first 172.30.0.3\n"
            "deleted shop/old 172.30.0.1\n"
            "added shop/new 172.30.0.2\n"
            "added shop/last 172.30.0.4\n");
}

TEST_F(ManifestSourceTest, DeletesAnObjectThatChangesIntoOneThatIsLeftOut) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  const std::string labelled =
      "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: web, "
      "labels: {service.kubernetes.io/service-proxy-name: other}}\nspec: {clusterIP: 172.30.0.1}\n";
  write("a.yaml", labelled);
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.1\n");
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  EXPECT_EQ(next_reading(), "added shop/web 172.30.0.1\n");
  write("a.yaml", service_manifest("web", "None"));
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.1\n");
}

TEST_F(ManifestSourceTest, NumbersTheReadingsAndGivesObjectsTheOneTheyChangedIn) {
  write("a.yaml", service_manifest("web", "172.30.0.1", ", externalName: x"));
  write("b.yaml", service_manifest("api", "172.30.0.2"));
  follow();
  write("b.yaml", service_manifest("api", "172.30.0.3"));
  next_reading();
  std::string versions;
  asio::co_spawn(loop_, source_->source(ObjectKind::Service).list(ListQuery{}),
                 [&](const std::exception_ptr&, const Result<Listing>& listing) {
                   versions = listing->resource_version + ":";
                   for (const ObjectPtr& object : listing->objects) {
                     versions += " " + object->meta()->resource_version;
                   }
                 });
  loop_.restart();
  loop_.poll();
  EXPECT_EQ(versions, "2: 1 2");
}

TEST_F(ManifestSourceTest, ReadsOneFileWhenOneOfManyChanges) {
  for (int i = 0; i < 200; ++i) {
    write(fmt::format("{}.yaml", i), node_manifest(fmt::format("n{}", i)));
  }
  follow();
  const std::uint64_t files = source_->files_read();
  const std::uint64_t scans = source_->directory_scans();
  write("77.yaml", node_manifest("other"));
  next_reading();
  EXPECT_EQ(source_->files_read() - files, 1U);
  EXPECT_EQ(source_->directory_scans(), scans);
}

TEST_F(ManifestSourceTest, FoldsABurstOfChangesIntoOneReading) {
  follow();
  write("a.yaml", node_manifest("a"));
  write("b.yaml", node_manifest("b"));
  write("a.yaml", node_manifest("c"));
  EXPECT_EQ(next_reading(), "added c\nadded b\n");
  EXPECT_EQ(source_->files_read(), 2U);
}

TEST_F(ManifestSourceTest, TellsOfAReadingOnceEveryStreamHasTakenItsEvents) {
  follow();
  std::unique_ptr<EventStream> slow;
  asio::co_spawn(loop_, source_->source(ObjectKind::Node).watch(WatchQuery{"1", false, {}}),
                 [&](const std::exception_ptr&, Result<std::unique_ptr<EventStream>> stream) {
                   slow = std::move(*stream);
                 });
  write("a.yaml", node_manifest("a") + "---\n" + service_manifest("web", "172.30.0.1"));
  run_until([this] { return heard_.find("added a\n") != std::string::npos; });
  loop_.poll();
  EXPECT_EQ(heard_.find("read"), std::string::npos);
  slow.reset();
  EXPECT_THAT(next_reading(),
              AllOf(HasSubstr("added a\n"), HasSubstr("added shop/web 172.30.0.1\n")));
}

TEST_F(ManifestSourceTest, CountsAndNamesWhatItPassesOver) {
  write("a.yaml", "{apiVersion: v1, kind: Secret}\n---\n{apiVersion: v1, kind: Secret}\n");
  ASSERT_TRUE(source_->read_now().has_value());
  EXPECT_THAT(source_->passed_over(), ElementsAre(testing::Pair("v1 Secret", 2)));
}

TEST_F(ManifestSourceTest, EndsWhenItIsCancelled) {
  follow();
  asio::cancellation_signal cancel;
  bool ended = false;
  ManifestSource other(directory_.string());
  asio::co_spawn(loop_, other.run(),
                 asio::bind_cancellation_slot(cancel.slot(),
                                              [&](const std::exception_ptr&) { ended = true; }));
  loop_.restart();
  loop_.poll();
  cancel.emit(asio::cancellation_type::terminal);
  run_until([&] { return ended; });
}

}  // namespace
}  // namespace mkp
