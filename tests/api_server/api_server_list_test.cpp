#include <string>

#include "tests/api_server/api_server_fixture.h"

namespace mkp::api {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

const std::string kServices = "/api/v1/services";

class ApiServerListTest : public ApiServerFixture {
 protected:
  void put_all(const std::vector<std::string>& names) {
    for (const std::string& name : names) put(name);
  }
  // The names in a JSON list, in order.
  static std::string names(const std::string& body) {
    std::string found;
    const std::string mark = R"({"name":")";
    for (std::size_t at = body.find(mark); at != std::string::npos; at = body.find(mark, at)) {
      at += mark.size();
      found += body.substr(at, body.find('"', at) - at) + " ";
    }
    return found;
  }
  static std::string continue_token(const std::string& body) {
    const std::string mark = R"("continue":")";
    const std::size_t at = body.find(mark);
    if (at == std::string::npos) return "";
    return body.substr(at + mark.size(), body.find('"', at + mark.size()) - at - mark.size());
  }
};

TEST_F(ApiServerListTest, ListsAKindAsOfTheStoresVersion) {
  EXPECT_EQ(body_of(kServices),
            R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"1"},)"
            R"("items":[]})");
  put("b");
  put("a");
  server_.store().put(draft(Node{}));
  const std::string body = body_of(kServices);
  EXPECT_EQ(names(body), "a b ");
  EXPECT_THAT(body, HasSubstr(R"("metadata":{"resourceVersion":"4"})"));
}

TEST_F(ApiServerListTest, GetsOneObjectByName) {
  put("a");
  const auto found = ask("/api/v1/namespaces/default/services/a");
  EXPECT_EQ(found->status(), 200U);
  EXPECT_THAT(found->body(), HasSubstr(R"({"kind":"Service","apiVersion":"v1","metadata":{)"));
  const auto missing = ask("/api/v1/namespaces/default/services/b");
  EXPECT_EQ(missing->status(), 404U);
  EXPECT_THAT(missing->body(), HasSubstr(R"(services \"b\" not found)"));
}

TEST_F(ApiServerListTest, AppliesSelectorsAndTheNamespace) {
  put("a", {.labels = {{"app", "web"}}});
  put("b");
  server_.store().put(draft(service("c", "None")));
  EXPECT_EQ(names(body_of(kServices + "?labelSelector=app%3Dweb")), "a ");
  EXPECT_EQ(
      names(body_of(kServices + "?labelSelector=%21app&fieldSelector=spec.clusterIP%21%3DNone")),
      "b ");
  EXPECT_EQ(names(body_of("/api/v1/namespaces/other/services")), "");
  EXPECT_EQ(ask(kServices + "?labelSelector=a+b")->status(), 400U);
}

TEST_F(ApiServerListTest, SplitsAListIntoPagesOfOneVersion) {
  put_all({"a", "b", "c", "d", "e"});
  const std::string first = body_of(kServices + "?limit=2");
  EXPECT_EQ(names(first), "a b ");
  EXPECT_THAT(first, HasSubstr(R"("remainingItemCount":3)"));
  put("bb");
  server_.store().remove(ObjectKind::Service, "default/c");
  const std::string second = body_of(kServices + "?limit=2&continue=" + continue_token(first));
  EXPECT_EQ(names(second), "c d ");
  EXPECT_THAT(second, HasSubstr(R"("resourceVersion":"6")"));
  const std::string third = body_of(kServices + "?limit=2&continue=" + continue_token(second));
  EXPECT_EQ(names(third), "e ");
  EXPECT_THAT(third, Not(HasSubstr("continue")));
}

TEST_F(ApiServerListTest, RefusesAPageOfACompactedVersionWithATokenForTheRest) {
  put_all({"a", "b", "c"});
  const std::string first = body_of(kServices + "?limit=1");
  put("d");
  server_.store().compact();
  const auto expired = ask(kServices + "?limit=1&continue=" + continue_token(first));
  EXPECT_EQ(expired->status(), 410U);
  EXPECT_THAT(expired->body(), HasSubstr(R"("reason":"Expired")"));
  EXPECT_EQ(names(body_of(kServices + "?continue=" + continue_token(expired->body()))), "b c d ");
  EXPECT_EQ(ask(kServices + "?continue=abc")->status(), 400U);
}

TEST_F(ApiServerListTest, AnswersAnExactVersionUntilItIsCompacted) {
  put("a");
  put("b");
  const std::string exact = kServices + "?resourceVersionMatch=Exact&resourceVersion=2";
  EXPECT_EQ(names(body_of(exact)), "a ");
  server_.store().compact();
  EXPECT_EQ(ask(exact)->status(), 410U);
  EXPECT_EQ(names(body_of(kServices + "?resourceVersion=0")), "a b ");
}

TEST_F(ApiServerListTest, WaitsThreeSecondsForAVersionThatIsStillToCome) {
  const auto client = ask(kServices + "?resourceVersion=3");
  const auto late = ask(kServices + "?resourceVersion=9");
  put("a");
  put("b");
  pass(1s);
  EXPECT_EQ(names(client->body()), "a b ");
  EXPECT_EQ(late->status(), 0U);
  pass(2s);
  EXPECT_EQ(late->status(), 504U);
  EXPECT_THAT(late->body(), HasSubstr("Too large resource version: 9, current: 3"));
  EXPECT_EQ(late->header("Retry-After"), "1");
}

TEST_F(ApiServerListTest, RefusesParametersThatContradictEachOther) {
  const auto refusal = [this](const std::string& query) {
    return ask(kServices + query)->status();
  };
  EXPECT_EQ(refusal("?sendInitialEvents=true"), 422U);
  EXPECT_EQ(refusal("?resourceVersionMatch=NotOlderThan"), 422U);
  EXPECT_EQ(refusal("?resourceVersionMatch=Exact&resourceVersion=0"), 422U);
  EXPECT_EQ(refusal("?watch=true&sendInitialEvents=true"), 422U);
  EXPECT_EQ(refusal("?watch=true&resourceVersionMatch=NotOlderThan"), 422U);
  EXPECT_EQ(refusal("?resourceVersion=abc"), 400U);
  EXPECT_EQ(refusal("?watch=maybe"), 400U);
}

TEST_F(ApiServerListTest, SpeaksTheEncodingThatIsAskedFor) {
  put("a");
  const auto type = [this](const std::string& accept) {
    const auto client = ask(kServices, "Accept: " + accept + "\r\n");
    return client->status() == 200 ? client->header("Content-Type") : client->body();
  };
  EXPECT_EQ(type("application/vnd.kubernetes.protobuf, */*"),
            "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(type("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            "application/json");
  EXPECT_EQ(type("*/*"), "application/json");
  EXPECT_THAT(type("text/html"), HasSubstr("NotAcceptable"));
}

TEST_F(ApiServerListTest, CompressesForThoseWhoTakeIt) {
  put("a");
  server_.settings().gzip_members = 3;
  const std::string plain = body_of(kServices);
  const auto client = ask(kServices, "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(client->header("Content-Encoding"), "gzip");
  EXPECT_EQ(gunzipped(client->body()), plain);
}

TEST_F(ApiServerListTest, LetsInWhoHasTheTokenAndSaysWhatIsForbidden) {
  server_.settings().token = "right";
  server_.settings().denied = {{.verb = "list", .kind = ObjectKind::EndpointSlice}};
  EXPECT_EQ(ask(kServices)->status(), 401U);
  EXPECT_EQ(ask(kServices, "Authorization: Bearer wrong\r\n")->status(), 401U);
  EXPECT_EQ(ask(kServices, "Authorization: Bearer right\r\n")->status(), 200U);
  const auto denied =
      ask("/apis/discovery.k8s.io/v1/endpointslices", "Authorization: Bearer right\r\n");
  EXPECT_EQ(denied->status(), 403U);
  EXPECT_THAT(
      denied->body(),
      HasSubstr(R"(endpointslices.discovery.k8s.io is forbidden: User \"system:kube-proxy\" )"
                R"(cannot list resource \"endpointslices\" in API group )"
                R"(\"discovery.k8s.io\" at the cluster scope)"));
}

TEST_F(ApiServerListTest, SaysWhatThereIs) {
  EXPECT_EQ(body_of("/healthz"), "ok");
  EXPECT_THAT(body_of("/version"), HasSubstr("v1.37.2"));
  EXPECT_THAT(body_of("/apis"), HasSubstr("discovery.k8s.io/v1"));
  EXPECT_THAT(body_of("/api/v1"), HasSubstr(R"("name":"services")"));
  EXPECT_EQ(ask("/apis/nothing/v1")->status(), 404U);
  EXPECT_EQ(ask("/api/v1/pods")->body(), "404 page not found\n");
}

TEST_F(ApiServerListTest, AcceptsEventsAndRemembersEveryRequest) {
  LoopClient client = connect();
  client.send(
      "POST /apis/events.k8s.io/v1/namespaces/default/events HTTP/1.1\r\nHost: test\r\n"
      "User-Agent: proxy/1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(client.status(), 201U);
  client.get("/api/v1/nodes", "User-Agent: proxy/1\r\n");
  EXPECT_EQ(server_.log().text(),
            "POST /apis/events.k8s.io/v1/namespaces/default/events\nlist nodes\n");
  EXPECT_EQ(server_.log().records().front().body, "{}");
  EXPECT_EQ(server_.log().count("list", "nodes", "proxy"), 1U);
  EXPECT_EQ(server_.log().count("list", "nodes", "kubectl"), 0U);
}

}  // namespace
}  // namespace mkp::api
