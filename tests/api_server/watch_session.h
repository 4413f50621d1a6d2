#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tests/api_server/connection.h"
#include "tests/api_server/list_parameters.h"
#include "tests/api_server/response_writer.h"
#include "tests/api_server/server_state.h"
#include "tests/api_server/wire_encoding.h"

namespace mkp::api {

// How a test ends a watch.
struct WatchEnd {
  bool half_an_event = false;          // first, some bytes of an event
  std::optional<Ending> connection{};  // nothing: the stream ends in good order
};

// One open watch: what was asked for, and what still has to be sent. In the state's `watches` while
// it lives.
class WatchSession {
 public:
  // All of them outlive the session; `parameters` as read_parameters has checked them.
  WatchSession(ServerState& state, const ApiRequest& request, ListParameters parameters,
               Encoding encoding, const asio::any_io_executor& loop);
  ~WatchSession();
  WatchSession(const WatchSession&) = delete;
  WatchSession& operator=(const WatchSession&) = delete;

  const ApiRequest& request() const { return request_; }

  // What a test or the store has to say. It is sent in the order of the calls.
  void tell(const Change& change);
  void bookmark();
  void fail(const StatusAnswer& status);  // in the stream, which ends
  void raw(std::string frame);
  void end(const WatchEnd& how);

  // Sends the answer until it ends. True when the connection may be used on. What the client sends
  // meanwhile is appended to `unread`.
  asio::awaitable<bool> run(ResponseWriter& writer, Connection& connection, std::string& unread);

 private:
  void begin();
  void tell_everything();
  void push(std::string frame);
  std::optional<std::string> frame_of(const Change& change) const;
  std::string an_event() const;
  bool compresses() const;

  asio::awaitable<void> pump(ResponseWriter& writer, Connection& connection);
  asio::awaitable<void> finish(const WatchEnd& how, ResponseWriter& writer, Connection& connection);
  asio::awaitable<void> alarms(Connection& connection);
  static asio::awaitable<void> client_leaves(Connection& connection, std::string& unread);

  ServerState& state_;
  const ApiRequest& request_;
  ListParameters parameters_;
  Encoding encoding_;
  TimePoint deadline_;
  asio::steady_timer wake_;  // cancelled when there is something new
  std::deque<std::string> frames_;
  std::size_t backlog_ = 0;  // how many frames are too many
  std::optional<WatchEnd> end_;
  bool ended_well_ = false;
};

}  // namespace mkp::api
