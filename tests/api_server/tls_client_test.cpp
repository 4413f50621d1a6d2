#include <string>

#include "tests/api_server/client_fixture.h"

namespace mkp::api {
namespace {

class TlsClientTest : public ClientFixture {
 protected:
  // The status, or curl's own exit code when there was none.
  std::string curl(std::vector<std::string> options) {
    std::vector<std::string> command{"curl",      "-s",           "-o",
                                     "/dev/null", "-w",           "%{http_code} %{exitcode}",
                                     "--cacert",  file("ca.crt"), url_ + "/api/v1/services"};
    command.insert(command.end(), options.begin(), options.end());
    return packets::run_program(command, "", {0, 7, 35, 52, 56, 60}).value_or("failed");
  }
  std::string with_token() { return curl({"-H", "Authorization: Bearer right"}); }
};

TEST_F(TlsClientTest, IsServedWithTheToken) {
  EXPECT_EQ(with_token(), "200 0");
  EXPECT_EQ(curl({}), "401 0");
}

TEST_F(TlsClientTest, SeesACertificateThatHasExpiredOrHasAnotherName) {
  constexpr const char* kNotVerified = "000 60";
  use_certificate({.common_name = "test",
                   .alternative_names = {"IP:127.0.0.1"},
                   .valid_until = std::chrono::minutes(-1)});
  EXPECT_EQ(with_token(), kNotVerified);
  use_certificate({.common_name = "test", .alternative_names = {"DNS:elsewhere"}});
  EXPECT_EQ(with_token(), kNotVerified);
  use_certificate({.common_name = "test", .alternative_names = {"IP:127.0.0.1"}});
  EXPECT_EQ(with_token(), "200 0");
}

TEST_F(TlsClientTest, IsKnownByItsCertificate) {
  const CertificateAndKey client = authority_.issue({.common_name = "system:kube-proxy"});
  write("client.crt", client.certificate);
  write("client.key", client.key);
  use_certificate({.common_name = "test", .alternative_names = {"IP:127.0.0.1"}},
                  authority_.certificate());
  EXPECT_EQ(curl({"--cert", file("client.crt"), "--key", file("client.key")}), "200 0");
  EXPECT_EQ(curl({}), "401 0");
}

TEST_F(TlsClientTest, IsRefusedWhileTheServerIsStopped) {
  server_.stop();
  EXPECT_EQ(with_token(), "000 7");
  server_.start();
  EXPECT_EQ(with_token(), "200 0");
}

}  // namespace
}  // namespace mkp::api
