#include <string>

#include "tests/api_server/api_server_fixture.h"

namespace mkp::api {
namespace {

using testing::HasSubstr;
using testing::Not;
using State = LoopClient::State;
using namespace std::chrono_literals;

const std::string kServices = "/api/v1/services";
const std::string kWatch = kServices + "?watch=true&resourceVersion=1";

class ApiServerFaultTest : public ApiServerFixture {
 protected:
  void pass_seconds(int count, LoopClient& client) {
    for (int i = 0; i < count; ++i) {
      pass(1s);
      client.settle();
    }
  }
};

TEST_F(ApiServerFaultTest, BefallsAsManyRequestsAsItIsFor) {
  server_.faults().add({.request = {.verb = "list", .kind = ObjectKind::Service},
                        .times = 2,
                        .instead = canned(too_many_requests(7))});
  EXPECT_EQ(ask("/api/v1/nodes")->status(), 200U);
  const auto first = ask(kServices);
  EXPECT_EQ(first->status(), 429U);
  EXPECT_EQ(first->header("Retry-After"), "7");
  EXPECT_EQ(ask(kServices)->status(), 429U);
  EXPECT_EQ(ask(kServices)->status(), 200U);
}

TEST_F(ApiServerFaultTest, AnswersWhateverItIsTold) {
  server_.faults().add({.request = {.client = "first"}, .instead = bad_gateway()});
  server_.faults().add({.request = {.client = "second"}, .content_type = "text/html"});
  const auto first = ask(kServices, "User-Agent: first/1\r\n");
  EXPECT_EQ(first->status(), 502U);
  EXPECT_THAT(first->body(), HasSubstr("<html>"));
  const auto second = ask(kServices, "User-Agent: second/1\r\n");
  EXPECT_EQ(second->header("Content-Type"), "text/html");
  EXPECT_THAT(second->body(), HasSubstr("ServiceList"));
}

TEST_F(ApiServerFaultTest, EndsAConnectionWithoutAnAnswer) {
  server_.faults().add({.request = {.client = "fin"}, .no_answer = Ending::Fin});
  server_.faults().add({.request = {.client = "reset"}, .no_answer = Ending::Reset});
  server_.faults().add({.request = {.client = "silence"}, .no_answer = Ending::Silence});
  EXPECT_EQ(ask(kServices, "User-Agent: fin\r\n")->state(), State::Closed);
  EXPECT_EQ(ask(kServices, "User-Agent: reset\r\n")->state(), State::Reset);
  const auto silence = ask(kServices, "User-Agent: silence\r\n");
  pass(24h);
  EXPECT_EQ(silence->received(), "");
  EXPECT_EQ(silence->state(), State::Open);
}

TEST_F(ApiServerFaultTest, CutsABodyShort) {
  server_.faults().add({.body_bytes = 10, .then = Ending::Reset});
  const auto client = ask(kServices);
  EXPECT_EQ(client->body(), R"({"kind":"S)");
  EXPECT_FALSE(client->complete());
  EXPECT_EQ(client->state(), State::Reset);
}

TEST_F(ApiServerFaultTest, SendsAFewBytesAtATime) {
  server_.faults().add({.delay = 1s, .piece_bytes = 5, .pause = 100ms});
  const auto client = ask("/healthz");
  client->settle();
  EXPECT_EQ(client->received(), "");
  pass(1s);
  client->settle();
  EXPECT_EQ(client->received(), "HTTP/");
  pass(100ms);
  client->settle();
  EXPECT_EQ(client->received(), "HTTP/1.1 2");
}

TEST_F(ApiServerFaultTest, SendsHeadersWithoutEnd) {
  server_.faults().add({.piece_bytes = 100'000, .pause = 1s, .endless_headers = true});
  const auto client = ask(kServices);
  pass_seconds(50, *client);
  EXPECT_GT(client->received().size(), 40'000U);
  EXPECT_EQ(client->status(), 0U);
  EXPECT_EQ(client->state(), State::Open);
}

TEST_F(ApiServerFaultTest, BreaksWatchesInMidEvent) {
  put("a");
  const auto fin = ask(kWatch, "User-Agent: fin\r\n");
  const auto reset = ask(kWatch, "User-Agent: reset\r\n");
  const auto silence = ask(kWatch, "User-Agent: silence\r\n");
  const std::string before = fin->body();
  server_.end_watches({.half_an_event = true, .connection = Ending::Fin}, {.client = "fin"});
  server_.end_watches({.half_an_event = true, .connection = Ending::Reset}, {.client = "reset"});
  server_.end_watches({.half_an_event = true, .connection = Ending::Silence},
                      {.client = "silence"});
  fin->settle();
  EXPECT_THAT(fin->body().substr(before.size()), HasSubstr(R"({"type":"MODIFIED","object":)"));
  EXPECT_THAT(fin->body().substr(before.size()), Not(HasSubstr("\n")));
  EXPECT_EQ(fin->state(), State::Closed);
  EXPECT_FALSE(fin->complete());
  reset->settle();
  EXPECT_EQ(reset->state(), State::Reset);
  put("b");
  silence->settle();
  EXPECT_EQ(silence->state(), State::Open);
  EXPECT_THAT(silence->body(), Not(HasSubstr("\"b\"")));
}

TEST_F(ApiServerFaultTest, EndsWatchesInGoodOrderOrWithAnErrorOrWithGarbage) {
  const auto nodes = ask("/api/v1/nodes?watch=true&resourceVersion=1");
  const auto services = ask(kWatch);
  server_.end_watches({}, {.kind = ObjectKind::Node});
  EXPECT_TRUE(nodes->complete());
  EXPECT_EQ(nodes->body(), "");
  server_.send_to_watches("garbage\n");
  server_.fail_watches(internal_error("etcd is gone"));
  EXPECT_THAT(services->body(), testing::StartsWith("garbage\n{\"type\":\"ERROR\""));
  EXPECT_THAT(services->body(), HasSubstr("Internal error occurred: etcd is gone"));
  EXPECT_TRUE(services->complete());
}

TEST_F(ApiServerFaultTest, RefusesConnectionsUntilItIsStartedAgain) {
  put("a");
  const auto client = ask(kWatch);
  const std::uint16_t port = server_.port();
  server_.stop();
  client->settle();
  EXPECT_EQ(client->state(), State::Reset);
  EXPECT_EQ(connect().state(), State::Refused);
  EXPECT_EQ(server_.connections(), 0U);
  server_.start(loop_.get_executor());
  EXPECT_EQ(server_.port(), port);
  EXPECT_THAT(body_of(kServices), HasSubstr(R"("name":"a")"));
}

TEST_F(ApiServerFaultTest, SendsObjectsThatNobodyCanRead) {
  server_.store().put(
      raw_draft(ObjectKind::Service, "default", "odd", {R"({"metadata":7})", "\xff"}));
  EXPECT_THAT(body_of(kServices), HasSubstr(R"("items":[{"metadata":7}])"));
}

}  // namespace
}  // namespace mkp::api
