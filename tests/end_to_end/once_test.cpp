#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/manifest_files.h"
#include "tests/end_to_end/program_run.h"
#include "tests/packets/program.h"

namespace mkp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OnceTest : public testing::Test {
 protected:
  OnceTest() {
    kernel_.remove_tables();
    files_.write("web.yaml", service_manifest("web", "172.30.0.10"));
    files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.2", "10.180.0.3"}));
  }
  std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all = {"--config", files_.config(), "--manifests", files_.path()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  int once() { return ProgramRun(arguments({"--once"})).wait(); }

  KernelView kernel_;
  ManifestFiles files_;
};

constexpr std::string_view kWebLive =
    "172.30.0.10:80/TCP (default/web:http) -> 10.180.0.2:8080 10.180.0.3:8080\n"
    "cluster IP 172.30.0.10\n";

TEST_F(OnceTest, OneSyncPutsTheRulesInPlaceAndExits) {
  EXPECT_EQ(once(), 0);
  EXPECT_EQ(kernel_.live(files_.config()), kWebLive);
}

TEST_F(OnceTest, ASecondSyncOverTheSameStateSendsNothing) {
  ASSERT_EQ(once(), 0);
  const std::uint32_t before = kernel_.generation();
  const std::string listed = packets::run_program({"nft", "list", "ruleset"}).value();
  ASSERT_EQ(once(), 0);
  // The probe of the kernel's abilities is one transaction a family; nothing of it stays.
  EXPECT_LE(kernel_.generation() - before, 2U);
  EXPECT_EQ(packets::run_program({"nft", "list", "ruleset"}).value(), listed);
}

TEST_F(OnceTest, ADryRunAfterwardsShowsNoChangeAndExits0) {
  ASSERT_EQ(once(), 0);
  ProgramRun dry_run(arguments({"--dry-run", "--once"}));
  EXPECT_EQ(dry_run.wait(), 0);
  EXPECT_EQ(dry_run.standard_output(), "no change\n");
}

TEST_F(OnceTest, ADryRunShowsExactlyTheElementsThatAnEditOfOneEndpointChangesAndWritesNothing) {
  ASSERT_EQ(once(), 0);
  files_.write("web-1.yaml", slice_manifest("web", {"10.180.0.2", "10.180.0.9"}));
  const std::uint32_t before = kernel_.generation();
  ProgramRun dry_run(arguments({"--dry-run", "--once"}));
  EXPECT_EQ(dry_run.wait(), 1);
  EXPECT_EQ(dry_run.standard_output(),
            "Service default/web:http\n"
            "# ClusterIP 172.30.0.10:80/TCP: endpoints + 10.180.0.9:8080 - 10.180.0.3:8080\n"
            "- element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.3 . 8080 }\n"
            "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.9 . 8080 }\n"
            "1 to add, 1 to remove; 1 Service ports change\n");
  EXPECT_EQ(kernel_.generation(), before);
}

TEST_F(OnceTest, ADryRunThatCannotPrintFails) {
  ProgramRun dry_run(arguments({"--dry-run", "--once"}), [] {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, STDOUT_FILENO);
  });
  EXPECT_EQ(dry_run.wait(), 2);
  EXPECT_THAT(dry_run.standard_error(), HasSubstr("print the diff: No space left on device"));
}

TEST_F(OnceTest, ADryRunNamesAServiceThatIsGoneByTheCommentOfItsElements) {
  ASSERT_EQ(once(), 0);
  files_.remove("web.yaml");
  ProgramRun dry_run(arguments({"--dry-run", "--once"}));
  EXPECT_EQ(dry_run.wait(), 1);
  EXPECT_THAT(dry_run.standard_output(),
              HasSubstr("Service default/web:http\n# ClusterIP 172.30.0.10:80/TCP: gone, was to "
                        "10.180.0.2:8080 "));
}

TEST_F(OnceTest, ADryRunAgainstNothingNeedsNoPrivilege) {
  const std::filesystem::path root = std::filesystem::path(files_.path()).parent_path();
  std::filesystem::permissions(root, std::filesystem::perms(0755));
  ProgramRun dry_run(arguments({"--dry-run", "--once", "--against", "empty"}),
                     [] { EXPECT_EQ(::setuid(65534), 0); });
  EXPECT_EQ(dry_run.wait(), 1);
  EXPECT_THAT(dry_run.standard_output(), HasSubstr("+ table ip mini-kube-proxy\n"));
}

TEST_F(OnceTest, ADryRunAgainstTheKernelSaysThatReadingTakesAPrivilege) {
  const std::filesystem::path root = std::filesystem::path(files_.path()).parent_path();
  std::filesystem::permissions(root, std::filesystem::perms(0755));
  ProgramRun dry_run(arguments({"--dry-run", "--once"}), [] { EXPECT_EQ(::setuid(65534), 0); });
  EXPECT_EQ(dry_run.wait(), 2);
  EXPECT_THAT(dry_run.standard_error(), HasSubstr("CAP_NET_ADMIN"));
}

TEST_F(OnceTest, WhatNftListsOfOurTablesItLoadsAgain) {
  ASSERT_EQ(once(), 0);
  const std::string listed = packets::run_program({"nft", "list", "ruleset"}).value();
  EXPECT_THAT(listed, HasSubstr("table ip mini-kube-proxy {"));
  EXPECT_THAT(listed, HasSubstr("table ip6 mini-kube-proxy {"));
  ASSERT_TRUE(packets::run_program({"nft", "flush", "ruleset"}));
  const auto loaded = packets::run_program({"nft", "-f", "-"}, listed);
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(packets::run_program({"nft", "list", "ruleset"}).value(), listed);
  EXPECT_EQ(kernel_.live(files_.config()), kWebLive);
}

TEST_F(OnceTest, WhatNftListsOfEveryKindOfServiceItLoadsAgainAsItWas) {
  ASSERT_TRUE(packets::run_program({"ip", "addr", "replace", "192.168.0.1/32", "dev", "lo"}));
  files_.write("every-kind.yaml", every_kind_of_service());
  ASSERT_EQ(once(), 0);
  const std::string listed = packets::run_program({"nft", "list", "ruleset"}).value();
  EXPECT_THAT(listed, AllOf(HasSubstr("@firewalled-services"), HasSubstr("goto external-local"),
                            HasSubstr("ip daddr 172.30.0.0/16 drop"), HasSubstr("update @")));
  ASSERT_TRUE(packets::run_program({"nft", "flush", "ruleset"}));
  const auto loaded = packets::run_program({"nft", "-f", "-"}, listed);
  ASSERT_TRUE(loaded) << loaded.error().what;
  // Byte for byte what we had written: nothing is left to change.
  ProgramRun dry_run(arguments({"--dry-run", "--once"}));
  EXPECT_EQ(dry_run.wait(), 0);
  EXPECT_EQ(dry_run.standard_output(), "no change\n");
}

TEST_F(OnceTest, ARuleOfSomebodyElsesWithASetOfItsOwnIsTakenOut) {
  ASSERT_EQ(once(), 0);
  ASSERT_TRUE(packets::run_program({"nft", "insert", "rule", "ip", "mini-kube-proxy",
                                    "nat-prerouting", "ip", "saddr", "{", "192.0.2.1,", "192.0.2.2",
                                    "}", "meta", "nftrace", "set", "1"}));
  EXPECT_EQ(once(), 0);
  EXPECT_EQ(kernel_.live(files_.config()), kWebLive);
  EXPECT_THAT(packets::run_program({"nft", "list", "ruleset"}).value(), Not(HasSubstr("nftrace")));
}

TEST_F(OnceTest, CleanupRemovesOursAndNothingElseAndSucceedsWhenThereIsNothing) {
  ASSERT_TRUE(packets::run_program({"nft", "add", "table", "ip", "somebody-else"}));
  ASSERT_EQ(once(), 0);
  EXPECT_EQ(ProgramRun({"--cleanup"}).wait(), 0);
  EXPECT_EQ(packets::run_program({"nft", "list", "ruleset"}).value(),
            "table ip somebody-else {\n}\n");
  EXPECT_EQ(ProgramRun({"--cleanup"}).wait(), 0);
  ASSERT_TRUE(packets::run_program({"nft", "delete", "table", "ip", "somebody-else"}));
}

TEST_F(OnceTest, OneBrokenDocumentInFiftyIsReportedOnceAndTheOthersAreServed) {
  std::string fifty;
  for (int i = 1; i <= 50; ++i) {
    fifty += i == 17 ? "apiVersion: v1\nkind: Service\nmetadata: {name: s17, namespace: default}\n"
                       "spec: {clusterIP: 172.30.1.17, ports: [{port: 70000}]}\n"
                     : service_manifest("s" + std::to_string(i), "172.30.1." + std::to_string(i));
    fifty += "---\n";
  }
  files_.remove("web.yaml");
  files_.remove("web-1.yaml");
  files_.write("all.yaml", fifty);

  ProgramRun run(arguments({"--once"}));
  EXPECT_EQ(run.wait(), 1);
  const std::string error = run.standard_error();
  EXPECT_THAT(
      error,
      HasSubstr("all.yaml:132: Service default/s17: spec.ports[0].port: 70000 is not a port"));
  EXPECT_THAT(error, HasSubstr("1 problems in"));
  const std::string live = kernel_.live(files_.config());
  EXPECT_EQ(std::count(live.begin(), live.end(), '\n'), 2 * 49);
  EXPECT_THAT(live, testing::Not(HasSubstr("s17")));
}

TEST_F(OnceTest, ADirectoryThatIsNotThereIsAFailureThatNamesIt) {
  ProgramRun run({"--config", files_.config(), "--manifests", "/nowhere/at/all", "--once"});
  EXPECT_EQ(run.wait(), 1);
  EXPECT_THAT(run.standard_error(), HasSubstr("/nowhere/at/all"));
}

TEST_F(OnceTest, WithoutIpv6OnTheNodeThereIsOneWarningAndIpv4GoesOn) {
  ASSERT_TRUE(packets::run_program({"sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"}));
  ProgramRun run(arguments({"--once"}));
  EXPECT_EQ(run.wait(), 0);
  EXPECT_THAT(run.standard_error(), HasSubstr("IPv6 is off on this node"));
  EXPECT_TRUE(kernel_.has_table(IpFamily::Ipv4));
  EXPECT_FALSE(kernel_.has_table(IpFamily::Ipv6));
  ASSERT_TRUE(packets::run_program({"sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0"}));
}

}  // namespace
}  // namespace mkp
