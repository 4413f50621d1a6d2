#include "runner/http_server.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <ctime>
#include <list>
#include <optional>
#include <string_view>

namespace mkp {
namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using asio::ip::tcp;
namespace http = boost::beast::http;
using boost::system::error_code;
using HttpMessage = http::response<http::string_body>;

// How long nothing is accepted after that failed, for want of descriptors for example.
constexpr Duration kAcceptPause = 100ms;
// What a client that was refused may still send without having its answer taken away by a reset.
constexpr std::size_t kMostDrained = 65'536;

struct Connection {
  explicit Connection(tcp::socket open) : socket(std::move(open)) {}

  tcp::socket socket;
  TimePoint deadline;      // closed then
  bool answering = false;  // an answer is on its way
};
using ConnectionPtr = std::shared_ptr<Connection>;

asio::ip::address asio_address(const IpAddress& address) {
  if (address.family == IpFamily::Ipv6) return asio::ip::address_v6(address.bytes);
  asio::ip::address_v4::bytes_type bytes{};
  std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
  return asio::ip::address_v4(bytes);
}

// What binds a listening socket; the acceptor stays closed when that fails.
error_code bind(tcp::acceptor& acceptor, const tcp::endpoint& where, bool takes_ipv4) {
  error_code error;
  error_code ignored;
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && where.address().is_v6()) {
    acceptor.set_option(asio::ip::v6_only(!takes_ipv4), error);
  }
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) acceptor.close(ignored);
  return error;
}

error_code bind(tcp::acceptor& acceptor, const ListenOn& where) {
  const bool both = where.wildcard == ListenOn::Wildcard::BothFamilies;
  if (!both || !is_unspecified(where.address)) {
    return bind(acceptor, {asio_address(where.address), where.port}, false);
  }
  const error_code error = bind(acceptor, {asio::ip::address_v6::any(), where.port}, true);
  if (error != asio::error::address_family_not_supported) return error;
  return bind(acceptor, {asio::ip::address_v4::any(), where.port}, false);
}

std::string http_date() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

HttpMessage message_of(const HttpServer::Answer& answer, unsigned version) {
  HttpMessage message;
  message.version(version);
  message.result(answer.status);
  message.set(http::field::content_type, answer.content_type);
  message.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : answer.headers) message.set(name, value);
  message.set(http::field::date, http_date());
  message.body() = answer.body;
  message.prepare_payload();
  return message;
}

// The status for a request that could not be read; nothing where there is nobody to answer.
std::optional<unsigned> refusal_of(const error_code& error) {
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return std::nullopt;
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  if (error.category() == http::make_error_code(http::error::bad_method).category()) return 400;
  return std::nullopt;
}

HttpServer::Request request_of(const http::request<http::string_body>& message) {
  const std::string target(message.target());
  const std::size_t mark = target.find('?');
  HttpServer::Request request;
  request.method = std::string(message.method_string());
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  return request;
}

}  // namespace

std::string to_text(const ListenOn& where) {
  const bool ipv6 = where.address.family == IpFamily::Ipv6;
  return fmt::format(fmt::runtime(ipv6 ? "[{}]:{}" : "{}:{}"), to_text(where.address), where.port);
}

// What the server and its coroutines share. Those may outlive the server, but then do nothing more
// than end.
class HttpServer::Listener {
 public:
  Listener(const asio::any_io_executor& loop, Clock& clock, Handler handler, const Limits& limits)
      : acceptor_(loop),
        clock_(clock),
        handler_(std::move(handler)),
        limits_(limits),
        alarm_(loop, TimePoint::max()) {}

  error_code listen(const ListenOn& where) { return bind(acceptor_, where); }
  static void start(const std::shared_ptr<Listener>& self) {
    spawn(self->acceptor_.get_executor(), accept(self));
    spawn(self->acceptor_.get_executor(), reap(self));
  }
  void close();

  std::uint16_t port() const {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }
  std::size_t connections() const { return connections_.size(); }

 private:
  static void spawn(const asio::any_io_executor& loop, asio::awaitable<void> task) {
    asio::co_spawn(loop, std::move(task), [](const std::exception_ptr& failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }
  static asio::awaitable<void> accept(std::shared_ptr<Listener> self);
  static asio::awaitable<void> reap(std::shared_ptr<Listener> self);
  static asio::awaitable<void> converse(std::shared_ptr<Listener> self, ConnectionPtr connection);

  asio::awaitable<bool> exchange(Connection& connection, boost::beast::flat_buffer& buffer);
  asio::awaitable<bool> answer(Connection& connection, http::request<http::string_body> request);
  asio::awaitable<void> refuse(Connection& connection, unsigned status);
  asio::awaitable<bool> write(Connection& connection, HttpMessage message);
  asio::awaitable<void> pause_until(TimePoint deadline);
  asio::awaitable<void> until_woken(std::uint64_t since);

  ConnectionPtr admit(tcp::socket socket);
  void shed_one();
  void drop(const Connection& connection);
  void expect(Connection& connection, Duration within);
  void progressed(const Connection& connection);
  void wake();
  void report_accepting(const error_code& error);

  tcp::acceptor acceptor_;
  Clock& clock_;
  Handler handler_;
  Limits limits_;
  bool closed_ = false;
  bool cannot_accept_ = false;            // as logged
  std::list<ConnectionPtr> connections_;  // who has gone longest without an answer comes first
  asio::steady_timer alarm_;              // to cancel it is to wake who waits on it
  std::uint64_t wakes_ = 0;
  TimePoint next_look_ = TimePoint::max();  // when deadlines are next looked at
};

void HttpServer::Listener::close() {
  closed_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  while (!connections_.empty()) drop(*connections_.front());
  wake();
}

void HttpServer::Listener::wake() {
  ++wakes_;
  alarm_.cancel();
}

// --- who is connected ---

ConnectionPtr HttpServer::Listener::admit(tcp::socket socket) {
  if (connections_.size() >= limits_.connections) shed_one();
  connections_.push_back(std::make_shared<Connection>(std::move(socket)));
  expect(*connections_.back(), limits_.request_time);
  return connections_.back();
}

// Not one that is being answered, if there are others.
void HttpServer::Listener::shed_one() {
  if (connections_.empty()) return;
  const auto waiting = std::find_if(connections_.begin(), connections_.end(),
                                    [](const ConnectionPtr& one) { return !one->answering; });
  drop(waiting == connections_.end() ? *connections_.front() : **waiting);
}

void HttpServer::Listener::drop(const Connection& connection) {
  const auto found =
      std::find_if(connections_.begin(), connections_.end(),
                   [&](const ConnectionPtr& one) { return one.get() == &connection; });
  if (found == connections_.end()) return;
  error_code ignored;
  (*found)->socket.close(ignored);
  connections_.erase(found);
}

void HttpServer::Listener::expect(Connection& connection, Duration within) {
  connection.deadline = later(clock_.now(), within);
  if (connection.deadline < next_look_) wake();
}

void HttpServer::Listener::progressed(const Connection& connection) {
  const auto found =
      std::find_if(connections_.begin(), connections_.end(),
                   [&](const ConnectionPtr& one) { return one.get() == &connection; });
  if (found != connections_.end()) connections_.splice(connections_.end(), connections_, found);
}

// --- waiting ---

// A wake before the wait begins has nothing to cancel, hence the count.
asio::awaitable<void> HttpServer::Listener::until_woken(std::uint64_t since) {
  while (wakes_ == since) co_await alarm_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> HttpServer::Listener::pause_until(TimePoint deadline) {
  co_await (until_woken(wakes_) || clock_.sleep_until(deadline));
}

asio::awaitable<void> HttpServer::Listener::reap(std::shared_ptr<Listener> self) {
  while (!self->closed_) {
    self->next_look_ = TimePoint::max();
    for (const ConnectionPtr& one : self->connections_) {
      self->next_look_ = std::min(self->next_look_, one->deadline);
    }
    co_await self->pause_until(self->next_look_);
    std::vector<ConnectionPtr> overdue;
    for (const ConnectionPtr& one : self->connections_) {
      if (one->deadline <= self->clock_.now()) overdue.push_back(one);
    }
    for (const ConnectionPtr& one : overdue) self->drop(*one);
  }
}

asio::awaitable<void> HttpServer::Listener::accept(std::shared_ptr<Listener> self) {
  while (!self->closed_) {
    tcp::socket socket(self->acceptor_.get_executor());
    const auto [error] =
        co_await self->acceptor_.async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (self->closed_) co_return;
    if (error == asio::error::connection_aborted) continue;
    self->report_accepting(error);
    if (!error) {
      ConnectionPtr connection = self->admit(std::move(socket));
      spawn(self->acceptor_.get_executor(), converse(self, std::move(connection)));
      continue;
    }
    self->shed_one();
    const TimePoint again = later(self->clock_.now(), kAcceptPause);
    while (!self->closed_ && self->clock_.now() < again) co_await self->pause_until(again);
  }
}

void HttpServer::Listener::report_accepting(const error_code& error) {
  if (error && !cannot_accept_) {
    spdlog::warn(
        "no connection to port {} can be accepted, so who asks there gets late answers or none: "
        "{}; "
        "it is tried again every {} ms",
        port(), error.message(),
        std::chrono::duration_cast<std::chrono::milliseconds>(kAcceptPause).count());
  }
  if (!error && cannot_accept_) spdlog::info("connections to port {} are accepted again", port());
  cannot_accept_ = static_cast<bool>(error);
}

// --- one connection ---

asio::awaitable<void> HttpServer::Listener::converse(std::shared_ptr<Listener> self,
                                                     ConnectionPtr connection) {
  boost::beast::flat_buffer buffer(self->limits_.header_bytes + self->limits_.body_bytes);
  bool goes_on = true;
  while (goes_on && !self->closed_) goes_on = co_await self->exchange(*connection, buffer);
  self->drop(*connection);
}

// Reads one request and answers it. Says whether there may be another.
asio::awaitable<bool> HttpServer::Listener::exchange(Connection& connection,
                                                     boost::beast::flat_buffer& buffer) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  parser.body_limit(limits_.body_bytes);
  const auto [error, size] = co_await http::async_read(connection.socket, buffer, parser,
                                                       asio::as_tuple(asio::use_awaitable));
  if (closed_) co_return false;
  if (error) {
    if (const std::optional<unsigned> status = refusal_of(error)) {
      co_await refuse(connection, *status);
    }
    co_return false;
  }
  const bool goes_on = co_await answer(connection, parser.release());
  if (!goes_on || closed_) co_return false;
  progressed(connection);
  if (buffer.size() == 0) {
    expect(connection, limits_.idle_time);
    const auto [gone] = co_await connection.socket.async_wait(tcp::socket::wait_read,
                                                              asio::as_tuple(asio::use_awaitable));
    if (gone || closed_) co_return false;
  }
  expect(connection, limits_.request_time);
  co_return true;
}

asio::awaitable<bool> HttpServer::Listener::answer(Connection& connection,
                                                   http::request<http::string_body> request) {
  if (request.version() == 11 && !request.count(http::field::host)) {
    co_await refuse(connection, 400);
    co_return false;
  }
  HttpMessage message = message_of(handler_(request_of(request)), request.version());
  // With the length of what a GET would bring.
  if (request.method() == http::verb::head) message.body().clear();
  message.keep_alive(request.keep_alive());
  const bool written = co_await write(connection, std::move(message));
  co_return written&& request.keep_alive();
}

asio::awaitable<bool> HttpServer::Listener::write(Connection& connection, HttpMessage message) {
  connection.answering = true;
  expect(connection, limits_.request_time);
  const auto [error, size] =
      co_await http::async_write(connection.socket, message, asio::as_tuple(asio::use_awaitable));
  connection.answering = false;
  co_return !error;
}

asio::awaitable<void> HttpServer::Listener::refuse(Connection& connection, unsigned status) {
  const auto reason = std::string(http::obsolete_reason(http::int_to_status(status)));
  HttpMessage message =
      message_of({.status = status, .body = fmt::format("{} {}\n", status, reason)}, 11);
  message.keep_alive(false);
  const bool written = co_await write(connection, std::move(message));
  if (!written || closed_) co_return;
  error_code ignored;
  connection.socket.shutdown(tcp::socket::shutdown_send, ignored);
  std::array<char, 4096> rest{};
  for (std::size_t drained = 0; drained < kMostDrained;) {
    const auto [error, size] = co_await connection.socket.async_read_some(
        asio::buffer(rest), asio::as_tuple(asio::use_awaitable));
    if (error || closed_) co_return;
    drained += size;
  }
}

// --- the server ---

Result<std::unique_ptr<HttpServer>> HttpServer::open(const asio::any_io_executor& loop,
                                                     Clock& clock, const ListenOn& where,
                                                     Handler handler, const Limits& limits) {
  auto listener = std::make_shared<Listener>(loop, clock, std::move(handler), limits);
  if (const error_code error = listener->listen(where)) {
    return fail_errno(error.value(), "listen on " + to_text(where));
  }
  Listener::start(listener);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

HttpServer::~HttpServer() { listener_->close(); }

std::uint16_t HttpServer::port() const { return listener_->port(); }

std::size_t HttpServer::connections() const { return listener_->connections(); }

}  // namespace mkp
