#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <memory>
#include <string>

namespace mkp::api {

namespace asio = boost::asio;

// A client on the same loop as the server that it speaks to, which sees what came, byte by byte.
class LoopClient {
 public:
  enum class State : std::uint8_t { Open, Closed, Reset, Refused };

  LoopClient(asio::io_context& loop, std::uint16_t port);

  // A GET with these header lines, each with its line end.
  void get(const std::string& target, const std::string& headers = "");
  void send(const std::string& bytes);
  // Until neither side has anything to do.
  void settle();

  State state() const { return state_; }
  const std::string& received() const { return received_; }  // as it came

  // Of the first answer that came, as far as it did.
  unsigned status();
  std::string header(const std::string& name);
  std::string body();  // without chunks; still compressed
  bool complete();

 private:
  using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;

  bool read();
  std::unique_ptr<Parser> parsed() const;

  asio::io_context& loop_;
  asio::ip::tcp::socket socket_;
  State state_ = State::Open;
  std::string received_;
};

// What gzip made of it; "broken" when it is no gzip.
std::string gunzipped(const std::string& bytes);

}  // namespace mkp::api
