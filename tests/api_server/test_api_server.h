#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <set>
#include <string>

#include "runner/clock.h"
#include "tests/api_server/connection.h"
#include "tests/api_server/server_state.h"
#include "tests/api_server/watch_session.h"

namespace mkp::api {

// An API server for what a real one won't do on demand: HTTP/1.1, list, watch and get of Services,
// EndpointSlices, Nodes and ServiceCIDRs, as JSON and protobuf, on real sockets and a Clock of the
// test's. Writes go through store(). Belongs to the loop that it is started on, and must outlive
// that; ServerThread (server_thread.h) gives it one of its own.
class TestApiServer {
 public:
  explicit TestApiServer(Clock& clock);
  TestApiServer(const TestApiServer&) = delete;
  TestApiServer& operator=(const TestApiServer&) = delete;

  // Listens. The port is the last one, or, the first time, any that is free.
  void start(const asio::any_io_executor& loop, const std::string& address = "127.0.0.1",
             std::uint16_t port = 0);
  // Ends every connection, and refuses new ones until it is started again. The objects stay.
  void stop(Ending ending = Ending::Reset);

  std::uint16_t port() const { return port_; }
  // "https://127.0.0.1:32768"
  std::string url() const;

  ObjectStore& store() { return state_.store; }
  ServerSettings& settings() { return state_.settings; }
  FaultScript& faults() { return state_.faults; }
  RequestLog& log() { return state_.log; }

  // Of the watches that are open, those whose requests match.
  std::size_t watches(const RequestMatch& which = {}) const;
  void end_watches(const WatchEnd& how, const RequestMatch& which = {});
  void fail_watches(const StatusAnswer& status, const RequestMatch& which = {});
  void send_bookmarks(const RequestMatch& which = {});
  // Bytes in the stream, as they are.
  void send_to_watches(const std::string& bytes, const RequestMatch& which = {});
  // All connections, whatever goes on in them.
  void end_connections(Ending ending);
  std::size_t connections() const { return connections_.size(); }

 private:
  asio::awaitable<void> accept(asio::ip::tcp::acceptor acceptor);
  asio::awaitable<void> serve(asio::ip::tcp::socket socket);
  template <class Act>
  void each_watch(const RequestMatch& which, Act act);

  ServerState state_;
  std::string address_;
  std::uint16_t port_ = 0;
  asio::ip::tcp::acceptor* acceptor_ = nullptr;  // null when it does not listen
  std::set<Connection*> connections_;
};

}  // namespace mkp::api
