#include "informer/api_errors.h"

#include <gtest/gtest.h>

namespace mkp {
namespace {

ApiStatus status(std::string reason, std::int32_t code, std::string message = {}) {
  ApiStatus made;
  made.status = "Failure";
  made.reason = std::move(reason);
  made.code = code;
  made.message = std::move(message);
  return made;
}

HttpHead head(int code, std::string content_type) {
  HttpHead made;
  made.status = code;
  made.content_type = std::move(content_type);
  return made;
}

TEST(ApiErrors, TellsExpiredByReasonOrByNumber) {
  EXPECT_EQ(code_of(status("Expired", 410)), Errc::Expired);
  EXPECT_EQ(code_of(status("Gone", 410)), Errc::Expired);
  EXPECT_EQ(code_of(status("", 410)), Errc::Expired);
  EXPECT_EQ(code_of(status("BadRequest", 410)), Errc::Invalid);
}

TEST(ApiErrors, TakesAVersionThatIsNotThereYetForOneThatIsGone) {
  ApiStatus newest = status("Timeout", 504);
  newest.causes = {{"ResourceVersionTooLarge", "Too large resource version"}};
  EXPECT_EQ(code_of(newest), Errc::Expired);
  ApiStatus older = status("Timeout", 504);
  older.causes = {{"", "Too large resource version"}};
  EXPECT_EQ(code_of(older), Errc::Expired);
  EXPECT_EQ(code_of(status("Timeout", 504, "Timeout: Too large resource version: 9, current: 3")),
            Errc::Expired);
}

TEST(ApiErrors, TellsBusyFromBroken) {
  EXPECT_EQ(code_of(status("TooManyRequests", 429)), Errc::Unavailable);
  EXPECT_EQ(code_of(status("", 429)), Errc::Unavailable);
  EXPECT_EQ(code_of(status("ServiceUnavailable", 503)), Errc::Unavailable);
  EXPECT_EQ(code_of(status("Timeout", 504)), Errc::Unavailable);
  EXPECT_EQ(code_of(status("", 502)), Errc::Unavailable);
  EXPECT_EQ(code_of(status("InternalError", 500)), Errc::Internal);
  EXPECT_EQ(code_of(status("SomethingNew", 500)), Errc::Internal);
  EXPECT_EQ(code_of(status("StorageReadError", 500)), Errc::Invalid);
}

TEST(ApiErrors, SaysWhichRoleGivesAMissingRight) {
  const Error error = to_error(
      status("Forbidden", 403, "nodes \"n1\" is forbidden: User \"jane\" cannot list resource"));
  EXPECT_EQ(error.code, Errc::Denied);
  EXPECT_EQ(error.what.find("nodes \"n1\" is forbidden: User \"jane\" cannot list resource; the "
                            "ClusterRole system:node-proxier gives that right"),
            0U);
}

TEST(ApiErrors, SaysWhoseCredentialsAreRefused) {
  const Error error = to_error(status("Unauthorized", 401, "Unauthorized"));
  EXPECT_EQ(error.code, Errc::Denied);
  EXPECT_NE(error.what.find("does not accept the credentials"), std::string::npos);
}

TEST(ApiErrors, ReadsAStatusOutOfABody) {
  const ApiStatus found =
      status_of(head(410, "application/json"),
                R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old",)"
                R"("reason":"Expired","code":410})");
  EXPECT_EQ(found.reason, "Expired");
  EXPECT_EQ(found.message, "too old");
}

TEST(ApiErrors, MakesAStatusOfAPageOfHtml) {
  const ApiStatus found = status_of(head(502, "text/html"), "<html>\r\n<h1>Bad\x1b[31m Gateway");
  EXPECT_EQ(found.code, 502);
  EXPECT_EQ(found.message,
            "an error on the server (\"<html>  <h1>Bad [31m Gateway\") has prevented the request "
            "from succeeding");
}

TEST(ApiErrors, KeepsNoMoreThanTwoKilobytesOfATextBody) {
  EXPECT_LT(status_of(head(500, "text/plain"), std::string(100'000, 'x')).message.size(), 2200U);
}

TEST(ApiErrors, TakesASuccessInAnErrorsBodyForNoAnswer) {
  const ApiStatus found = status_of(head(500, "application/json"),
                                    R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
  EXPECT_EQ(found.status, "Failure");
  EXPECT_EQ(found.code, 500);
}

}  // namespace
}  // namespace mkp
