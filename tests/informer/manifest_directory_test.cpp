#include <gmock/gmock.h>

#include "tests/informer/manifest_fixture.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What the kubelet does to replace the files of a mounted ConfigMap: a new directory, and one link
// swapped.
class MountedConfigMapTest : public ManifestSourceTest {
 protected:
  void mount(const std::string& generation) {
    std::filesystem::create_directory_symlink(generation, directory_ / "..data_tmp");
    std::filesystem::rename(directory_ / "..data_tmp", directory_ / "..data");
  }
  void publish(const std::string& generation, const std::string& name, std::string_view text) {
    std::filesystem::create_directories(directory_ / generation);
    std::ofstream(directory_ / generation / name) << text;
  }
  void link(const std::string& name) {
    std::filesystem::create_symlink("..data/" + name, directory_ / name);
  }
};

TEST_F(MountedConfigMapTest, TakesAllFilesOfASwapAtOnce) {
  publish("..1", "a.yaml", service_manifest("a", "172.30.0.1"));
  publish("..1", "b.yaml", service_manifest("b", "172.30.0.2"));
  mount("..1");
  link("a.yaml");
  link("b.yaml");
  follow();
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/a", "shop/b"));

  publish("..2", "a.yaml", service_manifest("a", "172.30.0.3"));
  publish("..2", "b.yaml", service_manifest("b", "172.30.0.4"));
  mount("..2");
  EXPECT_EQ(next_reading(), "modified shop/a 172.30.0.3\nmodified shop/b 172.30.0.4\n");
}

TEST_F(MountedConfigMapTest, FollowsKeysThatComeAndGo) {
  publish("..1", "a.yaml", service_manifest("a", "172.30.0.1"));
  mount("..1");
  link("a.yaml");
  follow();
  publish("..2", "b.yaml", service_manifest("b", "172.30.0.2"));
  mount("..2");
  link("b.yaml");
  std::filesystem::remove(directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "deleted shop/a 172.30.0.1\nadded shop/b 172.30.0.2\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(MountedConfigMapTest, KeepsEverythingWhenTheDataIsGone) {
  publish("..1", "a.yaml", service_manifest("a", "172.30.0.1"));
  mount("..1");
  link("a.yaml");
  follow();
  std::filesystem::remove(directory_ / "..data");
  EXPECT_EQ(next_reading(), "");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/a"));
}

TEST_F(ManifestSourceTest, KeepsEverythingWhileTheDirectoryIsAwayAndResumesWhenItIsBack) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  write("b.yaml", service_manifest("api", "172.30.0.2"));
  follow();
  std::filesystem::rename(directory_, root_ / "away");
  run_until([&] { return !problems().empty(); });
  EXPECT_EQ(problems(), fmt::format("open {}: No such file or directory\n", directory_.string()));
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web", "shop/api"));

  std::ofstream(root_ / "away" / "a.yaml") << service_manifest("web", "172.30.0.3");
  std::filesystem::rename(root_ / "away", directory_);
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.3\n");
  EXPECT_EQ(problems(), "");
  write("b.yaml", service_manifest("api", "172.30.0.4"));
  EXPECT_EQ(next_reading(), "modified shop/api 172.30.0.4\n");
}

TEST_F(ManifestSourceTest, TakesARemovalOfTheWholeDirectoryForAnOutage) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  std::filesystem::remove_all(directory_);
  run_until([&] { return !problems().empty(); });
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
}

TEST_F(ManifestSourceTest, KeepsEverythingWhenTheDirectoryComesBackEmptyUntilItIsFilled) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directory(directory_);
  run_until([&] { return !problems().empty(); });
  EXPECT_EQ(problems(), fmt::format("{} has come back empty\n", directory_.string()));
  EXPECT_EQ(heard_, "");

  write("b.yaml", service_manifest("web", "172.30.0.2"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, FollowsADirectoryWhoseParentIsRemovedToo) {
  std::filesystem::create_directories(root_ / "etc" / "kube");
  std::ofstream(root_ / "etc" / "kube" / "a.yaml") << service_manifest("web", "172.30.0.1");
  source_ = std::make_unique<ManifestSource>((root_ / "etc" / "kube").string());
  source_->on_reading([this] { heard_ += "read\n"; });
  follow();
  std::filesystem::rename(root_ / "etc", root_ / "etc.old");
  run_until([&] { return source_->problems().size() == 1; });

  std::filesystem::create_directory(root_ / "etc");
  loop_.poll();
  std::filesystem::create_directory(root_ / "etc" / "next");
  std::ofstream(root_ / "etc" / "next" / "a.yaml") << service_manifest("web", "172.30.0.2");
  std::filesystem::rename(root_ / "etc" / "next", root_ / "etc" / "kube");
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
}

TEST_F(ManifestSourceTest, FollowsALinkToADirectoryThatIsSwapped) {
  std::filesystem::create_directory(root_ / "one");
  std::filesystem::create_directory(root_ / "two");
  std::ofstream(root_ / "one" / "a.yaml") << service_manifest("web", "172.30.0.1");
  std::ofstream(root_ / "two" / "a.yaml") << service_manifest("web", "172.30.0.2");
  std::filesystem::create_directory_symlink("one", root_ / "current");
  source_ = std::make_unique<ManifestSource>((root_ / "current").string());
  source_->on_reading([this] { heard_ += "read\n"; });
  follow();
  std::filesystem::create_directory_symlink("two", root_ / "next");
  std::filesystem::rename(root_ / "next", root_ / "current");
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
  std::ofstream(root_ / "two" / "a.yaml") << service_manifest("web", "172.30.0.3");
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.3\n");
}

TEST_F(ManifestSourceTest, WaitsForADirectoryThatIsNotThereYet) {
  source_ = std::make_unique<ManifestSource>((root_ / "later").string());
  source_->on_reading([this] { heard_ += "read\n"; });
  EXPECT_FALSE(source_->read_now().has_value());
  asio::co_spawn(loop_, source_->run(), asio::detached);
  loop_.poll();
  EXPECT_EQ(heard_, "");
  std::filesystem::create_directory(root_ / "next");
  std::ofstream(root_ / "next" / "a.yaml") << service_manifest("web", "172.30.0.1");
  std::filesystem::rename(root_ / "next", root_ / "later");
  EXPECT_EQ(next_reading(), "");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
}

TEST_F(ManifestSourceTest, IsNotWokenByWhatElseHappensBesideTheDirectory) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  std::ofstream(root_ / "beside") << "x";
  EXPECT_EQ(heard_before_a_mark(), "");
  EXPECT_EQ(source_->directory_scans(), 1U);
}

}  // namespace
}  // namespace mkp
