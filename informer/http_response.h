#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runner/result.h"

namespace mkp {

// The part of an answer that comes before its body.
struct HttpHead {
  int status = 0;
  std::string content_type;
  bool gzip = false;                                // Content-Encoding
  std::optional<std::uint64_t> content_length;      // as sent, gzip included; not to be believed
  std::optional<std::chrono::seconds> retry_after;  // when it is a number, of at most an hour
  std::string warning;                              // Warning, as it is
};

// Takes an HTTP/1.1 answer apart, in whatever pieces it comes: head, then body, with its length
// named, in chunks, or up to the end of the connection. Undoes gzip, of any number of members.
class HttpResponse {
 public:
  // `accepts_body`: false for the answer to CONNECT, which has none whatever its head says.
  enum class Body : std::uint8_t { Expected, None };
  explicit HttpResponse(Body body = Body::Expected);
  HttpResponse(HttpResponse&&) noexcept;
  HttpResponse& operator=(HttpResponse&&) noexcept;
  ~HttpResponse();

  // Bytes from the connection. Returns how many belong to this answer: fewer than given when it
  // ends before. Fails with Invalid for what is no HTTP, a head of more than 64 KiB included.
  Result<std::size_t> put(std::string_view bytes);
  // The connection has ended. Fails with Unreachable when the answer is not complete.
  Result<> put_end();

  // Set once the head is complete.
  const std::optional<HttpHead>& head() const;
  // What has come of the body since the last call.
  std::string take_body();
  bool has_ended() const;
  // Whether another request may follow on the connection.
  bool keeps_connection() const;

 private:
  struct State;
  Result<> inflate(std::string bytes);
  std::unique_ptr<State> state_;
};

}  // namespace mkp
