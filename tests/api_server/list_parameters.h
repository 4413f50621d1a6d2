#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "tests/api_server/api_request.h"
#include "tests/api_server/selectors.h"
#include "tests/api_server/status_answer.h"

namespace mkp::api {

// What a list or watch asks for.
struct ListParameters {
  LabelSelector labels;
  FieldSelector fields;
  std::string resource_version;  // as it was sent
  std::uint64_t revision = 0;    // its number; 0 for "" and "0"
  bool exact = false;
  // A list's.
  std::int64_t limit = 0;
  std::string continue_token;
  // A watch's.
  std::optional<bool> send_initial_events;
  bool bookmarks = false;
  std::optional<std::chrono::seconds> timeout;

  bool selects_all() const { return labels.selects_all() && fields.selects_all(); }
  bool matches(const std::string& name_space, const Labels& object_labels,
               const std::map<std::string, std::string>& object_fields) const;
  std::string name_space;  // empty: all
};

// Checks them as an API server does, which has the feature WatchList or not. The default that a
// watch from "" or "0" begins with everything there is, is applied.
tl::expected<ListParameters, StatusAnswer> read_parameters(const ApiRequest& request,
                                                           bool watch_list);

// A continue token: where the next page begins, and of which revision; -1: of the present one.
struct PagePosition {
  std::int64_t revision = 0;
  std::string after;  // the key of the last object of the page before
};
std::string to_token(const PagePosition& position);
std::optional<PagePosition> read_token(const std::string& token);

}  // namespace mkp::api
