#include "informer/forward_proxy.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio.hpp>
#include <string>
#include <string_view>

#include "informer/http_response.h"
#include "runner/base64.h"

namespace mkp {
namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

asio::awaitable<Result<>> send(asio::ip::tcp::socket& socket, std::string bytes) {
  const auto [error, size] = co_await asio::async_write(socket, asio::buffer(bytes), kToken);
  if (error) co_return fail(Errc::Unreachable, "talk to the proxy: " + error.message());
  co_return Result<>();
}

asio::awaitable<Result<std::string>> receive(asio::ip::tcp::socket& socket, std::size_t size) {
  std::string bytes(size, '\0');
  const auto [error, got] = co_await asio::async_read(socket, asio::buffer(bytes), kToken);
  if (error) co_return fail(Errc::Unreachable, "talk to the proxy: " + error.message());
  co_return bytes;
}

// --- CONNECT ---

asio::awaitable<Result<>> open_by_connect(asio::ip::tcp::socket& socket, const ApiServer& server,
                                          const ForwardProxy& proxy) {
  const std::string where = authority(server.host, server.port);
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\nUser-Agent: {1}\r\n",
                                    where, server.user_agent);
  if (!proxy.user.empty()) {
    request += "Proxy-Authorization: " + basic_authorization(proxy.user, proxy.password) + "\r\n";
  }
  request += "\r\n";
  if (Result<> sent = co_await send(socket, std::move(request)); !sent) co_return sent;

  HttpResponse response(HttpResponse::Body::None);
  while (!response.has_ended()) {
    // One byte at a time: what follows the head is not ours to read.
    const Result<std::string> byte = co_await receive(socket, 1);
    if (!byte) co_return tl::unexpected<Error>(byte.error());
    if (const auto put = response.put(*byte); !put) co_return tl::unexpected<Error>(put.error());
  }
  const std::optional<HttpHead>& head = response.head();
  const int status = head ? head->status : 0;
  if (status / 100 == 2) co_return Result<>();
  const bool denied = status == 401 || status == 403 || status == 407;
  co_return fail(denied ? Errc::Denied : Errc::Unreachable,
                 fmt::format("the proxy answers CONNECT {} with status {}", where, status));
}

// --- SOCKS 5 ---

constexpr char kVersion = 5;
constexpr char kNoAuthentication = 0;
constexpr char kUserAndPassword = 2;
constexpr std::size_t kLongestText = 255;

std::string_view reply_text(unsigned char reply) {
  constexpr std::array<std::string_view, 9> kTexts{
      "succeeded",           "general failure",       "connection not allowed by its rules",
      "network unreachable", "host unreachable",      "connection refused",
      "TTL expired",         "command not supported", "address type not supported"};
  return reply < kTexts.size() ? kTexts.at(reply) : "unknown reply";
}

std::string with_length(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

std::string target_of(const ApiServer& server) {
  std::string bytes{kVersion, 1, 0};
  boost::system::error_code error;
  const auto address = asio::ip::make_address(server.host, error);
  if (error) {
    bytes += '\x03' + with_length(server.host);
  } else if (address.is_v4()) {
    bytes += '\x01';
    for (const unsigned char byte : address.to_v4().to_bytes()) bytes += static_cast<char>(byte);
  } else {
    bytes += '\x04';
    for (const unsigned char byte : address.to_v6().to_bytes()) bytes += static_cast<char>(byte);
  }
  bytes += static_cast<char>(server.port >> 8);
  bytes += static_cast<char>(server.port & 0xff);
  return bytes;
}

asio::awaitable<Result<>> log_in(asio::ip::tcp::socket& socket, const ForwardProxy& proxy) {
  std::string bytes = '\x01' + with_length(proxy.user) + with_length(proxy.password);
  if (Result<> sent = co_await send(socket, std::move(bytes)); !sent) co_return sent;
  const Result<std::string> answer = co_await receive(socket, 2);
  if (!answer) co_return tl::unexpected<Error>(answer.error());
  if ((*answer)[1] != 0) co_return fail(Errc::Denied, "the proxy refuses the user or password");
  co_return Result<>();
}

asio::awaitable<Result<>> open_by_socks(asio::ip::tcp::socket& socket, const ApiServer& server,
                                        const ForwardProxy& proxy) {
  if (server.host.size() > kLongestText || proxy.user.size() > kLongestText ||
      proxy.password.size() > kLongestText) {
    co_return fail(Errc::Invalid, "a name or password is too long for SOCKS 5");
  }
  std::string greeting{kVersion, 1, proxy.user.empty() ? kNoAuthentication : kUserAndPassword};
  if (Result<> sent = co_await send(socket, std::move(greeting)); !sent) co_return sent;
  const Result<std::string> method = co_await receive(socket, 2);
  if (!method) co_return tl::unexpected<Error>(method.error());
  if ((*method)[0] != kVersion) co_return fail(Errc::Invalid, "the proxy does not speak SOCKS 5");
  if ((*method)[1] == kUserAndPassword && !proxy.user.empty()) {
    if (Result<> done = co_await log_in(socket, proxy); !done) co_return done;
  } else if ((*method)[1] != kNoAuthentication) {
    co_return fail(Errc::Denied, "the proxy wants another way to log in");
  }
  if (Result<> sent = co_await send(socket, target_of(server)); !sent) co_return sent;
  const Result<std::string> reply = co_await receive(socket, 5);
  if (!reply) co_return tl::unexpected<Error>(reply.error());
  const auto code = static_cast<unsigned char>((*reply)[1]);
  if (code != 0) {
    co_return fail(code == 2 ? Errc::Denied : Errc::Unreachable,
                   fmt::format("the proxy says: {}", reply_text(code)));
  }
  // The rest is an address that nobody needs, of which one byte has been read, and its port.
  const auto first = static_cast<unsigned char>((*reply)[4]);
  const std::size_t address = (*reply)[3] == 1 ? 3 : (*reply)[3] == 4 ? 15 : first;
  const Result<std::string> rest = co_await receive(socket, address + 2);
  if (!rest) co_return tl::unexpected<Error>(rest.error());
  co_return Result<>();
}

}  // namespace

asio::awaitable<Result<>> open_tunnel(asio::ip::tcp::socket& socket, const ApiServer& server,
                                      const ForwardProxy& proxy) {
  if (proxy.scheme == ForwardProxy::Scheme::Socks5) return open_by_socks(socket, server, proxy);
  return open_by_connect(socket, server, proxy);
}

std::string basic_authorization(const std::string& user, const std::string& password) {
  return "Basic " + to_base64(user + ':' + password);
}

}  // namespace mkp
