#include "informer/sync_tracking.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/test_loop.h"

namespace mkp {
namespace {

// Case 161.
TEST(SingleFileTrackerTest, ItemsFinishedButNeverStartedAreFatal) {
  SingleFileTracker tracker;
  EXPECT_DEATH(tracker.finished(), "more initial items were finished than started");
}

// Case 161.
TEST(SingleFileTrackerTest, HasSyncedOnceTheUpstreamHasWhenNothingIsOutstanding) {
  SingleFileTracker tracker;
  EXPECT_FALSE(tracker.has_synced());
  tracker.upstream_has_synced();
  EXPECT_TRUE(tracker.has_synced());
}

// Case 161.
TEST(SingleFileTrackerTest, HasSyncedOnlyAfterTheLastItemIsFinished) {
  SingleFileTracker tracker;
  tracker.start();
  tracker.upstream_has_synced();
  EXPECT_FALSE(tracker.has_synced());
  tracker.finished();
  EXPECT_TRUE(tracker.has_synced());
}

TEST(SingleFileTrackerTest, OnceSyncedItStaysSo) {
  SingleFileTracker tracker;
  tracker.upstream_has_synced();
  tracker.start();
  EXPECT_TRUE(tracker.has_synced());
}

class WaitForCacheSyncTest : public testing::Test {
 protected:
  asio::awaitable<void> wait() {
    std::vector<const SyncLatch*> latches = {&services_, &slices_};
    synced_ = co_await wait_for_cache_sync(std::move(latches));
  }

  FakeClock clock_;
  SyncLatch services_;
  SyncLatch slices_;
  std::optional<bool> synced_;
  TestLoop loop_{clock_};
};

// Case 163.
TEST_F(WaitForCacheSyncTest, ReturnsAtOnceWhenAllHaveSynced) {
  services_.set();
  slices_.set();
  loop_.start(wait());
  EXPECT_EQ(synced_, true);
}

// Case 163.
TEST_F(WaitForCacheSyncTest, WakesUpWithTheLastSyncAndWithoutAnyTimePassing) {
  loop_.start(wait());
  slices_.set();
  loop_.settle();
  EXPECT_EQ(synced_, std::nullopt);
  services_.set();
  loop_.settle();
  EXPECT_EQ(synced_, true);
}

// Case 163.
TEST_F(WaitForCacheSyncTest, IsFalseWhenSomebodyStopsBeforeTheSync) {
  loop_.start(wait());
  services_.abandon();
  loop_.settle();
  EXPECT_EQ(synced_, false);
}

TEST_F(WaitForCacheSyncTest, WhoSyncedBeforeStoppingHasSynced) {
  services_.set();
  services_.abandon();
  slices_.set();
  loop_.start(wait());
  EXPECT_EQ(synced_, true);
}

TEST_F(WaitForCacheSyncTest, ACancelledWaitEndsWithoutAnAnswer) {
  loop_.start(wait());
  loop_.stop();
  EXPECT_TRUE(loop_.ended());
  EXPECT_EQ(synced_, std::nullopt);
}

}  // namespace
}  // namespace mkp
