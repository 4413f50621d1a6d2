#include "tests/api_server/connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace mkp::api {
namespace {

using asio::ip::tcp;
using TlsStream = asio::ssl::stream<tcp::socket>;

constexpr auto kOutcome = asio::as_tuple(asio::use_awaitable);

template <class Stream>
asio::awaitable<std::size_t> read_from(Stream& stream, std::span<char> space) {
  const auto [error, got] =
      co_await stream.async_read_some(asio::buffer(space.data(), space.size()), kOutcome);
  co_return error ? 0 : got;
}

template <class Stream>
asio::awaitable<bool> write_to(Stream& stream, const std::string& bytes) {
  const auto [error, sent] = co_await asio::async_write(stream, asio::buffer(bytes), kOutcome);
  co_return !error;
}

class PlainConnection final : public Connection {
 public:
  explicit PlainConnection(tcp::socket socket)
      : Connection(socket.get_executor()), socket_(std::move(socket)) {}
  asio::awaitable<std::size_t> read_some(std::span<char> space) override {
    return read_from(socket_, space);
  }
  asio::awaitable<bool> write(std::string bytes) override {
    co_return co_await write_to(socket_, bytes);
  }
  std::string client_name() const override { return ""; }

 private:
  tcp::socket& socket() override { return socket_; }
  tcp::socket socket_;
};

class TlsConnection final : public Connection {
 public:
  TlsConnection(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : Connection(socket.get_executor()),
        context_(std::move(context)),
        stream_(std::move(socket), *context_) {}

  asio::awaitable<bool> handshake() {
    const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kOutcome);
    co_return !error;
  }
  asio::awaitable<std::size_t> read_some(std::span<char> space) override {
    return read_from(stream_, space);
  }
  asio::awaitable<bool> write(std::string bytes) override {
    co_return co_await write_to(stream_, bytes);
  }
  std::string client_name() const override {
    const std::unique_ptr<X509, decltype(&X509_free)> shown(
        SSL_get1_peer_certificate(const_cast<TlsStream&>(stream_).native_handle()), &X509_free);
    std::string name(256, '\0');
    const int size =
        shown ? X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName,
                                          name.data(), static_cast<int>(name.size()))
              : 0;
    name.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return name;
  }

 private:
  tcp::socket& socket() override { return stream_.next_layer(); }
  std::shared_ptr<asio::ssl::context> context_;
  TlsStream stream_;
};

std::shared_ptr<asio::ssl::context> context_of(const TlsSettings& tls) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  context->use_certificate_chain(asio::buffer(tls.certificate.certificate));
  context->use_private_key(asio::buffer(tls.certificate.key), asio::ssl::context::pem);
  if (!tls.client_authority.empty()) {
    context->add_certificate_authority(asio::buffer(tls.client_authority));
    context->set_verify_mode(asio::ssl::verify_peer);
  }
  return context;
}

}  // namespace

void Connection::close(Ending ending) {
  boost::system::error_code ignored;
  if (ending == Ending::Reset) {
    const asio::socket_base::linger at_once(true, 0);
    socket().set_option(at_once, ignored);
  } else {
    socket().shutdown(tcp::socket::shutdown_send, ignored);
  }
  socket().close(ignored);
  closed_.cancel();
}

asio::awaitable<void> Connection::end(Ending ending) {
  if (ending != Ending::Silence) {
    close(ending);
    co_return;
  }
  while (socket().is_open()) co_await closed_.async_wait(kOutcome);
}

asio::awaitable<std::unique_ptr<Connection>> greet(tcp::socket socket,
                                                   std::optional<TlsSettings> tls) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (!tls) {
    co_return std::unique_ptr<Connection>(new PlainConnection(std::move(socket)));
  }
  auto connection = std::make_unique<TlsConnection>(std::move(socket), context_of(*tls));
  const bool greeted = co_await connection->handshake();
  if (!greeted) co_return nullptr;
  co_return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace mkp::api
