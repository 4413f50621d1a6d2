#include "tests/api_server/test_api_server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

#include "tests/api_server/exchange.h"
#include "tests/api_server/request_reader.h"

namespace mkp::api {

using asio::ip::tcp;

TestApiServer::TestApiServer(Clock& clock) : state_(clock) {
  state_.store.on_change([this](const Change& change) {
    for (WatchSession* watch : state_.watches) watch->tell(change);
  });
}

void TestApiServer::start(const asio::any_io_executor& loop, const std::string& address,
                          std::uint16_t port) {
  address_ = address;
  if (port != 0) port_ = port;
  const tcp::endpoint place(asio::ip::make_address(address), port_);
  tcp::acceptor acceptor(loop, place);
  // A program that a test starts would keep the port taken.
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  port_ = acceptor.local_endpoint().port();
  asio::co_spawn(loop, accept(std::move(acceptor)), asio::detached);
}

void TestApiServer::stop(Ending ending) {
  if (acceptor_ != nullptr) acceptor_->close();
  end_connections(ending);
}

std::string TestApiServer::url() const {
  const bool ipv6 = address_.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", state_.settings.tls ? "https" : "http",
                     ipv6 ? "[" + address_ + "]" : address_, port_);
}

asio::awaitable<void> TestApiServer::accept(tcp::acceptor acceptor) {
  const auto forget = [this](tcp::acceptor* own) {
    if (acceptor_ == own) acceptor_ = nullptr;
  };
  const std::unique_ptr<tcp::acceptor, decltype(forget)> listening(&acceptor, forget);
  acceptor_ = &acceptor;
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
    if (error) continue;
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> TestApiServer::serve(tcp::socket socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  std::optional<TlsSettings> tls = state_.settings.tls;
  const std::unique_ptr<Connection> connection = co_await greet(std::move(socket), std::move(tls));
  if (!connection) co_return;
  const auto forget = [this](Connection* gone) { connections_.erase(gone); };
  const std::unique_ptr<Connection, decltype(forget)> known(connection.get(), forget);
  connections_.insert(connection.get());
  std::string unread;
  for (;;) {
    const std::optional<ApiRequest> request = co_await read_request(*connection, unread);
    if (!request) co_return;
    state_.log.add(*request, state_.clock.now());
    Exchange exchange(state_, *connection, *request, unread);
    const bool usable = co_await exchange.answer();
    if (!usable) co_return;
  }
}

template <class Act>
void TestApiServer::each_watch(const RequestMatch& which, Act act) {
  for (WatchSession* watch : state_.watches) {
    if (which(watch->request())) act(*watch);
  }
}

std::size_t TestApiServer::watches(const RequestMatch& which) const {
  std::size_t count = 0;
  for (const WatchSession* watch : state_.watches) {
    if (which(watch->request())) ++count;
  }
  return count;
}

void TestApiServer::end_watches(const WatchEnd& how, const RequestMatch& which) {
  each_watch(which, [&how](WatchSession& watch) { watch.end(how); });
}

void TestApiServer::fail_watches(const StatusAnswer& status, const RequestMatch& which) {
  each_watch(which, [&status](WatchSession& watch) { watch.fail(status); });
}

void TestApiServer::send_bookmarks(const RequestMatch& which) {
  each_watch(which, [](WatchSession& watch) { watch.bookmark(); });
}

void TestApiServer::send_to_watches(const std::string& bytes, const RequestMatch& which) {
  each_watch(which, [&bytes](WatchSession& watch) { watch.raw(bytes); });
}

void TestApiServer::end_connections(Ending ending) {
  for (Connection* connection : connections_) connection->close(ending);
}

}  // namespace mkp::api
