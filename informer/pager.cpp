#include "informer/pager.h"

#include <iterator>
#include <utility>

namespace mkp {

namespace {

void append(std::vector<ObjectPtr>& all, std::vector<ObjectPtr> more) {
  if (all.empty()) {
    all = std::move(more);
    return;
  }
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

asio::awaitable<Result<PagedListing>> list_pages(ObjectSource& source, ListQuery query) {
  PagedListing all;
  ListQuery next = query;
  for (;;) {
    Result<Listing> page = co_await source.list(next);
    if (!page && page.error().code == Errc::Expired && all.paginated) {
      query.limit = 0;
      page = co_await source.list(query);
      if (!page) co_return tl::unexpected<Error>(std::move(page.error()));
      all.listing = std::move(*page);
      co_return std::move(all);
    }
    if (!page) co_return tl::unexpected<Error>(std::move(page.error()));
    if (!all.paginated) all.listing.resource_version = std::move(page->resource_version);
    append(all.listing.objects, std::move(page->objects));
    if (page->continue_token.empty()) co_return std::move(all);
    all.paginated = true;
    // Servers refuse a version next to a token, which has its own.
    next.resource_version.clear();
    next.continue_token = std::move(page->continue_token);
  }
}

}  // namespace mkp
