#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/informer/decode_fixture.h"
#include "tests/informer/decode_messages.h"

namespace mkp {
namespace {

constexpr std::string_view kWeb =
    R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"web","namespace":"shop",)"
    R"("resourceVersion":"7"}})";
constexpr std::string_view kWebText = "Service shop/web@7 ClusterIP -";
constexpr std::string_view kBroken =
    R"({"kind":"Service","apiVersion":"v1","spec":{"ports":[{"port":70000}]},)"
    R"("metadata":{"name":"web","namespace":"shop","resourceVersion":"8"}})";

std::string json_event(std::string_view frame) {
  return to_text(json_format().decode_event(ObjectKind::Service, frame));
}

std::string json_event(std::string_view type, std::string_view object) {
  return json_event(fmt::format(R"({{"type":"{}","object":{}}})", type, object));
}

std::string protobuf_event(std::string_view type, const Wire& object,
                           std::string_view kind = "Service") {
  return to_text(protobuf_format().decode_event(ObjectKind::Service,
                                                event_frame(type, enveloped("v1", kind, object))));
}

Wire service(std::int64_t port) {
  return Wire().message(2, Wire().message(1, Wire().number(3, port))).message(1, web_meta());
}

TEST(DecodeEventTest, AnEventIsItsTypeItsObjectAndTheObjectsVersion) {
  EXPECT_EQ(json_event("ADDED", kWeb), fmt::format("Added 7: {}", kWebText));
  EXPECT_EQ(json_event("MODIFIED", kWeb), fmt::format("Modified 7: {}", kWebText));
  EXPECT_EQ(json_event("DELETED", kWeb), fmt::format("Deleted 7: {}", kWebText));
  const Wire web = Wire().message(1, web_meta());
  EXPECT_EQ(protobuf_event("ADDED", web), fmt::format("Added 7: {}", kWebText));
  EXPECT_EQ(protobuf_event("MODIFIED", web), fmt::format("Modified 7: {}", kWebText));
  EXPECT_EQ(protobuf_event("DELETED", web), fmt::format("Deleted 7: {}", kWebText));
}

TEST(DecodeEventTest, TheTypeMayComeBehindTheObject) {
  EXPECT_EQ(json_event(fmt::format(R"({{"object":{},"type":"DELETED"}})", kWeb)),
            fmt::format("Deleted 7: {}", kWebText));
  EXPECT_EQ(json_event(R"({"object":{"code":410,"kind":"Status","reason":"Expired",)"
                       R"("apiVersion":"v1"},"type":"ERROR"})"),
            "Error  410 Expired: ");
}

TEST(DecodeEventTest, ABookmarkHasAVersionOnly) {
  EXPECT_EQ(json_event("BOOKMARK", R"({"kind":"Service","apiVersion":"v1","metadata":)"
                                   R"({"resourceVersion":"12"},"spec":{},"status":{}})"),
            "Bookmark 12");
  EXPECT_EQ(protobuf_event("BOOKMARK", Wire().message(1, Wire().text(6, "12")).message(2, Wire())),
            "Bookmark 12");
}

TEST(DecodeEventTest, TheBookmarkThatEndsTheInitialEventsSaysTrue) {
  const auto json = [](std::string_view value) {
    return json_event(
        "BOOKMARK",
        fmt::format(R"({{"kind":"Service","apiVersion":"v1","metadata":{{"resourceVersion":"12",)"
                    R"("annotations":{{"k8s.io/initial-events-end":"{}"}}}}}})",
                    value));
  };
  EXPECT_EQ(json("true"), "Bookmark 12 ends initial events");
  EXPECT_EQ(json("false"), "Bookmark 12");
  const auto protobuf = [](std::string_view value) {
    const Wire annotation = Wire().text(1, "k8s.io/initial-events-end").text(2, value);
    return protobuf_event("BOOKMARK",
                          Wire().message(1, Wire().text(6, "12").message(12, annotation)));
  };
  EXPECT_EQ(protobuf("true"), "Bookmark 12 ends initial events");
  EXPECT_EQ(protobuf("false"), "Bookmark 12");
}

TEST(DecodeEventTest, ABookmarkWithoutAVersionFails) {
  EXPECT_EQ(json_event("BOOKMARK", R"({"kind":"Service","apiVersion":"v1","metadata":{}})"),
            "fails: event of a Service in JSON: bookmark: metadata.resourceVersion: is missing");
  EXPECT_EQ(
      protobuf_event("BOOKMARK", Wire()),
      "fails: event of a Service in protobuf: bookmark: metadata.resourceVersion: is missing");
}

TEST(DecodeEventTest, AnErrorIsTheStatusThatItHolds) {
  EXPECT_EQ(protobuf_event(
                "ERROR",
                Wire()
                    .message(1, Wire())
                    .text(2, "Failure")
                    .text(3, "slow down")
                    .text(4, "TooManyRequests")
                    .message(5, Wire().message(4, Wire().text(1, "a").text(2, "b")).number(5, 3))
                    .number(6, 429),
                "Status"),
            "Error Failure 429 TooManyRequests: slow down (retry after 3) [a: b]");
  EXPECT_EQ(protobuf_event("ERROR", Wire()),
            "fails: event of a Service in protobuf: it is \"v1\" \"Service\", not a v1 Status");
}

TEST(DecodeEventTest, ATypeThatIsNotKnownFails) {
  EXPECT_EQ(json_event("SYNCED", kWeb),
            "fails: event of a Service in JSON: an event's type is \"SYNCED\", which is not known");
  EXPECT_EQ(protobuf_event("", Wire().message(1, web_meta())),
            "fails: event of a Service in protobuf: an event's type is \"\", which is not known");
  EXPECT_EQ(json_event("{}"), "fails: event of a Service in JSON: an event has no type");
}

TEST(DecodeEventTest, AnObjectOfAnotherKindFails) {
  EXPECT_EQ(json_event("ADDED", R"({"kind":"Pod","apiVersion":"v1"})"),
            "fails: event of a Service in JSON: it is \"v1\" \"Pod\", not a v1 Service");
  EXPECT_EQ(json_event(R"({"type":"ADDED"})"),
            "fails: event of a Service in JSON: it is \"\" \"\", not a v1 Service");
  EXPECT_EQ(protobuf_event("ADDED", Wire().message(1, web_meta()), "Pod"),
            "fails: event of a Service in protobuf: it is \"v1\" \"Pod\", not a v1 Service");
}

TEST(DecodeEventTest, ABrokenObjectIsUnreadableWhateverHappensToIt) {
  const LoggedLines lines;
  EXPECT_EQ(json_event("ADDED", kBroken), "Added 8: unreadable shop/web");
  EXPECT_EQ(json_event("MODIFIED", kBroken), "Modified 8: unreadable shop/web");
  EXPECT_EQ(json_event("DELETED", kBroken), "Deleted 8: unreadable shop/web");
  EXPECT_EQ(protobuf_event("ADDED", service(70000)), "Added 7: unreadable shop/web");
  EXPECT_EQ(protobuf_event("DELETED", service(0)), "Deleted 7: unreadable shop/web");
  EXPECT_EQ(
      lines.text(),
      "error Service shop/web from the API server cannot be read, so it stays as it was: "
      "spec.ports[0].port: 70000 is not a port (1-65535)\n"
      "error Service shop/web from the API server cannot be read, so it stays as it was: "
      "spec.ports[0].port: 70000 is not a port (1-65535)\n"
      "error Service shop/web from the API server is gone, though its last state cannot be read: "
      "spec.ports[0].port: 70000 is not a port (1-65535)\n"
      "error Service shop/web from the API server cannot be read, so it stays as it was: "
      "spec.ports[0].port: 70000 is not a port (1-65535)\n"
      "error Service shop/web from the API server is gone, though its last state cannot be read: "
      "spec.ports[0].port: 0 is not a port (1-65535)\n");
}

TEST(DecodeEventTest, AnObjectWithoutANameLeavesOnlyItsVersion) {
  const LoggedLines lines;
  EXPECT_EQ(protobuf_event("ADDED", Wire().message(1, Wire().text(3, "shop").text(6, "7"))),
            "Bookmark 7");
  EXPECT_EQ(lines.text(),
            "error Service \"shop\"/\"\" from the API server is left out, as its name cannot be "
            "read: metadata: has no name of use\n");
}

TEST(DecodeEventTest, AnObjectWithoutAVersionFails) {
  EXPECT_EQ(protobuf_event("ADDED", Wire().message(1, Wire().text(1, "web").text(3, "shop"))),
            "fails: event of a Service in protobuf: metadata.resourceVersion: is missing");
  EXPECT_EQ(json_event("ADDED", R"({"kind":"Service","apiVersion":"v1","metadata":7})"),
            "fails: event of a Service in JSON: metadata: is not an object");
}

TEST(DecodeEventTest, WhatIsNoEventFails) {
  EXPECT_THAT(json_event("{\"type\":\"ADDED\",}"), testing::HasSubstr("it is no JSON: "));
  EXPECT_THAT(json_event(""), testing::HasSubstr("it is no JSON: "));
  EXPECT_EQ(to_text(protobuf_format().decode_event(ObjectKind::Service, "")),
            "fails: event of a Service in protobuf: an event's type is \"\", which is not known");
  EXPECT_EQ(
      to_text(protobuf_format().decode_event(ObjectKind::Service, event_frame("ADDED", "{}"))),
      "fails: event of a Service in protobuf: it does not begin as Kubernetes' protobuf does");
}

}  // namespace
}  // namespace mkp
