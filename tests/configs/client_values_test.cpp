#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "configs/certificates.h"
#include "configs/file_text.h"
#include "configs/json_text.h"
#include "configs/url.h"
#include "runner/base64.h"
#include "tests/configs/pem_pair.h"
#include "tests/configs/temp_folder.h"

namespace mkp {
namespace {

Url url(std::string_view text) { return parse_url(text).value_or(Url{}); }

TEST(UrlTest, ItsPartsAreToldApart) {
  EXPECT_EQ(url("HTTPS://me:p%20q@api.example:6443/a/b/?c=d#e"),
            (Url{"https", "me", "p q", "api.example", 6443, "/a/b"}));
  EXPECT_EQ(url("http://[fe80::1%25eth0]"),
            (Url{"http", "", "", "fe80::1%eth0", std::nullopt, ""}));
  EXPECT_EQ(url("http://a:"), (Url{"http", "", "", "a", std::nullopt, ""}));
  EXPECT_EQ(url("http://a@b@c"), (Url{"http", "a@b", "", "c", std::nullopt, ""}));
}

TEST(UrlTest, WhatIsNoneIsRefused) {
  for (const char* text : {"", "a", "://a", "http://", "http:///a", "http://a:0", "http://a:65536",
                           "http://a:b", "http://a b", "http://a/\r\n", "http://[::1", "http://[a]",
                           "http://[192.168.0.1]", "http://[::1]x", "1http://a", "http://a%zz@b",
                           "http://a%4@b", "http://:80", "http://a^b"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(UrlTest, ForMessagesTheUserIsLeftOut) {
  EXPECT_EQ(without_user("http://a/b"), "http://a/b");
  EXPECT_EQ(without_user("http://me:hunter2@a/b"), "http://***@a/b");
  EXPECT_EQ(without_user("http://me:hunt/er2@a:b"), "http://***@a:b");
  EXPECT_EQ(without_user("me:hunter2@a"), "***@a");
  EXPECT_EQ(without_user("me:hunter2@http://a"), "***@http://a");
}

TEST(Base64Test, IsReadAsItIsWritten) {
  for (const char* text : {"", "f", "fo", "foo", "foob", "fooba", "foobar", "\xff\xfe\x80"}) {
    EXPECT_EQ(from_base64(to_base64(text)), text);
  }
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("\xff\xfe\xfb"), "//77");
  EXPECT_EQ(from_base64("Zm\r\n8=\n"), "fo");
}

TEST(Base64Test, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zm8", "Zm8==", "Zg=", "=", "Zm=8", "Zm9v=", "Zm 8=", "Z-8="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(JsonTextTest, QuotedTextIsAlwaysJson) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\x01/é"), "\"a\\\"b\\\\c\\u000a\\u0001/é\"");
  EXPECT_EQ(json_quoted("a\xff\xc3"), "\"a\\ufffd\\ufffd\"");
  EXPECT_EQ(json_quoted("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

TEST(JsonTextTest, AYamlValueKeepsItsType) {
  EXPECT_EQ(
      json_of(YAML::Load("{a: [yes, 'yes', ~, 0x10, 1e3, .5, 007, 18446744073709551615]}")).value(),
      R"({"a":[true,"yes",null,16,1000,0.5,7,18446744073709551615]})");
  EXPECT_FALSE(json_of(YAML::Load("{[a]: b}")));
  EXPECT_FALSE(json_of(YAML::Load(std::string(70, '[') + std::string(70, ']'))));
}

TEST(CertificatesTest, RootsAreOneCertificateAtLeastAndNoneThatIsBroken) {
  const std::string one = make_pem_pair("a").certificate;
  const std::string key = make_pem_pair("b").key;
  EXPECT_TRUE(check_roots(one));
  EXPECT_TRUE(check_roots("# ours\n" + one + key + make_pem_pair("c").certificate + "# end\n"));
  EXPECT_EQ(check_roots("").error().what, "unable to parse bytes as PEM block");
  EXPECT_EQ(check_roots(key).error().what, "no valid certificate authority data seen");
  std::string broken = one + make_pem_pair("d").certificate;
  broken.replace(broken.rfind("-----END") - 20, 4, "!!!!");
  EXPECT_EQ(check_roots(broken).error().what.substr(0, 29), "failed to parse certificate: ");
  EXPECT_FALSE(check_roots(one.substr(0, one.size() / 2)));
}

TEST(CertificatesTest, APairFitsOrItIsNone) {
  const PemPair a = make_pem_pair("a");
  const PemPair b = make_pem_pair("b");
  EXPECT_TRUE(check_key_pair(a.certificate, a.key));
  EXPECT_TRUE(check_key_pair(a.certificate + b.certificate, a.key));
  EXPECT_EQ(check_key_pair(a.certificate, b.key).error().what, "the certificate is not this key's");
  EXPECT_EQ(check_key_pair("", a.key).error().what.substr(0, 24), "no certificate in PEM: n");
  EXPECT_EQ(check_key_pair(a.certificate, "").error().what.substr(0, 27),
            "no usable private key in PE");
  EXPECT_FALSE(check_key_pair(a.certificate, a.key.substr(0, a.key.size() - 40)));
}

TEST(CertificatesTest, AKeyWithAPassphraseIsRefusedAndNobodyIsAsked) {
  constexpr const char* kEncrypted =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGbMFcGCSqGSIb3DQEFDTBK\n"
      "-----END ENCRYPTED PRIVATE KEY-----\n";
  EXPECT_FALSE(check_key_pair(make_pem_pair("a").certificate, kEncrypted));
}

TEST(FileTextTest, AFileOfMoreThan16MiBIsRefused) {
  const TempFolder folder;
  const std::string path = folder.write("large", std::string((16U << 20) + 1, 'a'));
  EXPECT_EQ(read_file(path).error().what, "read " + path + ": File too large");
  EXPECT_EQ(read_file(folder.path()).error().what, "read " + folder.path() + ": Is a directory");
  EXPECT_EQ(read_file(folder.write("small", "text")).value(), "text");
}

}  // namespace
}  // namespace mkp
