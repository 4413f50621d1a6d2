#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/clock.h"
#include "runner/ip_address.h"
#include "runner/result.h"

namespace mkp {

// Where to listen. An unspecified address means every address of this machine.
struct ListenOn {
  enum class Wildcard : std::uint8_t {
    BothFamilies,  // 0.0.0.0 and :: are the same, as in Go; without IPv6 both are 0.0.0.0
    OwnFamily,     // :: takes no IPv4
  };

  IpAddress address;
  std::uint16_t port = 0;  // 0: one that the kernel chooses
  Wildcard wildcard = Wildcard::BothFamilies;

  auto operator<=>(const ListenOn&) const = default;
};
std::string to_text(const ListenOn& where);  // "127.0.0.1:10249", "[::]:10256"

// A port that is open for as long as this lives.
class OpenPort {
 public:
  OpenPort() = default;
  virtual ~OpenPort() = default;
  OpenPort(const OpenPort&) = delete;
  OpenPort& operator=(const OpenPort&) = delete;
};

// A small HTTP/1.1 server on the loop, for pages that are quickly made and read often: no TLS, no
// uploads. Whatever clients do, they cost a bounded number of connections: when there are too many,
// the one that has gone longest without an answer makes room, so that idle and half-open ones never
// keep anybody waiting. Belongs to the loop thread.
//
// Connections come and go by themselves, hence this file may spawn; all of them end with the
// server.
class HttpServer final : public OpenPort {
 public:
  struct Request {
    std::string method;  // "GET"
    std::string path;    // as sent, without the query
    std::string query;   // without the question mark
  };
  struct Answer {
    unsigned status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string body = {};
  };
  // Runs on the loop thread, which does nothing else meanwhile. The answer to HEAD is made as that
  // to GET; its body stays here.
  using Handler = std::function<Answer(const Request&)>;

  struct Limits {
    std::size_t connections = 64;
    std::size_t header_bytes = 8192;
    std::size_t body_bytes = 16384;  // which nobody reads
    // For a request to arrive, from the connection or from its first byte on; for an answer to be
    // taken.
    Duration request_time = std::chrono::seconds(10);
    Duration idle_time = std::chrono::seconds(90);  // between two requests
  };

  // Listens, and serves until the server dies, which must be before its loop does. `clock` is
  // borrowed until the loop has died. A failure names the address.
  static Result<std::unique_ptr<HttpServer>> open(const asio::any_io_executor& loop, Clock& clock,
                                                  const ListenOn& where, Handler handler,
                                                  const Limits& limits);
  static Result<std::unique_ptr<HttpServer>> open(const asio::any_io_executor& loop, Clock& clock,
                                                  const ListenOn& where, Handler handler) {
    return open(loop, clock, where, std::move(handler), Limits());
  }
  // Closes the port and all connections; the handler is not called any more.
  ~HttpServer() override;

  std::uint16_t port() const;
  std::size_t connections() const;

 private:
  class Listener;
  explicit HttpServer(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}

  std::shared_ptr<Listener> listener_;
};

}  // namespace mkp
