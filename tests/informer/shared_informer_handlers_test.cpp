#include <gtest/gtest.h>

#include <functional>

#include "tests/informer/informer_fixture.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

class SharedInformerHandlersTest : public InformerTest {
 protected:
  SharedInformer::Registration add(ResourceEventHandler& handler) {
    return informer_.add_event_handler(handler).value();
  }
};

// Does something of its own when it hears of an addition.
ResourceEventHandlerFuncs on_add(std::function<void(const ObjectPtr&)> act) {
  ResourceEventHandlerFuncs::Functions functions;
  functions.add = [act = std::move(act)](const ObjectPtr& object, bool) { act(object); };
  return ResourceEventHandlerFuncs(std::move(functions));
}

// Case 151.
TEST_F(SharedInformerHandlersTest, OneOfTwoHandlersCanGo) {
  const SharedInformer::Registration first = add(handler_);
  add(other_handler_);
  start();
  informer_.remove_event_handler(first);
  EXPECT_EQ(informer_.listener_count(), 1U);
  cluster_.put("a", 1);
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "");
  EXPECT_EQ(other_handler_.heard(), "add a 1");
}

// Case 151.
TEST_F(SharedInformerHandlersTest, AHandlerThatIsGoneMayBeRemovedAgain) {
  const SharedInformer::Registration registration = add(handler_);
  add(other_handler_);
  informer_.remove_event_handler(registration);
  informer_.remove_event_handler(registration);
  EXPECT_EQ(informer_.listener_count(), 1U);
}

// Case 151.
TEST_F(SharedInformerHandlersTest, ARegistrationOfAnotherInformerIsPassedOver) {
  SharedInformer other(cluster_, clock_, SharedInformer::Options{});
  const SharedInformer::Registration foreign = other.add_event_handler(other_handler_).value();
  add(handler_);
  informer_.remove_event_handler(foreign);
  EXPECT_EQ(informer_.listener_count(), 1U);
  EXPECT_EQ(other.listener_count(), 1U);
  EXPECT_FALSE(foreign->is_removed());
}

// Case 152.
TEST_F(SharedInformerHandlersTest, AHandlerRegisteredTwiceIsToldTwice) {
  const SharedInformer::Registration first = add(handler_);
  add(handler_);
  start();
  cluster_.put("a", 1);
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "add a 1, add a 1");
  informer_.remove_event_handler(first);
  cluster_.put("b", 2);
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "add b 2");
}

// Case 153.
TEST_F(SharedInformerHandlersTest, NoHandlerIsTakenAfterTheStop) {
  start();
  loop_.stop();
  const Result<SharedInformer::Registration> added = informer_.add_event_handler(handler_);
  ASSERT_FALSE(added);
  EXPECT_TRUE(added.error().what.ends_with(
      "was not added to shared informer because it has stopped already"));
}

// Case 153.
TEST_F(SharedInformerHandlersTest, AHandlerMayGoAfterTheStop) {
  const SharedInformer::Registration registration = add(handler_);
  start();
  loop_.stop();
  informer_.remove_event_handler(registration);
  EXPECT_EQ(informer_.listener_count(), 0U);
}

// Case 154.
TEST_F(SharedInformerHandlersTest, AHandlerThatIsRemovedHearsNothingMoreOfWhatIsPending) {
  SharedInformer::Registration second;
  ResourceEventHandlerFuncs first =
      on_add([&](const ObjectPtr&) { informer_.remove_event_handler(second); });
  add(first);
  second = add(handler_);
  start();
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  loop_.settle();
  EXPECT_EQ(handler_.heard(), "");
}

// Case 155.
TEST_F(SharedInformerHandlersTest, ALateHandlerFirstHearsOfAllThatExistsAndThenOfChanges) {
  add(handler_);
  cluster_.put("a", 1);
  start();
  handler_.heard();
  const SharedInformer::Registration late = add(other_handler_);
  EXPECT_FALSE(late->has_synced());
  cluster_.put("a", 2);
  loop_.settle();
  EXPECT_TRUE(late->has_synced());
  EXPECT_EQ(other_handler_.heard(), "add a 1 initial, update a 1 -> a 2");
  EXPECT_EQ(handler_.heard(), "update a 1 -> a 2");
}

// Case 155.
TEST_F(SharedInformerHandlersTest, ALateHandlerOfAnEmptyClusterHasSyncedAtOnce) {
  start();
  EXPECT_TRUE(add(handler_)->has_synced());
}

TEST_F(SharedInformerHandlersTest, AHandlerHasSyncedOnceItHeardAllOfTheInitialList) {
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  std::vector<bool> synced;
  SharedInformer::Registration registration;
  ResourceEventHandlerFuncs handler =
      on_add([&](const ObjectPtr&) { synced.push_back(registration->has_synced()); });
  registration = add(handler);
  start();
  EXPECT_EQ(synced, (std::vector<bool>{false, false}));
  EXPECT_TRUE(registration->has_synced());
}

// Case 158.
TEST_F(SharedInformerHandlersTest, AHandlerRemovedBeforeTheStartIsNeverCalled) {
  cluster_.put("a", 1);
  informer_.remove_event_handler(add(handler_));
  start();
  EXPECT_EQ(handler_.heard(), "");
}

// Case 158.
TEST_F(SharedInformerHandlersTest, AHandlerThatRemovesItselfIsNotCalledAgain) {
  cluster_.put("a", 1);
  cluster_.put("b", 2);
  int calls = 0;
  SharedInformer::Registration registration;
  ResourceEventHandlerFuncs handler = on_add([&](const ObjectPtr&) {
    ++calls;
    informer_.remove_event_handler(registration);
  });
  registration = add(handler);
  start();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(registration->has_synced());
}

// Case 158.
TEST_F(SharedInformerHandlersTest, NoHandlerIsCalledAfterTheStop) {
  add(handler_);
  start();
  cluster_.put("a", 1);
  loop_.stop();
  loop_.settle();
  handler_.heard();
  cluster_.put("b", 2);
  loop_.pass(1min);
  EXPECT_EQ(handler_.heard(), "");
}

TEST_F(SharedInformerHandlersTest, AHandlerMayBringAnotherOne) {
  cluster_.put("a", 1);
  bool brought = false;
  ResourceEventHandlerFuncs handler = on_add([&](const ObjectPtr&) {
    if (!std::exchange(brought, true)) add(handler_);
  });
  add(handler);
  start();
  EXPECT_EQ(handler_.heard(), "add a 1 initial");
}

}  // namespace
}  // namespace mkp
