#include "informer/tls_settings.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <utility>

namespace mkp {
namespace {

// "http/1.1", as ALPN has it. Without it a server that offers HTTP/2 might choose that.
constexpr std::array<unsigned char, 9> kProtocols{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

bool is_address(const std::string& host) {
  boost::system::error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

Result<> show_certificate(asio::ssl::context& context, const Credentials& credentials) {
  if (credentials.client_certificate.empty()) return {};
  boost::system::error_code error;
  context.use_certificate_chain(asio::buffer(credentials.client_certificate), error);
  if (error) return fail(Errc::Invalid, "the client certificate is no PEM: " + error.message());
  context.use_private_key(asio::buffer(credentials.client_key), asio::ssl::context::pem, error);
  if (error) {
    return fail(Errc::Invalid, "the client key is no PEM, or not the certificate's");
  }
  return {};
}

Result<> trust(asio::ssl::context& context, const std::string& roots) {
  boost::system::error_code error;
  if (roots.empty()) {
    context.set_default_verify_paths(error);
    if (error) return fail(Errc::Invalid, "the system's roots: " + error.message());
    return {};
  }
  context.add_certificate_authority(asio::buffer(roots), error);
  if (error) {
    return fail(Errc::Invalid,
                "unable to load root certificates: no valid certificate: " + error.message());
  }
  return {};
}

}  // namespace

Result<TlsSettings> TlsSettings::make(const ApiServer& server, const Credentials& credentials) {
  TlsSettings settings;
  settings.server_name_ = server.tls_server_name.empty() ? server.host : server.tls_server_name;
  settings.verify_ = server.verify_certificate;
  settings.context_ = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  asio::ssl::context& context = *settings.context_;
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // Servers go down without closing TLS; HTTP tells a whole answer from half of one.
  SSL_CTX_set_options(context.native_handle(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_alpn_protos(context.native_handle(), kProtocols.data(), kProtocols.size());
  if (Result<> shown = show_certificate(context, credentials); !shown) {
    return tl::unexpected<Error>(std::move(shown.error()));
  }
  if (!settings.verify_) {
    context.set_verify_mode(asio::ssl::verify_none);
    return settings;
  }
  if (Result<> trusted = trust(context, credentials.trusted_roots); !trusted) {
    return tl::unexpected<Error>(std::move(trusted.error()));
  }
  context.set_verify_mode(asio::ssl::verify_peer);
  context.set_verify_callback(
      [finding = settings.finding_](bool good, asio::ssl::verify_context& chain) {
        if (!good) {
          const int why = X509_STORE_CTX_get_error(chain.native_handle());
          *finding = X509_verify_cert_error_string(why);
        }
        return good;
      });
  return settings;
}

Result<> TlsSettings::expect_server(SSL* connection) {
  X509_VERIFY_PARAM* parameters = SSL_get0_param(connection);
  if (is_address(server_name_)) {
    if (verify_ && X509_VERIFY_PARAM_set1_ip_asc(parameters, server_name_.c_str()) != 1) {
      return fail(Errc::Invalid, "the address of the API server cannot be verified");
    }
    return {};
  }
  // SNI is for names alone. (The macro SSL_set_tlsext_host_name is this call, with old casts.)
  const bool named = SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                              server_name_.data()) == 1;
  if (!named || (verify_ && SSL_set1_host(connection, server_name_.c_str()) != 1)) {
    return fail(Errc::Invalid, "the name of the API server cannot be verified");
  }
  return {};
}

tl::unexpected<Error> TlsSettings::explain(const boost::system::error_code& error) const {
  if (!finding_->empty()) {
    return fail(Errc::Denied, fmt::format("the server's certificate is not accepted for {}: {}",
                                          server_name_, *finding_));
  }
  if (error.category() == asio::error::get_ssl_category()) {
    // What the other side says of ours comes as an alert.
    return fail(Errc::Denied, error.message());
  }
  return fail(Errc::Unreachable, error.message());
}

}  // namespace mkp
