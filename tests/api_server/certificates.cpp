#include "tests/api_server/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mkp::api {
namespace {

void require(bool success, const char* doing) {
  if (success) return;
  std::fprintf(stderr, "OpenSSL would not %s\n", doing);
  std::abort();
}

template <class Write>
std::string pem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
  require(write(memory.get()) == 1, "write PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  return pem([certificate](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

void name(X509* certificate, const CertificateRequest& request) {
  const auto add = [certificate](const char* field, const std::string& value) {
    require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), field, MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>(value.data()),
                                       static_cast<int>(value.size()), -1, 0) == 1,
            "name a certificate");
  };
  for (const std::string& organization : request.organizations) add("O", organization);
  add("CN", request.common_name);
}

void extend(X509* certificate, X509* issuer, int extension, const std::string& value) {
  X509V3_CTX situation{};
  X509V3_set_ctx(&situation, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &situation, extension, value.c_str());
  require(made != nullptr && X509_add_ext(certificate, made, -1) == 1, "extend a certificate");
  X509_EXTENSION_free(made);
}

std::string comma_separated(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

// Clients tell certificates of one issuer apart by it.
void number(X509* certificate) {
  std::uint64_t serial = 0;
  require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1, "draw");
  require(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1, "number");
}

}  // namespace

CertificateAuthority::CertificateAuthority() : key_(EVP_EC_gen("P-256")) {
  require(key_ != nullptr, "make a key");
  own_ = sign(key_.get(), {.common_name = "mini-kube-proxy tests"});
  certificate_ = pem_of(own_.get());
}

CertificateAuthority::Certificate CertificateAuthority::sign(
    EVP_PKEY* subject_key, const CertificateRequest& request) const {
  Certificate made(X509_new());
  X509* issuer = own_ ? own_.get() : made.get();
  require(X509_set_version(made.get(), X509_VERSION_3) == 1, "make a certificate");
  number(made.get());
  name(made.get(), request);
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
  X509_gmtime_adj(X509_getm_notBefore(made.get()), static_cast<long>(request.valid_from.count()));
  X509_gmtime_adj(X509_getm_notAfter(made.get()), static_cast<long>(request.valid_until.count()));
  require(X509_set_pubkey(made.get(), subject_key) == 1, "take a key");
  extend(made.get(), issuer, NID_basic_constraints,
         own_ ? "critical,CA:FALSE" : "critical,CA:TRUE");
  extend(made.get(), issuer, NID_subject_key_identifier, "hash");
  extend(made.get(), issuer, NID_authority_key_identifier, "keyid:always");
  if (own_) extend(made.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!request.alternative_names.empty()) {
    extend(made.get(), issuer, NID_subject_alt_name, comma_separated(request.alternative_names));
  }
  require(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0, "sign a certificate");
  return made;
}

CertificateAndKey CertificateAuthority::issue(const CertificateRequest& request) const {
  const Key key(EVP_EC_gen("P-256"));
  require(key != nullptr, "make a key");
  const Certificate made = sign(key.get(), request);
  return {pem_of(made.get()), pem([&key](BIO* to) {
            return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace mkp::api
