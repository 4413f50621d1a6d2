#include "tests/api_server/loop_client.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace mkp::api {

using asio::ip::tcp;

LoopClient::LoopClient(asio::io_context& loop, std::uint16_t port) : loop_(loop), socket_(loop) {
  boost::system::error_code error;
  socket_.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port), error);
  if (error) {
    state_ = State::Refused;
    return;
  }
  socket_.non_blocking(true);
  settle();
}

void LoopClient::get(const std::string& target, const std::string& headers) {
  send(fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", target, headers));
}

void LoopClient::send(const std::string& bytes) {
  boost::system::error_code error;
  asio::write(socket_, asio::buffer(bytes), error);
  if (error) state_ = State::Reset;
  settle();
}

// A step of either may give the other something to do.
void LoopClient::settle() {
  for (;;) {
    loop_.restart();
    const bool moved = loop_.poll() > 0;
    if (!read() && !moved) return;
  }
}

bool LoopClient::read() {
  if (state_ != State::Open) return false;
  std::array<char, 65536> space{};
  boost::system::error_code error;
  const std::size_t got = socket_.read_some(asio::buffer(space), error);
  received_.append(space.data(), got);
  if (error == asio::error::eof) state_ = State::Closed;
  if (error == asio::error::connection_reset) state_ = State::Reset;
  return got > 0;
}

std::unique_ptr<LoopClient::Parser> LoopClient::parsed() const {
  auto parser = std::make_unique<Parser>();
  parser->eager(true);
  parser->body_limit(boost::none);
  boost::system::error_code error;
  std::string left = received_;
  while (!left.empty() && !parser->is_done()) {
    const std::size_t used = parser->put(asio::buffer(left), error);
    if (used == 0) break;
    left.erase(0, used);
  }
  return parser;
}

unsigned LoopClient::status() {
  settle();
  const std::unique_ptr<Parser> parser = parsed();
  return parser->is_header_done() ? parser->get().result_int() : 0;
}

std::string LoopClient::header(const std::string& name) {
  settle();
  const std::unique_ptr<Parser> parser = parsed();
  return std::string(parser->get()[name]);
}

std::string LoopClient::body() {
  settle();
  return parsed()->get().body();
}

bool LoopClient::complete() {
  settle();
  return parsed()->is_done();
}

std::string gunzipped(const std::string& bytes) {
  constexpr int kGzip = 16;
  std::string result;
  z_stream stream{};
  ::inflateInit2(&stream, MAX_WBITS + kGzip);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int outcome = Z_OK;
  while (stream.avail_in > 0 && outcome == Z_OK) {
    std::array<char, 16384> space{};
    stream.next_out = reinterpret_cast<Bytef*>(space.data());
    stream.avail_out = static_cast<uInt>(space.size());
    outcome = ::inflate(&stream, Z_NO_FLUSH);
    result.append(space.data(), space.size() - stream.avail_out);
    if (outcome == Z_STREAM_END) outcome = ::inflateReset(&stream);  // the next member
  }
  ::inflateEnd(&stream);
  return outcome == Z_OK ? result : "broken";
}

}  // namespace mkp::api
