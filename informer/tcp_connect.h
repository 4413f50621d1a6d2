#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "informer/api_server.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// A TCP connection to the server, or through its proxy, and set up to notice a silent peer: see
// byte_stream.h. Every address of a name is tried. Fails with Unreachable, and with Denied when the
// proxy says no.
asio::awaitable<Result<std::unique_ptr<asio::ip::tcp::socket>>> connect_tcp(const ApiServer& server,
                                                                            Clock& clock);

}  // namespace mkp
