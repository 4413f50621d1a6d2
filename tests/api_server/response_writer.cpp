#include "tests/api_server/response_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>

namespace mkp::api {
namespace {

std::string_view reason_phrase(int status) {
  namespace http = boost::beast::http;
  const auto text = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  return {text.data(), text.size()};
}

std::string gzip_member(std::string_view bytes) {
  constexpr int kGzip = 16;
  z_stream stream{};
  ::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 8,
                 Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace

asio::awaitable<bool> ResponseWriter::answer(int status, Headers headers, std::string bytes) {
  headers.emplace_back("Content-Length", std::to_string(bytes.size()));
  const bool begun = co_await head(status, std::move(headers));
  if (!begun) co_return false;
  co_return co_await body(std::move(bytes));
}

asio::awaitable<bool> ResponseWriter::begin(int status, Headers headers) {
  headers.emplace_back("Transfer-Encoding", "chunked");
  return head(status, std::move(headers));
}

asio::awaitable<bool> ResponseWriter::chunk(std::string bytes) {
  if (bytes.empty()) co_return true;  // an empty chunk would be the end
  co_return co_await body(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

asio::awaitable<bool> ResponseWriter::finish() { return body("0\r\n\r\n"); }

asio::awaitable<bool> ResponseWriter::raw(std::string bytes) { return send(std::move(bytes)); }

asio::awaitable<bool> ResponseWriter::head(int status, Headers headers) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  for (const auto& [name, value] : headers) {
    const bool renamed = fault_.content_type && name == "Content-Type";
    text += fmt::format("{}: {}\r\n", name, renamed ? *fault_.content_type : value);
  }
  if (fault_.endless_headers) {
    const bool sent = co_await send(std::move(text));
    if (!sent) co_return false;
    co_return co_await headers_without_end();
  }
  text += "Cache-Control: no-cache, private\r\n\r\n";
  co_return co_await send(std::move(text));
}

asio::awaitable<bool> ResponseWriter::headers_without_end() {
  for (int count = 0;; ++count) {
    std::string more = fmt::format("X-Filler-{}: {}\r\n", count, std::string(1000, 'x'));
    const bool sent = co_await send(std::move(more));
    if (!sent) co_return false;
  }
}

asio::awaitable<bool> ResponseWriter::body(std::string bytes) {
  if (!fault_.body_bytes) co_return co_await send(std::move(bytes));
  const std::size_t left = *fault_.body_bytes - body_sent_;
  const bool cut = bytes.size() >= left;
  if (cut) bytes.resize(left);
  body_sent_ += bytes.size();
  const bool sent = co_await send(std::move(bytes));
  if (!sent) co_return false;
  if (!cut) co_return true;
  co_await connection_.end(fault_.then);
  co_return false;
}

asio::awaitable<bool> ResponseWriter::send(std::string bytes) {
  if (fault_.piece_bytes == 0) co_return co_await connection_.write(std::move(bytes));
  for (std::size_t sent = 0; sent < bytes.size(); sent += fault_.piece_bytes) {
    std::string piece = bytes.substr(sent, fault_.piece_bytes);
    const bool written = co_await connection_.write(std::move(piece));
    if (!written) co_return false;
    co_await clock_.sleep_until(later(clock_.now(), fault_.pause));
  }
  co_return true;
}

std::string gzipped(const std::string& bytes, int members) {
  const std::size_t each = bytes.size() / static_cast<std::size_t>(members) + 1;
  std::string packed;
  for (std::size_t at = 0; at < bytes.size(); at += each) {
    packed += gzip_member(std::string_view(bytes).substr(at, each));
  }
  return packed;
}

}  // namespace mkp::api
