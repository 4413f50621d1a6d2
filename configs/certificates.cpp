#include "configs/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <limits>
#include <memory>

namespace mkp {
namespace {

struct Free {
  void operator()(BIO* bio) const noexcept { BIO_free_all(bio); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// OpenSSL keeps its errors by thread: those of this file end here, for others not to take them for
// theirs.
class OwnErrors {
 public:
  OwnErrors() { ERR_clear_error(); }
  ~OwnErrors() { ERR_clear_error(); }
  OwnErrors(const OwnErrors&) = delete;
  OwnErrors& operator=(const OwnErrors&) = delete;

  // The reason alone: it has nothing of the text in it.
  static std::string last() {
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason == nullptr ? "malformed" : reason;
  }
  static bool at_end_of_text() {
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  }
};

Owned<BIO> text_of(std::string_view pem) {
  if (pem.size() > std::numeric_limits<int>::max()) return nullptr;
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// OpenSSL's own would ask at the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*argument*/) {
  return -1;
}

}  // namespace

Result<> check_key_pair(std::string_view certificate, std::string_view key) {
  const OwnErrors errors;
  const Owned<BIO> certificate_text = text_of(certificate);
  const Owned<BIO> key_text = text_of(key);
  if (!certificate_text || !key_text) return fail(Errc::Invalid, "too long");
  const Owned<X509> shown(
      PEM_read_bio_X509(certificate_text.get(), nullptr, &no_passphrase, nullptr));
  if (!shown) return fail(Errc::Invalid, "no certificate in PEM: " + OwnErrors::last());
  const Owned<EVP_PKEY> secret(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, &no_passphrase, nullptr));
  if (!secret) return fail(Errc::Invalid, "no usable private key in PEM: " + OwnErrors::last());
  if (X509_check_private_key(shown.get(), secret.get()) != 1) {
    return fail(Errc::Invalid, "the certificate is not this key's");
  }
  return {};
}

Result<> check_roots(std::string_view certificates) {
  const OwnErrors errors;
  const Owned<BIO> text = text_of(certificates);
  if (!text || certificates.find("-----BEGIN") == std::string_view::npos) {
    return fail(Errc::Invalid, "unable to parse bytes as PEM block");
  }
  std::size_t count = 0;
  while (const Owned<X509> root{PEM_read_bio_X509(text.get(), nullptr, &no_passphrase, nullptr)}) {
    ++count;
  }
  if (!OwnErrors::at_end_of_text()) {
    return fail(Errc::Invalid, "failed to parse certificate: " + OwnErrors::last());
  }
  if (count == 0) return fail(Errc::Invalid, "no valid certificate authority data seen");
  return {};
}

}  // namespace mkp
