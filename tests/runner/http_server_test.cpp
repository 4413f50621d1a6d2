#include "runner/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <boost/asio.hpp>
#include <filesystem>
#include <list>
#include <vector>

#include "runner/http_routes.h"
#include "tests/fakes/fake_clock.h"
#include "tests/runner/http_client.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr IpAddress kLoopback{IpFamily::Ipv4, {127, 0, 0, 1}};
constexpr const char* kAsk = "GET /page HTTP/1.1\r\nHost: node\r\n\r\n";

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    routes_.add("/page", [this](const HttpServer::Request& request) {
      ++asked_;
      return HttpServer::Answer{.headers = {{"X-Query", request.query}}, .body = "hello"};
    });
    routes_.add(
        "/any",
        [](const HttpServer::Request& request) {
          return HttpServer::Answer{.body = request.method};
        },
        HttpRoutes::Methods::Any);
  }
  void open(const HttpServer::Limits& limits = {}) {
    server_ =
        HttpServer::open(loop_.get_executor(), clock_, {kLoopback, 0}, routes_, limits).value();
    settle();
  }
  HttpClient connect() { return HttpClient(server_->port()); }
  std::size_t settle() {
    loop_.restart();
    return loop_.poll();
  }
  void pass(Duration time) {
    clock_.advance(time);
    settle();
  }
  // Runs the loop until that holds; loopback needs no more than a few turns.
  bool becomes(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      settle();
    }
    return true;
  }
  std::string answer(HttpClient& client, bool has_body = true) {
    std::string all;
    becomes([&] {
      const bool open = client.receive();
      all = client.take_answer(has_body);
      return !all.empty() || !open;
    });
    return all;
  }
  std::string ask(HttpClient& client, const std::string& request) {
    client.send(request);
    return answer(client);
  }
  bool is_closed(HttpClient& client) {
    return becomes([&] { return !client.receive(); });
  }

  FakeClock clock_;
  HttpRoutes routes_;
  int asked_ = 0;
  asio::io_context loop_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersRequestAfterRequestOnOneConnection) {
  open();
  HttpClient client = connect();
  const std::string first = ask(client, "GET /page?a=1&b HTTP/1.1\r\nHost: node\r\n\r\n");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nContent-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nX-Query: a=1&b\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\nContent-Length: 5\r\n"));
  EXPECT_THAT(first, testing::ContainsRegex(
                         "\r\nDate: [A-Z][a-z]+, [0-9]+ [A-Z][a-z]+ 20[0-9]+ [0-9:]+ GMT\r\n"));
  EXPECT_THAT(first, EndsWith("\r\n\r\nhello"));
  EXPECT_THAT(ask(client, kAsk), EndsWith("hello"));
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(HttpServerTest, RequestsThatComeTogetherAreAnsweredInTheirOrder) {
  open();
  HttpClient client = connect();
  client.send(std::string(kAsk) + "POST /any HTTP/1.1\r\nHost: n\r\nContent-Length: 3\r\n\r\nabc" +
              kAsk);
  EXPECT_THAT(answer(client), EndsWith("hello"));
  EXPECT_THAT(answer(client), EndsWith("POST"));
  EXPECT_THAT(answer(client), EndsWith("hello"));
}

TEST_F(HttpServerTest, ARequestInPiecesIsAnsweredWhenItIsComplete) {
  open();
  HttpClient client = connect();
  const std::string request = kAsk;
  for (const char letter : request.substr(0, request.size() - 1)) {
    client.send(std::string(1, letter));
    settle();
  }
  EXPECT_EQ(asked_, 0);
  EXPECT_THAT(ask(client, "\n"), EndsWith("hello"));
}

TEST_F(HttpServerTest, TheConnectionEndsWithTheAnswerWhereTheClientWantsIt) {
  open();
  for (const char* request : {"GET /page HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n",
                              "GET /page HTTP/1.0\r\n\r\n"}) {
    HttpClient client = connect();
    EXPECT_THAT(ask(client, request), EndsWith("hello"));
    EXPECT_TRUE(is_closed(client));
  }
}

TEST_F(HttpServerTest, HeadGetsTheHeadersAlone) {
  open();
  HttpClient client = connect();
  client.send("HEAD /page HTTP/1.1\r\nHost: node\r\n\r\n");
  const std::string head = answer(client, false);
  EXPECT_THAT(head, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(ask(client, kAsk), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, OtherMethodsAndPathsAreRefusedAndTheConnectionGoesOn) {
  open();
  HttpClient client = connect();
  const std::string refused = ask(client, "DELETE /page HTTP/1.1\r\nHost: node\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_THAT(refused, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_THAT(ask(client, "GET /pages HTTP/1.1\r\nHost: node\r\n\r\n"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask(client, "BREW /any HTTP/1.1\r\nHost: node\r\n\r\n"), EndsWith("BREW"));
  EXPECT_EQ(asked_, 0);
}

TEST_F(HttpServerTest, WhatIsNoRequestIsRefusedAndTheConnectionEnds) {
  open();
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"\x16\x03\x01 hello TLS\r\n\r\n", "400"},
      {"GET\r\n\r\n", "400"},
      {"GET /page HTTP/1.1\r\nHost: n\r\nBad header\r\n\r\n", "400"},
      {"GET /page HTTP/1.1\r\nHost: n\r\nContent-Length: -1\r\n\r\n", "400"},
      {"GET /page HTTP/1.1\r\n\r\n", "400"},  // without a host
      {"GET /page HTTP/9.1\r\nHost: n\r\n\r\n", "400"},
      {"GET /page HTTP/1.1\r\nHost: n\r\nX: " + std::string(9000, 'x') + "\r\n\r\n", "431"},
      {"POST /any HTTP/1.1\r\nHost: n\r\nContent-Length: 99999\r\n\r\n" + std::string(99999, 'x'),
       "413"},
  };
  for (const auto& [request, status] : requests) {
    HttpClient client = connect();
    EXPECT_THAT(ask(client, request), StartsWith("HTTP/1.1 " + status)) << request.substr(0, 60);
    client.finish_sending();
    EXPECT_TRUE(is_closed(client)) << request.substr(0, 60);
  }
  EXPECT_EQ(asked_, 0);
  EXPECT_TRUE(becomes([&] { return server_->connections() == 0; }));
}

TEST_F(HttpServerTest, ARequestHasTenSecondsToArrive) {
  open();
  HttpClient silent = connect();
  HttpClient slow = connect();
  slow.send("GET /page HTT");
  settle();
  pass(9'999ms);
  slow.send("P/1.1\r\nHost: ");
  settle();
  EXPECT_TRUE(silent.receive());
  EXPECT_TRUE(slow.receive());
  pass(1ms);
  EXPECT_TRUE(is_closed(silent));
  EXPECT_TRUE(is_closed(slow));
  EXPECT_EQ(slow.received(), "");
}

TEST_F(HttpServerTest, BetweenRequestsAConnectionMayIdleForNinetySeconds) {
  open();
  HttpClient client = connect();
  EXPECT_THAT(ask(client, kAsk), EndsWith("hello"));
  settle();
  pass(89s);
  EXPECT_THAT(ask(client, kAsk), EndsWith("hello"));
  settle();
  pass(80s);
  client.send("GET /pa");  // from here on it has ten seconds
  EXPECT_TRUE(becomes([&] { return settle() == 0; }));
  pass(9'999ms);
  EXPECT_TRUE(client.receive());
  pass(1ms);
  EXPECT_TRUE(is_closed(client));
}

TEST_F(HttpServerTest, WhenThereAreTooManyTheOneWithoutAnAnswerForLongestMakesRoom) {
  HttpServer::Limits limits;
  limits.connections = 3;
  open(limits);
  std::list<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(connect());
    settle();
  }
  HttpClient& first = clients.front();
  HttpClient& second = *std::next(clients.begin());
  EXPECT_THAT(ask(first, kAsk), EndsWith("hello"));
  settle();
  HttpClient newest = connect();
  EXPECT_THAT(ask(newest, kAsk), EndsWith("hello"));
  EXPECT_TRUE(is_closed(second));
  EXPECT_TRUE(first.receive());
  EXPECT_TRUE(clients.back().receive());
  EXPECT_EQ(server_->connections(), 3U);
}

TEST_F(HttpServerTest, HundredsOfIdleAndHalfOpenConnectionsDelayNobody) {
  open();
  std::list<HttpClient> crowd;
  for (int i = 0; i < 400; ++i) {
    crowd.push_back(connect());
    crowd.push_back(connect());
    crowd.back().send("GET /page HTTP/1.1\r\nHo");
  }
  HttpClient client = connect();
  EXPECT_THAT(ask(client, kAsk), EndsWith("hello"));
  EXPECT_EQ(server_->connections(), HttpServer::Limits().connections);
}

TEST_F(HttpServerTest, AClientThatTakesNoAnswerIsLeftInTheEnd) {
  routes_.add("/large", [](const HttpServer::Request&) {
    return HttpServer::Answer{.body = std::string(64U << 20U, 'x')};
  });
  open();
  HttpClient client = connect();
  client.send("GET /large HTTP/1.1\r\nHost: node\r\n\r\n");
  EXPECT_TRUE(becomes([&] { return settle() == 0 && server_->connections() == 1; }));
  HttpClient other = connect();
  EXPECT_THAT(ask(other, kAsk), EndsWith("hello"));
  pass(10s);
  EXPECT_TRUE(becomes([&] { return server_->connections() == 1; }));
}

TEST_F(HttpServerTest, AWildcardTakesBothFamiliesOrItsOwn) {
  const auto open_at = [&](const IpAddress& address, std::uint16_t port, ListenOn::Wildcard takes) {
    return HttpServer::open(loop_.get_executor(), clock_, {address, port, takes}, routes_);
  };
  const IpAddress any4{};
  const IpAddress any6{.family = IpFamily::Ipv6};
  for (const IpAddress& any : {any4, any6}) {
    const auto both = open_at(any, 0, ListenOn::Wildcard::BothFamilies).value();
    EXPECT_TRUE(HttpClient(both->port(), "127.0.0.1").connected());
    EXPECT_TRUE(HttpClient(both->port(), "::1").connected());
  }
  const auto ipv6 = open_at(any6, 0, ListenOn::Wildcard::OwnFamily).value();
  EXPECT_TRUE(HttpClient(ipv6->port(), "::1").connected());
  EXPECT_FALSE(HttpClient(ipv6->port(), "127.0.0.1").connected());
  const auto ipv4 = open_at(any4, ipv6->port(), ListenOn::Wildcard::OwnFamily);
  ASSERT_TRUE(ipv4) << ipv4.error().what;
  EXPECT_TRUE(HttpClient(ipv6->port(), "127.0.0.1").connected());
}

TEST_F(HttpServerTest, WhereItCannotListenItSaysWhereAndWhy) {
  open();
  const auto taken =
      HttpServer::open(loop_.get_executor(), clock_, {kLoopback, server_->port()}, routes_);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Errc::Exists);
  EXPECT_EQ(taken.error().what,
            "listen on 127.0.0.1:" + std::to_string(server_->port()) + ": Address already in use");
  const IpAddress nobodys{IpFamily::Ipv6, {0x20, 0x01, 0x0d, 0xb8}};
  const auto foreign = HttpServer::open(loop_.get_executor(), clock_, {nobodys, 80}, routes_);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().what, "listen on [2001:db8::]:80: Cannot assign requested address");
}

TEST_F(HttpServerTest, ItsEndIsTheEndOfThePortAndOfAllConnections) {
  open();
  const std::uint16_t port = server_->port();
  HttpClient idle = connect();
  HttpClient half = connect();
  half.send("GET /pa");
  HttpClient answered = connect();
  EXPECT_THAT(ask(answered, kAsk), EndsWith("hello"));
  HttpClient asking = connect();
  asking.send(kAsk);
  server_.reset();
  EXPECT_FALSE(HttpClient(port).connected());
  settle();
  EXPECT_TRUE(loop_.stopped());  // no task is left
  for (HttpClient* client : {&idle, &half, &answered, &asking}) EXPECT_FALSE(client->receive());
  EXPECT_EQ(asked_, 1);
}

TEST_F(HttpServerTest, WithoutDescriptorsItWaitsAndThenGoesOn) {
  open();
  HttpClient idle = connect();
  EXPECT_TRUE(becomes([&] { return server_->connections() == 1; }));
  HttpClient client = connect();
  client.send(kAsk);
  // UndefinedBehaviorSanitizer looks once at each class with virtual functions, and needs
  // descriptors of its own for that: so those that are used without any are used before.
  const boost::system::error_code lacking(EMFILE, boost::system::system_category());
  spdlog::warn("this test takes away descriptors: {}", lacking.message());
  EXPECT_TRUE(lacking == asio::error::no_descriptors);
  EXPECT_FALSE(lacking == asio::error::connection_aborted);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const std::size_t handled = settle();
  const std::size_t handled_again = settle();
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_LT(handled, 100U);
  EXPECT_EQ(handled_again, 0U);
  EXPECT_EQ(asked_, 0);
  EXPECT_FALSE(idle.receive());  // made room
  pass(100ms);
  EXPECT_THAT(answer(client), EndsWith("hello"));
}

}  // namespace
}  // namespace mkp
