#include "tests/api_server/request_reader.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>

namespace mkp::api {
namespace {

namespace http = boost::beast::http;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

ApiRequest request_of(const http::request<http::string_body>& message) {
  ApiRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.body = message.body();
  for (const auto& field : message) {
    request.headers[lower(std::string(field.name_string()))] = std::string(field.value());
  }
  read_target(request);
  return request;
}

}  // namespace

asio::awaitable<std::optional<ApiRequest>> read_request(Connection& connection,
                                                        std::string& unread) {
  http::request_parser<http::string_body> parser;
  parser.eager(true);
  std::array<char, 16384> space{};
  for (;;) {
    boost::system::error_code error;
    if (!unread.empty()) unread.erase(0, parser.put(asio::buffer(unread), error));
    if (error && error != http::error::need_more) co_return std::nullopt;
    if (parser.is_done()) break;
    const std::size_t got = co_await connection.read_some(space);
    if (got == 0) co_return std::nullopt;
    unread.append(space.data(), got);
  }
  co_return request_of(parser.get());
}

}  // namespace mkp::api
