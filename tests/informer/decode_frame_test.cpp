#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/informer/decode_fixture.h"

namespace mkp {
namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;

// The size of the first frame, "more" or "invalid".
std::string frame(const WireFormat& format, std::string_view bytes, std::size_t seen = 0) {
  const Result<std::size_t> size = format.frame_size(bytes, seen);
  if (!size) return "invalid";
  return *size == 0 ? "more" : std::to_string(*size);
}

std::string json_frame(std::string_view bytes, std::size_t seen = 0) {
  return frame(json_format(), bytes, seen);
}

// The size of the first frame of bytes that come one by one, and after how many it was found.
std::string one_by_one(std::string_view bytes) {
  for (std::size_t come = 1; come <= bytes.size(); ++come) {
    const std::string size = json_frame(bytes.substr(0, come), come - 1);
    if (size != "more") return fmt::format("{} after {}", size, come);
  }
  return "more";
}

TEST(DecodeFrameTest, AJsonFrameIsALine) {
  EXPECT_EQ(json_frame("{\"type\":\"ADDED\"}\n"), "17");
  EXPECT_EQ(json_frame("{\"type\":\"ADDED\"}\n{\"type\":\"MODIFIED\"}\n"), "17");
}

TEST(DecodeFrameTest, AJsonFrameNeedsNoLine) {
  EXPECT_EQ(json_frame("{}"), "2");
  EXPECT_EQ(json_frame("{}{}"), "2");
  EXPECT_EQ(json_frame(" {} \r\n\t{}"), "7");
  EXPECT_EQ(json_frame("{\n  \"type\": \"ADDED\",\n  \"object\": {\n  }\n}\n{}"), "41");
}

TEST(DecodeFrameTest, AHalfJsonFrameNeedsMore) {
  EXPECT_EQ(json_frame(""), "more");
  EXPECT_EQ(json_frame(" \n"), "more");
  EXPECT_EQ(json_frame("{"), "more");
  EXPECT_EQ(json_frame("{\"type\":\"ADDED\",\"object\":{}\n"), "more");
  EXPECT_EQ(json_frame("{\"a\":[{},{}]"), "more");
}

TEST(DecodeFrameTest, BracesAndQuotesWithinTextsDoNotCount) {
  EXPECT_EQ(json_frame(R"({"a":"}"}x)"), "9");
  EXPECT_EQ(json_frame(R"({"a":"\"}"}{)"), "11");
  EXPECT_EQ(json_frame(R"({"a":"\\"}{)"), "10");
  EXPECT_EQ(json_frame(R"({"a":"\\\"}"}{)"), "13");
  EXPECT_EQ(json_frame(R"({"a":"}{)"), "more");
}

TEST(DecodeFrameTest, AJsonFrameIsFoundWithItsLastByteHoweverItComes) {
  EXPECT_EQ(one_by_one("{}"), "2 after 2");
  EXPECT_EQ(one_by_one(R"({"a":{"b":[{"c":"}"},{}]}}  {})"), "26 after 26");
  EXPECT_EQ(one_by_one(R"({"a":"{\"b\":\"}\\\\\"}","c":{}}{)"), "32 after 32");
  EXPECT_EQ(one_by_one("\n {\n\"a\":\n{\n}\n}\n{}"), "14 after 14");
}

TEST(DecodeFrameTest, ALineIsFoundWhereverThePiecesEnd) {
  const std::string_view two = "{\"a\":{}}\n{\"b\":{}}\n";
  EXPECT_EQ(json_frame(two, 4), "9");
  EXPECT_EQ(json_frame(two, 7), "9");
  EXPECT_EQ(json_frame("{\"a\":{}\n,\"b\":\n{}\n}\n{", 8), "19");
}

TEST(DecodeFrameTest, WhatIsNoJsonObjectFails) {
  EXPECT_EQ(json_frame("<html>"), "invalid");
  EXPECT_EQ(json_frame("[{}]"), "invalid");
  EXPECT_EQ(json_frame("\"{}\""), "invalid");
}

TEST(DecodeFrameTest, TooLargeAFrameFails) {
  const std::string text(kLargest, 'x');
  EXPECT_EQ(json_frame("{\"a\":\"" + text.substr(8) + "\"}"), std::to_string(kLargest));
  EXPECT_EQ(json_frame("{\"a\":\"" + text.substr(7) + "\"}"), "invalid");
  EXPECT_EQ(json_frame("{\"a\":\"" + text), "invalid");
  EXPECT_EQ(json_frame(std::string(kLargest + 1, ' ')), "invalid");
}

// A search from the beginning for each piece would look at thirty thousand million bytes.
TEST(DecodeFrameTest, ALargeJsonFrameInSmallPiecesCostsNoMoreThanItsSize) {
  std::string text = "{\"type\":\"ADDED\",\"object\":{\"endpoints\":[{}";
  while (text.size() < std::size_t{1} << 20) {
    text += ",{\"addresses\":[\"10.180.0.1\"],\"hints\":{\"forZones\":[{\"name\":\"a\"}]}}";
  }
  text += "]}}";
  const auto begin = std::chrono::steady_clock::now();
  std::string size = "more";
  std::size_t seen = 0;
  for (; size == "more" && seen < text.size(); seen += 16) {
    size = json_frame(std::string_view(text).substr(0, seen + 16), seen);
  }
  EXPECT_EQ(size, std::to_string(text.size()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(DecodeFrameTest, AProtobufFrameSaysItsSize) {
  using namespace std::string_view_literals;
  const WireFormat& format = protobuf_format();
  EXPECT_EQ(frame(format, ""), "more");
  EXPECT_EQ(frame(format, "\0\0\0"sv), "more");
  EXPECT_EQ(frame(format, "\0\0\0\x02x"sv), "more");
  EXPECT_EQ(frame(format, "\0\0\0\x02xy"sv), "6");
  EXPECT_EQ(frame(format, "\0\0\0\x02xyz"sv), "6");
  EXPECT_EQ(frame(format, "\0\0\0\0z"sv), "4");
  EXPECT_EQ(frame(format, std::string("\0\0\x01\x02"sv) + std::string(300, 'x')), "262");
}

TEST(DecodeFrameTest, AProtobufFrameThatSaysItIsTooLargeFailsAtOnce) {
  using namespace std::string_view_literals;
  EXPECT_EQ(frame(protobuf_format(), "\x01\0\0\0"sv), "more");
  EXPECT_EQ(frame(protobuf_format(), "\x01\0\0\x01"sv), "invalid");
  EXPECT_EQ(frame(protobuf_format(), "HTTP"sv), "invalid");
}

TEST(DecodeFrameTest, AContentTypeNamesItsFormat) {
  EXPECT_EQ(wire_format_of("application/json"), &json_format());
  EXPECT_EQ(wire_format_of("Application/JSON; charset=utf-8"), &json_format());
  EXPECT_EQ(wire_format_of("application/json;stream=watch"), &json_format());
  EXPECT_EQ(wire_format_of("application/vnd.kubernetes.protobuf"), &protobuf_format());
  EXPECT_EQ(wire_format_of(" application/vnd.kubernetes.protobuf ;stream=watch"),
            &protobuf_format());
  EXPECT_EQ(wire_format_of("text/plain"), nullptr);
  EXPECT_EQ(wire_format_of("application/jsonp"), nullptr);
  EXPECT_EQ(wire_format_of(""), nullptr);
}

}  // namespace
}  // namespace mkp
