#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "informer/api_server.h"
#include "informer/credential_source.h"
#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// What one TLS connection to an API server is made with: TLS 1.2 at least, the trusted roots, a
// client certificate if there is one, and the name that the server must prove.
class TlsSettings {
 public:
  // Fails with Invalid for certificates or a key that are none; says which, never what is in them.
  static Result<TlsSettings> make(const ApiServer& server, const Credentials& credentials);

  asio::ssl::context& context() { return *context_; }

  // To be called before the handshake of `connection`.
  Result<> expect_server(SSL* connection);

  // Why a handshake failed. Denied when a certificate was not accepted, ours or theirs.
  tl::unexpected<Error> explain(const boost::system::error_code& error) const;

 private:
  TlsSettings() = default;

  std::unique_ptr<asio::ssl::context> context_;
  std::string server_name_;
  bool verify_ = true;
  // What was found wrong with the server's certificate; empty: nothing.
  std::shared_ptr<std::string> finding_ = std::make_shared<std::string>();
};

}  // namespace mkp
