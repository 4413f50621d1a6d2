// What JSON has of its own: types, null, escapes, any order, text around it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/informer/decode_fixture.h"

namespace mkp {
namespace {

std::string service(std::string_view fields) {
  return to_text(json_format().decode_list(
      ObjectKind::Service,
      fmt::format(
          R"({{"kind":"ServiceList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},)"
          R"("items":[{{"metadata":{{"name":"web","namespace":"shop"}},{}}}]}})",
          fields)));
}

std::string slice(std::string_view fields) {
  return to_text(json_format().decode_list(
      ObjectKind::EndpointSlice,
      fmt::format(R"({{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1",)"
                  R"("metadata":{{"resourceVersion":"9"}},)"
                  R"("items":[{{"metadata":{{"name":"web","namespace":"shop"}},{}}}]}})",
                  fields)));
}

std::string list(std::string body) {
  return to_text(json_format().decode_list(ObjectKind::Service, std::move(body)));
}

TEST(DecodeJsonTest, NullIsAsIfItWereNotThere) {
  EXPECT_EQ(service(R"("spec":{"ports":null,"clusterIP":null,"clusterIPs":null,"type":null,)"
                    R"("sessionAffinity":null,"sessionAffinityConfig":null,"ipFamilies":null,)"
                    R"("healthCheckNodePort":null},"status":null)"),
            "at 9\nService shop/web@ ClusterIP -\n");
  EXPECT_EQ(
      slice(R"("addressType":"IPv4","ports":[{"name":null,"port":null}],"endpoints":)"
            R"([{"addresses":["10.180.0.1"],"conditions":null,"nodeName":null,"hints":null}])"),
      "at 9\nEndpointSlice shop/web@ of  IPv4 :?/TCP [10.180.0.1]\n");
}

TEST(DecodeJsonTest, EscapesAreUndone) {
  EXPECT_EQ(service(R"("spec":{"type":"Node\u0050ort","cluster\u0049P":"172.30.0.\u0031"})"),
            "at 9\nService shop/web@ NodePort 172.30.0.1 ips 172.30.0.1 IPv4\n");
}

TEST(DecodeJsonTest, AKeyWithAnEscapedSlashIsTheSameKey) {
  EXPECT_EQ(slice(R"("metadata":{"name":"web","namespace":"shop","labels":)"
                  R"({"kubernetes.io\/service-name":"web"}},"addressType":"IPv6")"),
            "at 9\nEndpointSlice shop/web@ of web IPv6\n");
}

TEST(DecodeJsonTest, AMomentIsReadInAnyZone) {
  EXPECT_EQ(service(R"("metadata":{"name":"web","namespace":"shop","creationTimestamp":)"
                    R"("2026-11-30T20:55:51.5+02:00"})"),
            "at 9\nService shop/web@ created 1796064951 ClusterIP -\n");
}

TEST(DecodeJsonTest, APrettyPrintedListIsAListAsWell) {
  EXPECT_EQ(list("\n{\n  \"items\" : [ ] ,\n  \"apiVersion\" : \"v1\",\n\t\"kind\" : "
                 "\"ServiceList\",\r\n \"metadata\": { \"resourceVersion\": \"9\", \"continue\": "
                 "\"next\" } }\n"),
            "at 9 continue next\n");
}

TEST(DecodeJsonTest, AListOfNothingMayBeNull) {
  EXPECT_EQ(list(R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
                 R"("items":null})"),
            "at 9\n");
}

TEST(DecodeJsonTest, WhatIsNoListFails) {
  const std::string in_front = "fails: list of Service in JSON: ";
  EXPECT_EQ(list("{}"), in_front + "it is \"\" \"\", not a v1 ServiceList");
  EXPECT_EQ(list(R"({"kind":"PodList","apiVersion":"v1"})"),
            in_front + "it is \"v1\" \"PodList\", not a v1 ServiceList");
  EXPECT_EQ(list(R"({"kind":"ServiceList","apiVersion":"v1","items":[]})"),
            in_front + "metadata.resourceVersion: is missing");
  EXPECT_EQ(list(R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
                 R"("items":{}})"),
            in_front + "items: is not a list");
  EXPECT_THAT(list("<html>"), testing::StartsWith(in_front + "it is no JSON: "));
  EXPECT_THAT(list(""), testing::StartsWith(in_front + "it is no JSON: "));
}

TEST(DecodeJsonTest, TextBehindAListFails) {
  const std::string whole =
      R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]})";
  EXPECT_EQ(list(whole + " \n"), "at 9\n");
  EXPECT_THAT(list(whole + "{}"), testing::HasSubstr("it is no JSON"));
  EXPECT_THAT(list(whole + "}"), testing::HasSubstr("it is no JSON"));
}

TEST(DecodeJsonTest, AListThatIsCutShortFails) {
  const std::string whole = api_answer("services-list.json");
  const std::size_t end = whole.find_last_of('}');
  for (std::size_t size = 0; size <= end; size += 13) {
    EXPECT_FALSE(json_format().decode_list(ObjectKind::Service, whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(json_format().decode_list(ObjectKind::Service, whole.substr(0, end)));
}

TEST(DecodeJsonTest, DeepNestingInWhatNobodyReadsIsPassedOver) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(service("\"unknown\":" + deep), "at 9\nService shop/web@ ClusterIP -\n");
}

TEST(DecodeJsonTest, InvalidUtf8InWhatNobodyReadsIsPassedOver) {
  EXPECT_EQ(service("\"unknown\":\"a\xff\xc3(\",\"spec\":{\"type\":\"NodePort\"}"),
            "at 9\nService shop/web@ NodePort -\n");
}

}  // namespace
}  // namespace mkp
