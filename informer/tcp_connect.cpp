#include "informer/tcp_connect.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <string>
#include <utility>
#include <vector>

#include "informer/deadline.h"
#include "informer/forward_proxy.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

// A second attempt does better than a third SYN: those are 1 and 3 s behind the first.
constexpr Duration kConnectLimit = 2s;
constexpr Duration kTunnelLimit = 10s;
constexpr Duration kResolveLimit = 10s;

// See byte_stream.h. Watches of an API server that is well are never silent for long on the wire,
// as the kernel there answers probes by itself.
constexpr int kIdleBeforeProbe = 2;  // s
constexpr int kBetweenProbes = 1;    // s
constexpr int kProbes = 2;
constexpr int kUserTimeout = 4000;  // ms

Result<> notice_silence(tcp::socket& socket) {
  const auto set = [&socket](int level, int option, int value) {
    return ::setsockopt(socket.native_handle(), level, option, &value, sizeof value) == 0;
  };
  const bool done = set(IPPROTO_TCP, TCP_NODELAY, 1) && set(SOL_SOCKET, SO_KEEPALIVE, 1) &&
                    set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleBeforeProbe) &&
                    set(IPPROTO_TCP, TCP_KEEPINTVL, kBetweenProbes) &&
                    set(IPPROTO_TCP, TCP_KEEPCNT, kProbes) &&
                    set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeout);
  if (!done) return fail_errno(errno, "set up the connection");
  return {};
}

using Endpoints = std::vector<tcp::endpoint>;

asio::awaitable<Result<Endpoints>> resolve(std::string host, std::uint16_t port) {
  boost::system::error_code literal;
  const auto address = asio::ip::make_address(host, literal);
  if (!literal) co_return Endpoints{tcp::endpoint(address, port)};
  tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto [error, found] = co_await resolver.async_resolve(host, std::to_string(port),
                                                              asio::as_tuple(asio::use_awaitable));
  if (error) co_return fail(Errc::Unreachable, "resolve " + host + ": " + error.message());
  Endpoints endpoints(found.begin(), found.end());
  // getaddrinfo says an address once for each of its sources.
  endpoints.erase(std::unique(endpoints.begin(), endpoints.end()), endpoints.end());
  co_return endpoints;
}

asio::awaitable<Result<>> connect_to(tcp::socket& socket, tcp::endpoint endpoint) {
  const auto [error] = co_await socket.async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
  if (error) co_return fail(Errc::Unreachable, error.message());
  // On one machine, with nobody listening there, a socket may by chance have found itself.
  boost::system::error_code ignored;
  if (socket.local_endpoint(ignored) == endpoint) {
    co_return fail(Errc::Unreachable, "Connection refused");
  }
  co_return notice_silence(socket);
}

}  // namespace

asio::awaitable<Result<std::unique_ptr<tcp::socket>>> connect_tcp(const ApiServer& server,
                                                                  Clock& clock) {
  const std::string host = server.proxy ? server.proxy->host : server.host;
  const std::uint16_t port = server.proxy ? server.proxy->port : server.port;
  const Result<Endpoints> endpoints = co_await within(later(clock.now(), kResolveLimit), clock,
                                                      "resolve " + host, resolve(host, port));
  if (!endpoints) co_return tl::unexpected<Error>(endpoints.error());

  Error last{Errc::Unreachable, host + " has no address"};
  for (const tcp::endpoint& endpoint : *endpoints) {
    auto socket = std::make_unique<tcp::socket>(co_await asio::this_coro::executor);
    const std::string doing =
        fmt::format("connect to {}", authority(endpoint.address().to_string(), endpoint.port()));
    Result<> connected = co_await within(later(clock.now(), kConnectLimit), clock, "no answer",
                                         connect_to(*socket, endpoint));
    if (connected && server.proxy && server.tls) {
      connected = co_await within(later(clock.now(), kTunnelLimit), clock, "open a tunnel",
                                  open_tunnel(*socket, server, *server.proxy));
    }
    if (connected) co_return std::move(socket);
    last = fail(std::move(connected.error()), doing).value();
  }
  co_return tl::unexpected<Error>(std::move(last));
}

}  // namespace mkp
