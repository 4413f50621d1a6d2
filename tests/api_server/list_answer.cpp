#include "tests/api_server/list_answer.h"

#include <algorithm>

namespace mkp::api {
namespace {

struct Selection {
  std::uint64_t revision = 0;
  std::string after;  // empty: from the first object on
};

tl::expected<Selection, StatusAnswer> select(const ObjectStore& store,
                                             const ListParameters& parameters) {
  if (parameters.continue_token.empty()) {
    if (!parameters.exact) return Selection{store.revision(), ""};
    if (parameters.revision < store.compacted()) return tl::unexpected(expired_list());
    return Selection{parameters.revision, ""};
  }
  const std::optional<PagePosition> position = read_token(parameters.continue_token);
  if (!position) {
    return tl::unexpected(bad_request("invalid continue token: continue key is not valid"));
  }
  if (position->revision < 0) return Selection{store.revision(), position->after};
  const auto revision = static_cast<std::uint64_t>(position->revision);
  if (revision < store.compacted()) {
    return tl::unexpected(expired_continue(to_token({-1, position->after})));
  }
  return Selection{revision, position->after};
}

std::pair<std::string_view, std::string_view> place_of(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

tl::expected<ListPage, StatusAnswer> answer_list(const ObjectStore& store, ObjectKind kind,
                                                 const ListParameters& parameters) {
  const tl::expected<Selection, StatusAnswer> selection = select(store, parameters);
  if (!selection) return tl::unexpected(selection.error());
  ListPage page;
  page.revision = selection->revision;
  page.objects = store.objects(kind, selection->revision);
  const auto passed_over = [&](const StoredObjectPtr& object) {
    const ObjectDraft& draft = object->draft;
    return (!selection->after.empty() &&
            std::pair<std::string_view, std::string_view>(draft.name_space, draft.name) <=
                place_of(selection->after)) ||
           !parameters.matches(draft.name_space, draft.labels, draft.fields);
  };
  std::erase_if(page.objects, passed_over);

  const auto limit = static_cast<std::size_t>(parameters.limit);
  if (limit == 0 || page.objects.size() <= limit) return page;
  if (parameters.selects_all()) {
    page.remaining = static_cast<std::int64_t>(page.objects.size() - limit);
  }
  page.objects.resize(limit);
  page.continue_token =
      to_token({static_cast<std::int64_t>(page.revision), page.objects.back()->draft.key()});
  return page;
}

}  // namespace mkp::api
