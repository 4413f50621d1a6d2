#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/informer/decode_fixture.h"

namespace mkp {
namespace {

using testing::HasSubstr;

std::string json_status(std::string_view body) {
  const Result<ApiStatus> status = json_format().decode_status(body);
  return status ? to_text(*status) : "fails: " + status.error().what;
}

std::string protobuf_status(std::string_view body) {
  const Result<ApiStatus> status = protobuf_format().decode_status(body);
  return status ? to_text(*status) : "fails: " + status.error().what;
}

TEST(DecodeStatusTest, ARefusalSaysItsCodeReasonAndMessage) {
  EXPECT_EQ(json_status(api_answer("error-401.json")), "Failure 401 Unauthorized: Unauthorized");
  EXPECT_EQ(json_status(api_answer("error-404.json")),
            "Failure 404 NotFound: nodes \"nobody\" not found");
  EXPECT_THAT(json_status(api_answer("error-403.json")), HasSubstr("Failure 403 Forbidden: "));
  EXPECT_THAT(json_status(api_answer("error-406.json")), HasSubstr("Failure 406 NotAcceptable: "));
  EXPECT_THAT(json_status(api_answer("error-400-badcontinue.json")),
              HasSubstr("Failure 400 BadRequest: "));
}

TEST(DecodeStatusTest, AVersionOfTheFutureComesWithACauseAndATimeToWait) {
  EXPECT_EQ(json_status(api_answer("error-504-future.json")),
            "Failure 504 Timeout: Timeout: Too large resource version: 99999999, current: 112 "
            "(retry after 1) [ResourceVersionTooLarge: Too large resource version]");
}

TEST(DecodeStatusTest, BothEncodingsOfARefusalSayTheSame) {
  EXPECT_EQ(protobuf_status(api_answer("error-404.pb")), json_status(api_answer("error-404.json")));
  EXPECT_EQ(protobuf_status(api_answer("error-410-exact.pb")),
            json_status(api_answer("error-410-exact.json")));
  EXPECT_EQ(protobuf_status(api_answer("error-410-continue.pb")),
            json_status(api_answer("error-410-continue.json")));
  EXPECT_THAT(protobuf_status(api_answer("error-410-continue.pb")),
              HasSubstr("Failure 410 Expired: The provided continue parameter is too old"));
}

TEST(DecodeStatusTest, AnErrorEventIsAStatus) {
  const std::string expired = "Error Failure 410 Expired: too old resource version: 5 (91)\n";
  EXPECT_EQ(events_text(json_format(), ObjectKind::Service, api_answer("error-410-watch.json"), 10),
            expired);
  EXPECT_EQ(
      events_text(protobuf_format(), ObjectKind::Service, api_answer("error-410-watch.pb"), 10),
      expired);
}

TEST(DecodeStatusTest, WhatIsNoStatusFails) {
  EXPECT_EQ(json_status("Too many requests, please try again later.").substr(0, 20),
            "fails: it is no JSON");
  EXPECT_EQ(json_status(""), "fails: it is no JSON: Empty: no JSON found");
  EXPECT_EQ(json_status("[]").substr(0, 20), "fails: it is no JSON");
  EXPECT_EQ(json_status("7").substr(0, 20), "fails: it is no JSON");
  EXPECT_EQ(json_status(api_answer("version.json")), "fails: it is \"\" \"\", not a v1 Status");
  EXPECT_EQ(protobuf_status("404 page not found"),
            "fails: it does not begin as Kubernetes' protobuf does");
  EXPECT_EQ(protobuf_status(api_answer("node-one.pb")),
            "fails: it is \"v1\" \"Node\", not a v1 Status");
}

TEST(DecodeStatusTest, AFieldThatCannotBeReadLeavesTheOthers) {
  EXPECT_EQ(json_status(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":7,)"
                        R"("reason":"Expired","details":[],"code":410})"),
            "Failure 410 Expired: ");
}

}  // namespace
}  // namespace mkp
