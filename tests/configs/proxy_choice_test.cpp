#include "configs/proxy_choice.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

// "direct", or the proxy's host.
std::string way_to(const ServerUrl& server, std::map<std::string, std::string> variables) {
  Environment environment;
  environment.variables = std::move(variables);
  const Result<std::optional<ProxyServer>> proxy = proxy_of(server, environment);
  if (!proxy) return proxy.error().what;
  ProxyServer direct;
  direct.host = "direct";
  return proxy->value_or(direct).host;
}

std::string way_past(const std::string& host, const std::string& no_proxy) {
  return way_to({true, host, 6443, ""}, {{"HTTPS_PROXY", "http://p"}, {"NO_PROXY", no_proxy}});
}

TEST(ProxyChoiceTest, EachSchemeHasItsVariableInEitherCase) {
  const ServerUrl tls{true, "api.example", 6443, ""};
  const ServerUrl plain{false, "api.example", 8080, ""};
  EXPECT_EQ(way_to(tls, {}), "direct");
  EXPECT_EQ(way_to(tls, {{"HTTPS_PROXY", "http://a"}, {"HTTP_PROXY", "http://b"}}), "a");
  EXPECT_EQ(way_to(plain, {{"HTTPS_PROXY", "http://a"}, {"HTTP_PROXY", "http://b"}}), "b");
  EXPECT_EQ(way_to(tls, {{"https_proxy", "http://a"}}), "a");
  EXPECT_EQ(way_to(plain, {{"http_proxy", "http://a"}}), "a");
  EXPECT_EQ(way_to(tls, {{"HTTPS_PROXY", "http://a"}, {"https_proxy", "http://b"}}), "a");
  EXPECT_EQ(way_to(tls, {{"HTTPS_PROXY", ""}, {"https_proxy", "http://b"}}), "b");
}

TEST(ProxyChoiceTest, AProxyWithoutASchemeIsAnHttpProxy) {
  EXPECT_EQ(way_to({true, "a", 443, ""}, {{"HTTPS_PROXY", "proxy:3128"}}), "proxy");
}

TEST(ProxyChoiceTest, ThisMachineIsReachedDirectly) {
  EXPECT_EQ(way_past("localhost", ""), "direct");
  EXPECT_EQ(way_past("127.0.0.2", ""), "direct");
  EXPECT_EQ(way_past("::1", ""), "direct");
}

TEST(ProxyChoiceTest, NamesStandForTheirSubdomainsToo) {
  EXPECT_EQ(way_past("api.example", "example"), "direct");
  EXPECT_EQ(way_past("API.Example", " Example "), "direct");
  EXPECT_EQ(way_past("example", "example"), "direct");
  EXPECT_EQ(way_past("anexample", "example"), "p");
  EXPECT_EQ(way_past("api.example", ".example"), "direct");
  EXPECT_EQ(way_past("api.example", "*.example"), "direct");
  EXPECT_EQ(way_past("example", ".example"), "p");
  EXPECT_EQ(way_past("api.example", "other,,example"), "direct");
  EXPECT_EQ(way_past("api.example", "*"), "direct");
  EXPECT_EQ(way_past("api.example", ","), "p");
}

TEST(ProxyChoiceTest, AddressesAndPrefixesAreExceptedAsSuch) {
  EXPECT_EQ(way_past("192.168.0.1", "192.168.0.1"), "direct");
  EXPECT_EQ(way_past("192.168.0.1", "192.168.0.0/24"), "direct");
  EXPECT_EQ(way_past("192.168.1.1", "192.168.0.0/24"), "p");
  EXPECT_EQ(way_past("fd20::11", "fd20::/64"), "direct");
  EXPECT_EQ(way_past("fd20::11", "fd20::11"), "direct");
  EXPECT_EQ(way_past("fd20::11", "[fd20::11]:6443"), "direct");
  EXPECT_EQ(way_past("192.168.0.1", "168.0.1"), "p");
  EXPECT_EQ(way_past("api.example", "192.168.0.0/24"), "p");
}

TEST(ProxyChoiceTest, APortExceptsThatPortOnly) {
  EXPECT_EQ(way_past("api.example", "example:6443"), "direct");
  EXPECT_EQ(way_past("api.example", "example:443"), "p");
  EXPECT_EQ(way_past("192.168.0.1", "192.168.0.1:6443"), "direct");
  EXPECT_EQ(way_past("192.168.0.1", "192.168.0.1:443"), "p");
}

TEST(ProxyChoiceTest, AProxyMayAskForAUser) {
  EXPECT_EQ(parse_proxy("http://me:p%40ss@[fd20::12]:3128/").value(),
            (ProxyServer{ProxyServer::Scheme::Http, "fd20::12", 3128, "me", "p@ss"}));
  EXPECT_EQ(parse_proxy("SOCKS5://proxy").value(),
            (ProxyServer{ProxyServer::Scheme::Socks5, "proxy", 1080, "", ""}));
}

TEST(ProxyChoiceTest, AVariableThatIsNoProxyIsAnErrorWithoutItsPassword) {
  const ServerUrl server{true, "a", 443, ""};
  EXPECT_EQ(way_to(server, {{"HTTPS_PROXY", "http://me:hunter2@proxy:port"}}),
            "environment variable HTTPS_PROXY: could not parse: http://***@proxy:port");
  EXPECT_EQ(way_to(server, {{"HTTPS_PROXY", "https://proxy"}}),
            "environment variable HTTPS_PROXY: scheme \"https\", TLS on the way to a proxy, is not "
            "built; use http or socks5");
}

}  // namespace
}  // namespace mkp
