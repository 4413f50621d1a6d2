#include <gtest/gtest.h>

#include <sstream>

#include "proxy/node_rules.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/proxy/live_text.h"
#include "tests/proxy/random_cluster.h"
#include "tests/proxy/reference_model.h"

namespace mkp {
namespace {

constexpr int kClusters = 400;  // a seed
constexpr int kEdits = 5;

const std::vector<IpFamily> kFamilies = {IpFamily::Ipv4, IpFamily::Ipv6};

// A node that follows one cluster over all of its edits.
class Node {
 public:
  explicit Node(const RandomCluster& random)
      : random_(random), rules_(kernel_, random.config(), kFamilies, clock_) {}

  Result<SyncReport> sync(ClusterChanges changes) {
    return rules_.proxier().sync(std::move(changes));
  }
  Result<SyncReport> clean_up() { return rules_.proxier().cleanup(); }
  std::string live(IpFamily family) {
    return live_text(kernel_.dump(family, kTable).value(),
                     live_settings(random_.config(), random_.cluster().node(), family));
  }
  // Every rule and every element. Chains that nobody uses any more go by clean_up() only.
  std::string everything() const {
    return kernel_.text(IpFamily::Ipv4, kTable) + kernel_.text(IpFamily::Ipv6, kTable);
  }
  const nft::FakeNftables::Counters& counters() const { return kernel_.counters(); }
  void reset_counters() { kernel_.reset_counters(); }

 private:
  const RandomCluster& random_;
  FakeClock clock_;
  nft::FakeNftables kernel_;
  NodeRules rules_;
};

// The lines of live_text() that are about frontends.
std::vector<std::string> frontend_lines(const std::string& live) {
  std::vector<std::string> lines;
  std::istringstream all(live);
  for (std::string line; std::getline(all, line);) {
    if (line.find(" (") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

class RandomServices : public testing::TestWithParam<int> {};

TEST_P(RandomServices, LeadWhereAFreshStartAndAPlainModelLeadThem) {
  for (int i = 0; i < kClusters; ++i) {
    const auto seed = static_cast<std::uint32_t>(GetParam() * kClusters + i);
    RandomCluster random(seed);
    Node followed(random);
    for (int edit = 0; edit < kEdits; ++edit) {
      const Result<SyncReport> report = followed.sync(random.cluster().take());
      ASSERT_TRUE(report) << report.error().what;
      if (random.once_in(3)) {
        ASSERT_TRUE(followed.clean_up());
      }
      Node fresh(random);
      ASSERT_TRUE(fresh.sync(random.cluster().all()));
      for (const IpFamily family : kFamilies) {
        const std::string live = followed.live(family);
        ASSERT_EQ(live, fresh.live(family)) << "seed " << seed << ", edit " << edit;
        ASSERT_EQ(frontend_lines(live), expected_lines(random.cluster(), family))
            << "seed " << seed << ", edit " << edit;
      }
      random.edit();
    }
  }
}

// Seeds of their own, so that several cores share the work.
INSTANTIATE_TEST_SUITE_P(Seeds, RandomServices, testing::Range(0, 6));

TEST(RandomServicesTest, AnEditThatChangesNothingForThisNodeSendsNothing) {
  int unchanged = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    RandomCluster random(seed);
    Node followed(random);
    ASSERT_TRUE(followed.sync(random.cluster().take()));
    for (int edit = 0; edit < 10; ++edit) {
      const std::string before = followed.everything();
      followed.reset_counters();
      random.edit();
      ASSERT_TRUE(followed.sync(random.cluster().take()));
      const bool same = followed.everything() == before;
      EXPECT_EQ(followed.counters().commits == 0, same) << "seed " << seed << ", edit " << edit;
      unchanged += same ? 1 : 0;
    }
  }
  EXPECT_GT(unchanged, 300);
}

}  // namespace
}  // namespace mkp
