#pragma once

#include <tl/expected.hpp>

#include "tests/api_server/list_parameters.h"
#include "tests/api_server/object_store.h"
#include "tests/api_server/wire_encoding.h"

namespace mkp::api {

// What a list answers, now. A version that is still to come is the caller's to wait for.
tl::expected<ListPage, StatusAnswer> answer_list(const ObjectStore& store, ObjectKind kind,
                                                 const ListParameters& parameters);

}  // namespace mkp::api
