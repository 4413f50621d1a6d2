#include <string>

#include "tests/api_server/api_server_fixture.h"

namespace mkp::api {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

const std::string kWatch = "/api/v1/services?watch=true";
const std::string kWatchList =
    kWatch + "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";

class ApiServerWatchTest : public ApiServerFixture {
 protected:
  // "ADDED a 2, BOOKMARK 3 end": what events there are in a body, with names and versions.
  static std::string events(const std::string& body) {
    std::string text;
    for (std::size_t at = 0; at < body.size(); at = body.find('\n', at) + 1) {
      const std::string line = body.substr(at, body.find('\n', at) - at);
      text += text.empty() ? "" : ", ";
      text += value(line, "type");
      for (const char* member : {"name", "resourceVersion", "message"}) {
        if (const std::string found = value(line, member); !found.empty()) text += " " + found;
      }
      if (line.find("initial-events-end") != std::string::npos) text += " end";
      if (body.find('\n', at) == std::string::npos) break;
    }
    return text;
  }
  void put_often(const std::string& name, int times) {
    for (int i = 0; i < times; ++i) put(name);
  }
  std::string events_of(const std::string& target) { return events(body_of(target)); }

 private:
  static std::string value(const std::string& line, const std::string& member) {
    const std::string mark = "\"" + member + "\":\"";
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) return "";
    return line.substr(at + mark.size(), line.find('"', at + mark.size()) - at - mark.size());
  }
};

TEST_F(ApiServerWatchTest, SendsWhatHappensAfterAVersion) {
  put("a");
  const auto client = ask(kWatch + "&resourceVersion=2");
  EXPECT_EQ(client->status(), 200U);
  EXPECT_EQ(client->body(), "");
  put("b");
  put("a");
  server_.store().remove(ObjectKind::Service, "default/b");
  server_.store().put(draft(Node{}));
  EXPECT_EQ(events(client->body()), "ADDED b 3, MODIFIED a 4, DELETED b 5");
  EXPECT_EQ(events_of(kWatch + "&resourceVersion=3"), "MODIFIED a 4, DELETED b 5");
  EXPECT_EQ(events_of(kWatch + "&resourceVersion=1000"), "");
}

TEST_F(ApiServerWatchTest, BeginsWithEverythingAndABookmarkThatSaysSo) {
  put("a");
  put("b");
  const auto client = ask(kWatchList);
  EXPECT_EQ(events(client->body()), "ADDED a 2, ADDED b 3, BOOKMARK 3 end");
  put("c");
  EXPECT_EQ(events(client->body()), "ADDED a 2, ADDED b 3, BOOKMARK 3 end, ADDED c 4");
  EXPECT_EQ(events_of(kWatch + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
            "ADDED a 2, ADDED b 3, ADDED c 4");
  EXPECT_EQ(events_of(kWatch), "ADDED a 2, ADDED b 3, ADDED c 4");
}

TEST_F(ApiServerWatchTest, KnowsNoInitialEventsWhenItIsOld) {
  put("a");
  server_.settings().watch_list = false;
  const auto refused = ask(kWatchList);
  EXPECT_EQ(refused->status(), 422U);
  EXPECT_THAT(refused->body(), HasSubstr("unless the WatchList feature gate is enabled"));
  EXPECT_EQ(events_of(kWatch + "&allowWatchBookmarks=true"), "ADDED a 2");
}

TEST_F(ApiServerWatchTest, TellsWhatEntersAndLeavesASelector) {
  const Extras chosen{.labels = {{"app", "web"}}};
  const auto client = ask(kWatch + "&resourceVersion=1&labelSelector=app");
  put("a", chosen);
  put("a");
  put("a");
  put("a", chosen);
  server_.store().remove(ObjectKind::Service, "default/a");
  EXPECT_EQ(events(client->body()), "ADDED a 2, DELETED a 3, ADDED a 5, DELETED a 6");
}

TEST_F(ApiServerWatchTest, SaysThatAVersionIsTooOldInTheStreamOrBeforeIt) {
  put("a");
  put("b");
  server_.store().compact();
  const auto in_band = ask(kWatch + "&resourceVersion=2");
  EXPECT_EQ(in_band->status(), 200U);
  EXPECT_EQ(events(in_band->body()), "ERROR too old resource version: 2 (3)");
  EXPECT_TRUE(in_band->complete());
  EXPECT_EQ(ask(kWatch + "&resourceVersion=3")->complete(), false);
  server_.settings().expired_in_band = false;
  EXPECT_EQ(ask(kWatch + "&resourceVersion=2")->status(), 410U);
}

TEST_F(ApiServerWatchTest, SaysThatAVersionIsNotThereYetOnceItHasWaited) {
  const auto client = ask(kWatchList + "&resourceVersion=9");
  pass(3s);
  EXPECT_EQ(client->status(), 200U);
  EXPECT_THAT(client->body(), HasSubstr("Too large resource version: 9, current: 1"));
  EXPECT_TRUE(client->complete());
}

TEST_F(ApiServerWatchTest, EndsInGoodOrderWhenItsTimeIsOverAndServesOn) {
  const auto client = ask(kWatch + "&resourceVersion=1&timeoutSeconds=5&allowWatchBookmarks=true");
  pass(2999ms);
  EXPECT_EQ(client->body(), "");
  pass(1ms);
  EXPECT_EQ(events(client->body()), "BOOKMARK 1");
  EXPECT_FALSE(client->complete());
  pass(2s);
  EXPECT_TRUE(client->complete());
  EXPECT_EQ(client->state(), LoopClient::State::Open);
  client->get("/healthz");
  EXPECT_THAT(client->received(), testing::EndsWith("ok"));
}

TEST_F(ApiServerWatchTest, SendsABookmarkEveryMinuteAndWhenItIsTold) {
  const auto client = ask(kWatch + "&resourceVersion=1&allowWatchBookmarks=true");
  const auto plain = ask(kWatch + "&resourceVersion=1");
  server_.store().advance();
  pass(60s);
  server_.send_bookmarks();
  EXPECT_EQ(events(client->body()), "BOOKMARK 2, BOOKMARK 2");
  EXPECT_EQ(plain->body(), "");
}

TEST_F(ApiServerWatchTest, WatchesOneObjectByNameAndEncodesAsAsked) {
  put("a");
  put("b");
  EXPECT_EQ(events_of("/api/v1/services?watch=1&fieldSelector=metadata.name%3Db"), "ADDED b 3");
  const auto binary = ask(kWatchList, "Accept: application/vnd.kubernetes.protobuf\r\n");
  EXPECT_EQ(binary->header("Content-Type"), "application/vnd.kubernetes.protobuf;stream=watch");
  EXPECT_THAT(binary->body(), HasSubstr("BOOKMARK"));
}

TEST_F(ApiServerWatchTest, CompressesEachWriteByItself) {
  server_.settings().gzip_watches = true;
  const auto client = ask(kWatch + "&resourceVersion=1", "Accept-Encoding: gzip\r\n");
  put("a");
  client->settle();
  put("b");
  EXPECT_EQ(events(gunzipped(client->body())), "ADDED a 2, ADDED b 3");
}

TEST_F(ApiServerWatchTest, ClosesAWatchThatFallsTooFarBehind) {
  server_.settings().watch_backlog = 3;
  const auto client = ask(kWatch + "&resourceVersion=1");
  put_often("a", 5);
  const auto other = ask(kWatch + "&resourceVersion=1");
  client->settle();
  EXPECT_EQ(client->state(), LoopClient::State::Reset);
  EXPECT_EQ(other->state(), LoopClient::State::Open);
  EXPECT_EQ(server_.watches(), 1U);
}

}  // namespace
}  // namespace mkp::api
