#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "tests/api_server/api_request.h"
#include "tests/api_server/connection.h"

namespace mkp::api {

// The next request on a connection, body included; nothing when the client has gone or does not
// speak HTTP/1.1. `unread` has what was read beyond it, for the next call.
asio::awaitable<std::optional<ApiRequest>> read_request(Connection& connection,
                                                        std::string& unread);

}  // namespace mkp::api
