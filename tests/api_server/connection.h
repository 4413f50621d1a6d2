#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tests/api_server/certificates.h"

namespace mkp::api {

namespace asio = boost::asio;

// How a connection ends, as its client sees it. Silence: not at all; nothing more is read or
// written.
enum class Ending : std::uint8_t { Fin, Reset, Silence };

struct TlsSettings {
  CertificateAndKey certificate;
  std::string client_authority{};  // PEM; empty: clients are not asked for a certificate
};

// The server's side of a connection.
class Connection {
 public:
  explicit Connection(asio::any_io_executor loop)
      : closed_(loop, asio::steady_timer::time_point::max()) {}
  virtual ~Connection() = default;

  // How many bytes came; 0 when no more will.
  virtual asio::awaitable<std::size_t> read_some(std::span<char> space) = 0;
  // Whether all of it could be written.
  virtual asio::awaitable<bool> write(std::string bytes) = 0;
  // The common name of the certificate that the client has shown; empty when it has none.
  virtual std::string client_name() const = 0;

  // Ends it at once, whatever is being read or written; for Silence it returns when somebody else
  // ends it.
  asio::awaitable<void> end(Ending ending);
  // The same, but for Silence, and without waiting.
  void close(Ending ending);

 private:
  virtual asio::ip::tcp::socket& socket() = 0;

  asio::steady_timer closed_;  // cancelled by close()
};

// With the handshake done if there are TLS settings; null when that failed.
asio::awaitable<std::unique_ptr<Connection>> greet(asio::ip::tcp::socket socket,
                                                   std::optional<TlsSettings> tls);

}  // namespace mkp::api
