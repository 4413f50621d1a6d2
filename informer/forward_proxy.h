#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "informer/api_server.h"
#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// Has the proxy at the other end of `socket` make a connection to the server: by CONNECT (RFC 9110)
// or SOCKS 5 (RFC 1928, RFC 1929). Afterwards the socket's bytes are the server's. Unreachable when
// the proxy cannot reach it, Denied when it does not want to.
asio::awaitable<Result<>> open_tunnel(asio::ip::tcp::socket& socket, const ApiServer& server,
                                      const ForwardProxy& proxy);

// "Basic ..." of a user and a password.
std::string basic_authorization(const std::string& user, const std::string& password);

}  // namespace mkp
