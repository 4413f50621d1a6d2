#include <gtest/gtest.h>

#include "tests/informer/informer_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

class SharedInformerResyncTest : public testing::Test {
 protected:
  SharedInformerResyncTest() {
    cluster_.put("a", 1);
    cluster_.put("b", 2);
  }
  void add(RecordingHandler& handler, Duration period) {
    ASSERT_TRUE(informer_.add_event_handler(handler, period));
  }
  void start() {
    loop_.start(informer_.run());
    never_.heard();
    two_seconds_.heard();
    three_seconds_.heard();
  }

  static constexpr const char* kAllAgain = "update a 1 -> a 1, update b 2 -> b 2";

  FakeClock clock_;
  InMemoryCluster cluster_;
  RecordingHandler never_;
  RecordingHandler two_seconds_;
  RecordingHandler three_seconds_;
  SharedInformer informer_{cluster_, clock_, SharedInformer::Options{.default_resync_period = 1s}};
  TestLoop loop_{clock_};
};

// Case 145.
TEST_F(SharedInformerResyncTest, EachHandlerSeesAllAgainInItsOwnPeriod) {
  add(never_, 0s);
  add(two_seconds_, 2s);
  add(three_seconds_, 3s);
  start();
  loop_.pass(1s);
  EXPECT_EQ(two_seconds_.heard(), "");
  loop_.pass(1s);
  EXPECT_EQ(never_.heard(), "");
  EXPECT_EQ(two_seconds_.heard(), kAllAgain);
  EXPECT_EQ(three_seconds_.heard(), "");
  loop_.pass(1s);
  EXPECT_EQ(never_.heard(), "");
  EXPECT_EQ(two_seconds_.heard(), "");
  EXPECT_EQ(three_seconds_.heard(), kAllAgain);
}

TEST_F(SharedInformerResyncTest, AListThatChangedNothingIsForThoseWhoAreSyncing) {
  add(never_, 0s);
  add(two_seconds_, 2s);
  start();
  loop_.pass(1s);
  loop_.pass(1s);
  two_seconds_.heard();
  cluster_.put("c", 3, InMemoryCluster::Heard::No);
  cluster_.streams_fail(Error{Errc::Invalid, "broken"});
  loop_.settle();
  loop_.pass(1600ms);
  EXPECT_EQ(never_.heard(), "add c 3");
  EXPECT_EQ(two_seconds_.heard(), "update a 1 -> a 1, update b 2 -> b 2, add c 3");
}

TEST_F(SharedInformerResyncTest, AnImpatientHandlerBeforeTheStartMakesTheInformerLookMoreOften) {
  SharedInformer informer(cluster_, clock_, SharedInformer::Options{.default_resync_period = 12h});
  const auto patient = informer.add_event_handler(never_, 1min).value();
  EXPECT_EQ(informer.resync_check_period(), 1min);
  const auto impatient = informer.add_event_handler(two_seconds_, 5s).value();
  EXPECT_EQ(informer.resync_check_period(), 5s);
  EXPECT_EQ(patient->resync_period(), 1min);
  EXPECT_EQ(impatient->resync_period(), 5s);
}

TEST_F(SharedInformerResyncTest, AnImpatientHandlerAfterTheStartHasToWaitLikeTheOthers) {
  SharedInformer informer(cluster_, clock_, SharedInformer::Options{.default_resync_period = 1min});
  TestLoop loop(clock_);
  loop.start(informer.run());
  EXPECT_EQ(informer.add_event_handler(never_, 5s).value()->resync_period(), 1min);
  EXPECT_EQ(informer.resync_check_period(), 1min);
}

TEST_F(SharedInformerResyncTest, NobodySeesAllAgainMoreOftenThanEachSecond) {
  EXPECT_EQ(informer_.add_event_handler(never_, 100ms).value()->resync_period(), 1s);
}

}  // namespace
}  // namespace mkp
