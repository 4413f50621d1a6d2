#pragma once

#include <boost/asio/awaitable.hpp>

#include "informer/object_source.h"
#include "runner/result.h"

namespace mkp {

// A whole collection, and whether it came in more than one page.
struct PagedListing {
  Listing listing;  // as of the first page's version
  bool paginated = false;
};

// Lists page after page of at most `query.limit` objects. Pages are of one version, which the
// source may forget before the last of them was asked for: then everything is listed once more, in
// one piece. Every other failure, and each of the first page, is the caller's. The source outlives
// the call; `query` has no continue token.
asio::awaitable<Result<PagedListing>> list_pages(ObjectSource& source, ListQuery query);

}  // namespace mkp
