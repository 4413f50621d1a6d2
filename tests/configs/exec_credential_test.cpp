#include "configs/exec_credential.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/json_text.h"
#include "tests/configs/pem_pair.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

std::string answer(std::string_view status, std::string_view version = kV1) {
  return fmt::format(R"({{"kind":"ExecCredential","apiVersion":"{}","status":{{{}}}}})", version,
                     status);
}

std::string error_of(std::string_view text) {
  const Result<ExecCredential> credential = parse_exec_credential(text, kV1);
  return credential ? "none" : credential.error().what;
}

TEST(ExecCredentialTest, ThePluginIsToldWhatItIsAsked) {
  ExecPluginConfig plugin;
  plugin.api_version = kV1;
  EXPECT_EQ(exec_info_of(plugin),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false}})");
  plugin.cluster_info = R"({"server":"https://a"})";
  EXPECT_EQ(exec_info_of(plugin),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false,"cluster":{"server":"https://a"}}})");
}

TEST(ExecCredentialTest, ATokenMayExpire) {
  const ExecCredential forever = parse_exec_credential(answer(R"("token":"t")"), kV1).value();
  EXPECT_EQ(forever, (ExecCredential{"t", "", "", std::nullopt}));
  const std::string until = R"("token":"t","expirationTimestamp":"2026-01-31T12:00:00Z")";
  const ExecCredential limited = parse_exec_credential(answer(until), kV1).value();
  EXPECT_EQ(limited.expires, std::chrono::sys_days(2026y / 1 / 31) + 12h);
}

TEST(ExecCredentialTest, ACertificateComesWithItsKey) {
  const PemPair pair = make_pem_pair("node");
  const std::string certificate =
      fmt::format("\"clientCertificateData\":{}", json_quoted(pair.certificate));
  const std::string key = fmt::format("\"clientKeyData\":{}", json_quoted(pair.key));
  const ExecCredential both = parse_exec_credential(answer(certificate + "," + key), kV1).value();
  EXPECT_EQ(both, (ExecCredential{"", pair.certificate, pair.key, std::nullopt}));
  constexpr const char* kOne = "exec plugin returned only certificate or key, not both";
  EXPECT_EQ(error_of(answer(certificate)), kOne);
  EXPECT_EQ(error_of(answer("\"token\":\"t\"," + key)), kOne);
  const std::string other =
      fmt::format("\"clientKeyData\":{}", json_quoted(make_pem_pair("other").key));
  EXPECT_EQ(error_of(answer(certificate + "," + other)),
            "failed parsing client key/certificate: the certificate is not this key's");
}

TEST(ExecCredentialTest, AnAnswerWithoutCredentialsIsAnError) {
  EXPECT_EQ(error_of(answer("")), "exec plugin didn't return a token or cert/key pair");
  EXPECT_EQ(error_of(fmt::format(R"({{"kind":"ExecCredential","apiVersion":"{}"}})", kV1)),
            "exec plugin didn't return a status field");
}

TEST(ExecCredentialTest, AnAnswerOfAnotherVersionIsAnError) {
  EXPECT_EQ(error_of(answer(R"("token":"t")", "client.authentication.k8s.io/v1beta1")),
            "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin "
            "returned version client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(error_of(answer(R"("token":"t")", "hunter2")),
            "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin "
            "returned version of another API");
}

TEST(ExecCredentialTest, WhatIsNoAnswerIsReportedWithoutAnythingOfIt) {
  EXPECT_EQ(error_of("hunter2"), "decoding stdout: expected an ExecCredential");
  EXPECT_EQ(error_of(""), "decoding stdout: expected an ExecCredential");
  EXPECT_EQ(error_of("{\"kind\": *hunter2"),
            "decoding stdout: line 1: the referenced anchor is not defined");
  EXPECT_EQ(error_of(R"({"kind":"Status","apiVersion":"v1","message":"hunter2"})"),
            "decoding stdout: expected an ExecCredential");
  EXPECT_EQ(error_of(answer(R"("token":["hunter2"])")),
            "decoding stdout: line 1: status.token: expected text, not a list");
  EXPECT_EQ(error_of(answer(R"("token":"hunter2\n")")),
            "decoding stdout: status.token: has a line break or another control character");
  EXPECT_EQ(error_of(answer(R"("token":"hunter2","expirationTimestamp":"tomorrow")")),
            "decoding stdout: line 1: status.expirationTimestamp: is no time of RFC 3339");
}

TEST(ExecCredentialTest, ATimeBeyondOurClockIsFarInTheFuture) {
  const std::string until = R"("token":"t","expirationTimestamp":"9999-12-31T23:59:59Z")";
  const ExecCredential limited = parse_exec_credential(answer(until), kV1).value();
  EXPECT_GT(limited.expires, std::chrono::sys_days(2260y / 1 / 1));
}

}  // namespace
}  // namespace mkp
