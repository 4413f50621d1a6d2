#include "informer/api_request.h"

#include <gtest/gtest.h>

#include "informer/forward_proxy.h"

namespace mkp {
namespace {

ApiServer server() {
  ApiServer server;
  server.host = "10.20.0.11";
  server.port = 6443;
  server.user_agent = "test/1";
  return server;
}

TEST(ApiRequest, SortsTheQueryAndEncodesItAsAForm) {
  ApiRequest request;
  request.path = "/api/v1/services";
  request.query = {{"watch", "true"}, {"labelSelector", "!a.io/b,c in (d e)"}};
  EXPECT_EQ(
      to_http(request, server(), {}),
      "GET /api/v1/services?labelSelector=%21a.io%2Fb%2Cc+in+%28d+e%29&watch=true HTTP/1.1\r\n"
      "Host: 10.20.0.11:6443\r\nUser-Agent: test/1\r\n"
      "Accept: application/vnd.kubernetes.protobuf, */*\r\nAccept-Encoding: gzip\r\n\r\n");
}

TEST(ApiRequest, ShowsCredentialsAndWhoItActsFor) {
  ApiServer asked = server();
  asked.host = "fd20::11";
  asked.base_path = "/k8s";
  asked.compression = false;
  asked.headers = {{"Impersonate-User", "jane"}};
  EXPECT_EQ(to_http({.path = "/version"}, asked, {.authorization = "Bearer abc"}),
            "GET /k8s/version HTTP/1.1\r\nHost: [fd20::11]:6443\r\nUser-Agent: test/1\r\n"
            "Accept: application/vnd.kubernetes.protobuf, */*\r\nAuthorization: Bearer abc\r\n"
            "Impersonate-User: jane\r\n\r\n");
}

TEST(ApiRequest, OffersGzipWhereBothServerAndRequestAllowIt) {
  const auto offers = [](bool server_allows, bool request_allows) {
    ApiServer asked = server();
    asked.compression = server_allows;
    const std::string bytes = to_http({.path = "/x", .compressible = request_allows}, asked, {});
    return bytes.find("Accept-Encoding: gzip\r\n") != std::string::npos;
  };
  EXPECT_TRUE(offers(true, true));
  EXPECT_FALSE(offers(true, false));
  EXPECT_FALSE(offers(false, true));
}

TEST(ApiRequest, CarriesABodyWithItsTypeAndLength) {
  ApiServer asked = server();
  asked.compression = false;
  const std::string bytes =
      to_http({.method = "POST", .path = "/x", .content_type = "application/json", .body = "{}"},
              asked, {});
  EXPECT_NE(bytes.find("Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
            std::string::npos);
}

TEST(ApiRequest, NamesTheServerToAProxyOnlyWithoutTls) {
  ApiServer asked = server();
  asked.proxy = ForwardProxy{.host = "proxy", .port = 3128, .user = "u", .password = "p"};
  EXPECT_EQ(to_http({.path = "/x"}, asked, {}).find("GET /x HTTP/1.1\r\n"), 0U);
  asked.tls = false;
  const std::string bytes = to_http({.path = "/x"}, asked, {});
  EXPECT_EQ(bytes.find("GET http://10.20.0.11:6443/x HTTP/1.1\r\n"), 0U);
  EXPECT_NE(bytes.find("Proxy-Authorization: Basic dTpw\r\n"), std::string::npos);
}

TEST(BasicAuthorization, IsBase64WithPadding) {
  EXPECT_EQ(basic_authorization("a", "b"), "Basic YTpi");
  EXPECT_EQ(basic_authorization("ab", "c"), "Basic YWI6Yw==");
  EXPECT_EQ(basic_authorization("user", "pass?~"), "Basic dXNlcjpwYXNzP34=");
}

}  // namespace
}  // namespace mkp
