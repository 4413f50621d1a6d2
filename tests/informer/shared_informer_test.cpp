#include "informer/shared_informer.h"

#include <gtest/gtest.h>

#include "tests/informer/informer_fixture.h"

namespace mkp {
namespace {

using SharedInformerTest = InformerTest;

// Case 138.
TEST_F(SharedInformerTest, TellsAdditionsUpdatesAndDeletionsAndEndsUpEmpty) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  start();
  cluster_.put("ns/a", 1);
  cluster_.put("ns/a", 2);
  cluster_.remove("ns/a");
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "add ns/a 1, update ns/a 1 -> ns/a 2, delete ns/a 2");
  EXPECT_EQ(informer_.indexer().size(), 0U);
}

// Case 139.
TEST_F(SharedInformerTest, CallsInitialOnlyWhatTheFirstListHeld) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  start();
  EXPECT_EQ(handler_.heard(), "add a 1 initial, add b 2 initial");
  cluster_.put("c", 3);
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "add c 3");
  cluster_.put("d", 4, Heard::No);
  cluster_.reset_watches();
  loop_.settle();
  pass_backoff();
  // A handler counts as syncing until the first resync, so it hears of what stayed the same, too.
  EXPECT_EQ(handler_.heard(), "update a 1 -> a 1, update b 2 -> b 2, update c 3 -> c 3, add d 4");
}

// Case 142.
TEST_F(SharedInformerTest, LearnsFromAListWhatTheWatchDidNotTell) {
  ASSERT_TRUE(informer_.add_event_handler(handler_));
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  cluster_.put("c", 3);
  start();
  handler_.heard();
  cluster_.put("b", 20, Heard::No);
  cluster_.put("d", 4, Heard::No);
  cluster_.remove("c", Heard::No);
  cluster_.reset_watches();
  loop_.settle();
  pass_backoff();
  EXPECT_EQ(handler_.heard(),
            "update a 1 -> a 1, update b 2 -> b 20, add d 4, delete tombstone c 3");
}

// Case 149.
TEST_F(SharedInformerTest, TellsTheWatchErrorHandlerWhyAListFailed) {
  std::string told;
  ASSERT_TRUE(informer_.set_watch_error_handler([&](const Error& error) { told = error.what; }));
  cluster_.list_fails(Error{Errc::Denied, "Access Denied"});
  start();
  EXPECT_EQ(told, "failed to list object: Access Denied");
}

}  // namespace
}  // namespace mkp
