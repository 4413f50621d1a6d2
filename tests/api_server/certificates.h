#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace mkp::api {

// Both in PEM.
struct CertificateAndKey {
  std::string certificate;
  std::string key;
};

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations{};      // an API server takes them for groups
  std::vector<std::string> alternative_names{};  // "DNS:localhost", "IP:127.0.0.1", "IP:fd20::11"
  std::chrono::seconds valid_from = -std::chrono::hours(1);  // both from now on
  std::chrono::seconds valid_until = std::chrono::hours(24);
};

// A certificate authority of a test's own; each is another one. What OpenSSL refuses here is a bug
// of the test's, and ends it.
class CertificateAuthority {
 public:
  CertificateAuthority();

  const std::string& certificate() const { return certificate_; }  // PEM
  // For servers and clients alike.
  CertificateAndKey issue(const CertificateRequest& request) const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  // Signed by ours, or by itself when that does not exist yet.
  Certificate sign(EVP_PKEY* subject_key, const CertificateRequest& request) const;

  Key key_;
  Certificate own_;
  std::string certificate_;
};

}  // namespace mkp::api
