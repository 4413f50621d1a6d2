#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "tests/api_server/connection.h"
#include "tests/api_server/response_writer.h"
#include "tests/api_server/server_state.h"
#include "tests/api_server/wire_encoding.h"

namespace mkp::api {

// One request and its answer.
class Exchange {
 public:
  // All of them outlive it. `unread` has what the client sent after the request.
  Exchange(ServerState& state, Connection& connection, const ApiRequest& request,
           std::string& unread)
      : state_(state),
        connection_(connection),
        request_(request),
        unread_(unread),
        fault_(state.faults.take(request)),
        writer_(connection, state.clock, fault_) {}

  // Whether the connection may be used for the next request.
  asio::awaitable<bool> answer();

 private:
  asio::awaitable<bool> answer_truly();
  asio::awaitable<bool> answer_about_resource();
  asio::awaitable<bool> list();
  asio::awaitable<bool> watch();
  asio::awaitable<bool> get();

  // The refusal that the request meets before it is looked at, if any.
  std::optional<StatusAnswer> refusal() const;
  // False when the store has not reached that version within three seconds.
  asio::awaitable<bool> reaches(std::uint64_t revision);

  asio::awaitable<bool> text(int status, std::string body);
  // Not to be given a temporary in a statement with co_await: see style.md on g++ 12.
  asio::awaitable<bool> refuse(const StatusAnswer& status);
  asio::awaitable<bool> body(int status, std::string bytes);

  ServerState& state_;
  Connection& connection_;
  const ApiRequest& request_;
  std::string& unread_;
  Fault fault_;
  ResponseWriter writer_;
  Encoding encoding_ = Encoding::Json;
};

}  // namespace mkp::api
