#include "informer/pager.h"

#include <gtest/gtest.h>

#include "tests/fakes/scripted_source.h"
#include "tests/fakes/test_loop.h"
#include "tests/fakes/test_object.h"

namespace mkp {
namespace {

class PagerTest : public testing::Test {
 protected:
  void page_returns(const std::string& name, std::string version, std::string token) {
    std::vector<ObjectPtr> objects = {test_object(name, 1)};
    api_.list_returns(Listing{std::move(objects), std::move(version), std::move(token)});
  }

  // What comes of a list at version 5, in pages of one: "a 1, b 1 at 5 in pages", or why not.
  std::string list() {
    loop_.start(list_into(api_, listed_));
    return listed_;
  }

  ScriptedSource api_;
  std::string listed_;
  FakeClock clock_;
  TestLoop loop_{clock_};

 private:
  static asio::awaitable<void> list_into(ObjectSource& source, std::string& listed) {
    const ListQuery query{"5", 1, {}};
    const Result<PagedListing> pages = co_await list_pages(source, query);
    if (!pages) {
      listed = pages.error().what;
      co_return;
    }
    listed = sorted_text(pages->listing.objects) + " at " + pages->listing.resource_version +
             (pages->paginated ? " in pages" : "");
  }
};

TEST_F(PagerTest, TakesOnePageWhenThereIsNoMore) {
  page_returns("a", "6", "");
  EXPECT_EQ(list(), "a 1 at 6");
  EXPECT_EQ(api_.requests(), "list 5 limit 1");
}

TEST_F(PagerTest, GathersAllPagesAtTheVersionOfTheFirst) {
  page_returns("a", "6", "C1");
  page_returns("b", "7", "C2");
  page_returns("c", "8", "");
  EXPECT_EQ(list(), "a 1, b 1, c 1 at 6 in pages");
  EXPECT_EQ(api_.requests(),
            "list 5 limit 1, list \"\" limit 1 continue C1, list \"\" limit 1 continue C2");
}

// Case 114.
TEST_F(PagerTest, ListsInOnePieceWhatExpiredBetweenTwoPages) {
  page_returns("a", "6", "C1");
  api_.list_returns(fail(Errc::Expired, "410 Gone"));
  page_returns("b", "9", "");
  EXPECT_EQ(list(), "b 1 at 9 in pages");
  EXPECT_EQ(api_.requests(), "list 5 limit 1, list \"\" limit 1 continue C1, list 5");
}

TEST_F(PagerTest, AFirstPageThatExpiredIsTheCallersToMend) {
  api_.list_returns(fail(Errc::Expired, "410 Gone"));
  EXPECT_EQ(list(), "410 Gone");
  EXPECT_EQ(api_.requests(), "list 5 limit 1");
}

TEST_F(PagerTest, AnyOtherFailureOfALaterPageEndsTheList) {
  page_returns("a", "6", "C1");
  api_.list_returns(fail(Errc::Unavailable, "too many requests"));
  EXPECT_EQ(list(), "too many requests");
  EXPECT_EQ(api_.requests(), "list 5 limit 1, list \"\" limit 1 continue C1");
}

}  // namespace
}  // namespace mkp
