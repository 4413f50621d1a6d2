#include "informer/byte_stream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cerrno>
#include <string_view>
#include <utility>

#include "informer/deadline.h"
#include "informer/tcp_connect.h"
#include "informer/tls_settings.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using Error_code = boost::system::error_code;

constexpr Duration kHandshakeLimit = 10s;
constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

bool nothing_to_read(int socket) {
  char byte = 0;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

// By TLS 1.3 a server refuses a client certificate after the handshake.
tl::unexpected<Error> broken(const Error_code& error, std::string_view doing) {
  const bool refused = error.category() == asio::error::get_ssl_category();
  return fail(refused ? Errc::Denied : Errc::Unreachable,
              fmt::format("{}: {}", doing, error.message()));
}

// Over the socket itself, or TLS on it.
template <class Stream>
class StreamBytes final : public ByteStream {
 public:
  template <class... Arguments>
  explicit StreamBytes(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {}

  Stream& stream() { return stream_; }

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> space) override {
    if (next_error_) co_return outcome(std::exchange(next_error_, {}), 0);
    const auto [error, size] =
        co_await stream_.async_read_some(asio::buffer(space.data(), space.size()), kToken);
    if (error) co_return outcome(error, size);
    co_return size + read_what_is_there(space.subspan(size));
  }

  asio::awaitable<Result<>> write(std::string bytes) override {
    const auto [error, size] = co_await asio::async_write(stream_, asio::buffer(bytes), kToken);
    if (error) co_return broken(error, "write");
    co_return Result<>();
  }

  bool is_quiet() override {
    return !next_error_ && nothing_to_read(stream_.lowest_layer().native_handle());
  }

 private:
  static Result<std::size_t> outcome(const Error_code& error, std::size_t size) {
    // A server that goes down does not take the time to close TLS.
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) return size;
    return broken(error, "read");
  }

  // A server sends each event of a watch by itself, and one TLS record is all that one read gives:
  // what else has arrived costs a call each, not a wait.
  std::size_t read_what_is_there(std::span<char> space) {
    Error_code error;
    if (!stream_.lowest_layer().non_blocking()) stream_.lowest_layer().non_blocking(true, error);
    std::size_t total = 0;
    while (!error && total < space.size()) {
      const auto rest = space.subspan(total);
      total += stream_.read_some(asio::buffer(rest.data(), rest.size()), error);
    }
    if (error != asio::error::would_block) next_error_ = error;
    return total;
  }

  Error_code next_error_;  // what the next read has to say
  Stream stream_;
};

using PlainBytes = StreamBytes<tcp::socket>;

// TLS and the settings that it refers to.
struct TlsSocket {
  TlsSocket(tcp::socket socket, TlsSettings tls)
      : settings(std::move(tls)), stream(std::move(socket), settings.context()) {}

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return stream.async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, Error_code& error) {
    return stream.read_some(buffers, error);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return stream.async_write_some(buffers, std::forward<Token>(token));
  }
  auto& lowest_layer() { return stream.lowest_layer(); }
  using executor_type = asio::ssl::stream<tcp::socket>::executor_type;
  executor_type get_executor() { return stream.get_executor(); }

  TlsSettings settings;
  asio::ssl::stream<tcp::socket> stream;
};
using TlsBytes = StreamBytes<TlsSocket>;

asio::awaitable<Result<>> shake_hands(asio::ssl::stream<tcp::socket>& stream,
                                      TlsSettings& settings) {
  const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::client, kToken);
  if (!error) co_return Result<>();
  co_return settings.explain(error);
}

}  // namespace

asio::awaitable<Result<std::unique_ptr<ByteStream>>> connect(const ApiServer& server,
                                                             const Credentials& credentials,
                                                             Clock& clock) {
  Result<std::unique_ptr<tcp::socket>> socket = co_await connect_tcp(server, clock);
  if (!socket) co_return tl::unexpected<Error>(std::move(socket.error()));
  if (!server.tls) co_return std::make_unique<PlainBytes>(std::move(**socket));

  Result<TlsSettings> settings = TlsSettings::make(server, credentials);
  if (!settings) co_return tl::unexpected<Error>(std::move(settings.error()));
  auto bytes = std::make_unique<TlsBytes>(std::move(**socket), std::move(*settings));
  TlsSocket& tls = bytes->stream();
  if (Result<> named = tls.settings.expect_server(tls.stream.native_handle()); !named) {
    co_return tl::unexpected<Error>(std::move(named.error()));
  }
  Result<> done = co_await within(later(clock.now(), kHandshakeLimit), clock, "TLS handshake",
                                  shake_hands(tls.stream, tls.settings));
  if (!done) {
    co_return fail(std::move(done.error()), "TLS with " + authority(server.host, server.port));
  }
  co_return bytes;
}

}  // namespace mkp
