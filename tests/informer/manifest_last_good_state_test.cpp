#include <fcntl.h>
#include <gmock/gmock.h>

#include "tests/fakes/captured_log.h"
#include "tests/informer/manifest_fixture.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ManifestSourceTest, DoesNotTakeAFileThatIsBeingWrittenForADeletion) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  {
    std::ofstream writer(directory_ / "a.yaml");  // empty now
    EXPECT_EQ(heard_before_a_mark(), "");
    writer << service_manifest("web", "172.30.0.2").substr(0, 40) << std::flush;
    EXPECT_EQ(heard_before_a_mark(), "");
    writer << service_manifest("web", "172.30.0.2").substr(40);
  }
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, LeavesAFileToItsWriterThatWasClosedAndOpenedAgain) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  write("a.yaml", service_manifest("web", "172.30.0.2"));
  {
    std::ofstream writer(directory_ / "a.yaml");
    EXPECT_EQ(heard_before_a_mark(), "");
    writer << service_manifest("web", "172.30.0.3");
  }
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.3\n");
}

TEST_F(ManifestSourceTest, ReadsEverythingAgainAfterAnOverflowButWhatIsBeingWritten) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  write("b.yaml", service_manifest("api", "172.30.0.2"));
  write("c.yaml", service_manifest("gone", "172.30.0.3"));
  follow();
  std::ofstream writer(directory_ / "a.yaml");
  const std::filesystem::path one = directory_ / "noise-1";
  const std::filesystem::path two = directory_ / "noise-2";
  std::ofstream(one).close();
  for (int i = 0; i < 10000; ++i) {  // more events than the kernel queues
    std::filesystem::rename(one, two);
    std::filesystem::rename(two, one);
  }
  write("b.yaml", service_manifest("api", "172.30.0.4"));
  std::filesystem::remove(directory_ / "c.yaml");
  EXPECT_EQ(next_reading(), "modified shop/api 172.30.0.4\ndeleted shop/gone 172.30.0.3\n");
  EXPECT_EQ(source_->directory_scans(), 2U);
}

TEST_F(ManifestSourceTest, ReportsAFileThatIsBeingWrittenAtTheFirstReadingUntilItIsRead) {
  {
    std::ofstream writer(directory_ / "a.yaml");
    follow();
    EXPECT_EQ(problems(), "a.yaml: is open for writing, and is read once its writer closes it\n");
    writer << service_manifest("web", "172.30.0.1");
  }
  EXPECT_EQ(next_reading(), "added shop/web 172.30.0.1\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, DeletesTheObjectsOfAFileThatIsEmptiedAndClosed) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  write("a.yaml", "");
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.1\n");
}

TEST_F(ManifestSourceTest, KeepsTheObjectsOfAFileThatFailsToParse) {
  write("a.yaml",
        service_manifest("web", "172.30.0.1") + "---\n" + service_manifest("api", "172.30.0.2"));
  follow();
  write("a.yaml", "{{{");
  EXPECT_EQ(next_reading(), "");
  EXPECT_THAT(problems(), HasSubstr("a.yaml:1: syntax error: "));
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web", "shop/api"));
  write("a.yaml", service_manifest("api", "172.30.0.3"));
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.1\nmodified shop/api 172.30.0.3\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, TakesTheDocumentsBeforeASyntaxErrorAndKeepsThoseAfterIt) {
  const std::string last = "---\n" + service_manifest("last", "172.30.0.3");
  write("a.yaml", service_manifest("first", "172.30.0.1") + last);
  follow();
  write("a.yaml", service_manifest("first", "172.30.0.2") + "---\nkind: }\n" + last);
  EXPECT_EQ(next_reading(), "modified shop/first 172.30.0.2\n");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/first", "shop/last"));
}

TEST_F(ManifestSourceTest, KeepsTheObjectOfABrokenDocumentAndTakesTheOthers) {
  write("a.yaml",
        service_manifest("web", "172.30.0.1") + "---\n" + service_manifest("api", "172.30.0.2"));
  follow();
  write("a.yaml", service_manifest("web", "172.30.0.3", ", type: Odd") + "---\n" +
                      service_manifest("api", "172.30.0.4"));
  EXPECT_EQ(next_reading(), "modified shop/api 172.30.0.4\n");
  EXPECT_THAT(problems(),
              HasSubstr("a.yaml:4: Service shop/web: spec.type: \"Odd\" is not one of"));
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web", "shop/api"));
  // Still so when the file is read again.
  write("a.yaml", service_manifest("web", "172.30.0.3", ", type: Odd"));
  EXPECT_EQ(next_reading(), "deleted shop/api 172.30.0.4\n");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
}

TEST_F(ManifestSourceTest, KeepsWhatADocumentWithoutANameMayHaveBeen) {
  write("a.yaml", service_manifest("web", "172.30.0.1") + "---\n" + node_manifest("worker"));
  follow();
  write("a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop}\n");
  EXPECT_EQ(next_reading(), "deleted worker\n");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
}

TEST_F(ManifestSourceTest, DeletesTheLastGoodStateWithItsFile) {
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  write("a.yaml", "{{{");
  next_reading();
  std::filesystem::remove(directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "deleted shop/web 172.30.0.1\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, KeepsTheObjectsOfALinkThatLeadsNowhere) {
  std::ofstream(root_ / "target") << service_manifest("web", "172.30.0.1");
  std::filesystem::create_symlink(root_ / "target", directory_ / "a.yaml");
  follow();
  std::filesystem::create_symlink(root_ / "nothing", root_ / "next");
  std::filesystem::rename(root_ / "next", directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "");
  EXPECT_EQ(problems(), "a.yaml: is a link that leads nowhere\n");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
}

TEST_F(ManifestSourceTest, UsesTheFirstOfTwoDocumentsForOneObjectAndReportsTheOther) {
  write("b.yaml", service_manifest("web", "172.30.0.2"));
  follow();
  write("a.yaml", "\n" + service_manifest("web", "172.30.0.1"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.1\n");
  EXPECT_EQ(problems(), "b.yaml:1: Service shop/web: is in a.yaml:2 too\n");
  write("b.yaml", service_manifest("web", "172.30.0.3"));
  EXPECT_EQ(next_reading(), "");
  std::filesystem::remove(directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.3\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(ManifestSourceTest, UsesTheFirstOfTwoDocumentsInOneFile) {
  write("a.yaml",
        service_manifest("web", "172.30.0.1") + "---\n" + service_manifest("web", "172.30.0.2"));
  follow();
  EXPECT_EQ(problems(), "a.yaml:6: Service shop/web: is in a.yaml:1 too\n");
  write("a.yaml", service_manifest("web", "172.30.0.2"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.2\n");
}

TEST_F(ManifestSourceTest, UsesTheSecondDocumentWhileTheFirstHasNeverBeenWhole) {
  write("a.yaml", service_manifest("web", "172.30.0.1", ", type: Odd"));
  write("b.yaml", service_manifest("web", "172.30.0.2"));
  follow();
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  EXPECT_EQ(next_reading(), "modified shop/web 172.30.0.1\n");
}

TEST_F(ManifestSourceTest, TellsNothingWhenAnotherDocumentSaysTheSame) {
  write("b.yaml", service_manifest("web", "172.30.0.1"));
  follow();
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  EXPECT_EQ(next_reading(), "");
  std::filesystem::remove(directory_ / "a.yaml");
  EXPECT_EQ(next_reading(), "");
  EXPECT_THAT(listed(ObjectKind::Service), ElementsAre("shop/web"));
}

TEST_F(ManifestSourceTest, LogsEachNewProblemOnceWithWhatItMeans) {
  CapturedLog log;
  write("a.yaml", service_manifest("web", "172.30.0.1"));
  write("b.yaml", service_manifest("api", "172.30.0.2", ", type: Odd"));
  follow();
  EXPECT_EQ(log.take(),
            "warning: manifests: b.yaml:4: Service shop/api: spec.type: \"Odd\" is not one of "
            "ClusterIP, NodePort, LoadBalancer, ExternalName; the object is not served\n");
  write("a.yaml", service_manifest("web", "70", ", sessionAffinity: Odd"));
  next_reading();
  EXPECT_EQ(log.take(),
            "warning: manifests: a.yaml:4: Service shop/web: spec.clusterIP: 70 where a text is "
            "expected; the object keeps its last good state\n"
            "warning: manifests: a.yaml:4: Service shop/web: spec.sessionAffinity: \"Odd\" is not "
            "one of None, ClientIP; the object keeps its last good state\n");
  write("b.yaml", "\n\n" + service_manifest("api", "172.30.0.2", ", type: Odd"));
  next_reading();
  EXPECT_EQ(log.take(), "");
}

TEST_F(ManifestSourceTest, NamesAKindThatItPassesOverOnce) {
  CapturedLog log;
  write("a.yaml", "{apiVersion: v1, kind: Secret}\n");
  follow();
  EXPECT_EQ(log.take(),
            "info: manifests: v1 Secret is passed over, as a proxy has no use for it\n");
  write("b.yaml", "{apiVersion: v1, kind: Secret}\n");
  next_reading();
  EXPECT_EQ(log.take(), "");
}

}  // namespace
}  // namespace mkp
