#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "runner/clock.h"
#include "tests/api_server/connection.h"
#include "tests/api_server/faults.h"

namespace mkp::api {

// Writes one answer, with whatever goes wrong with it. Everything returns whether the connection
// can still be written to.
class ResponseWriter {
 public:
  // All of them outlive the writer.
  ResponseWriter(Connection& connection, Clock& clock, const Fault& fault)
      : connection_(connection), clock_(clock), fault_(fault) {}

  // A whole answer.
  asio::awaitable<bool> answer(int status, Headers headers, std::string body);
  // One whose body comes in chunks. finish() is the end of them in good order.
  asio::awaitable<bool> begin(int status, Headers headers);
  asio::awaitable<bool> chunk(std::string bytes);
  asio::awaitable<bool> finish();
  // As it is, wherever in the answer that is.
  asio::awaitable<bool> raw(std::string bytes);

 private:
  asio::awaitable<bool> head(int status, Headers headers);
  asio::awaitable<bool> headers_without_end();
  asio::awaitable<bool> body(std::string bytes);
  asio::awaitable<bool> send(std::string bytes);

  Connection& connection_;
  Clock& clock_;
  const Fault& fault_;
  std::size_t body_sent_ = 0;
};

// gzip, as that many members, one behind the other.
std::string gzipped(const std::string& bytes, int members);

}  // namespace mkp::api
