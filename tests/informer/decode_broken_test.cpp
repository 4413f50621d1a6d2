// What is wrong with an object hurts that object only, and is told with the object and the field.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/informer/decode_fixture.h"
#include "tests/informer/decode_messages.h"

namespace mkp {
namespace {

// What the log says of one Service whose spec or slice whose fields are these; "" when it is fine.
std::string cause(const std::string& log) {
  const std::size_t at = log.find("stays as it was: ");
  return at == std::string::npos ? log : log.substr(at + 17, log.size() - at - 18);
}

std::string json_cause(ObjectKind kind, std::string_view fields) {
  const LoggedLines lines;
  const bool service = kind == ObjectKind::Service;
  const Result<Listing> listing = json_format().decode_list(
      kind,
      fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"9"}},)"
                  R"("items":[{{"metadata":{{"name":"web","namespace":"shop"}},{}}}]}})",
                  to_text(kind), service ? "v1" : "discovery.k8s.io/v1", fields));
  EXPECT_TRUE(listing) << listing.error().what;
  return cause(lines.text());
}

std::string service_json(std::string_view spec) {
  return json_cause(ObjectKind::Service, fmt::format("\"spec\":{}", spec));
}

std::string slice_json(std::string_view fields) {
  return json_cause(ObjectKind::EndpointSlice, fields);
}

std::string protobuf_cause(ObjectKind kind, const Wire& rest) {
  const LoggedLines lines;
  const bool service = kind == ObjectKind::Service;
  const Wire list = Wire()
                        .message(1, Wire().text(2, "9"))
                        .message(2, Wire().message(1, web_meta()).raw(rest.bytes));
  const Result<Listing> listing = protobuf_format().decode_list(
      kind, enveloped(service ? "v1" : "discovery.k8s.io/v1",
                      service ? "ServiceList" : "EndpointSliceList", list));
  EXPECT_TRUE(listing) << listing.error().what;
  return cause(lines.text());
}

std::string service_protobuf(const Wire& spec) {
  return protobuf_cause(ObjectKind::Service, Wire().message(2, spec));
}

TEST(DecodeBrokenTest, OneOfThreeItemsIsUnreadableInJson) {
  const LoggedLines lines;
  EXPECT_EQ(to_text(json_format().decode_list(
                ObjectKind::Service,
                R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
                R"("items":[{"metadata":{"namespace":"shop","name":"a"}},)"
                R"({"spec":{"ports":[{"port":80},{"port":"80"}]},"metadata":{"namespace":"shop",)"
                R"("name":"b"}},{"metadata":{"namespace":"shop","name":"c"}}]})")),
            "at 9\nService shop/a@ ClusterIP -\nunreadable shop/b\nService shop/c@ ClusterIP -\n");
  EXPECT_EQ(lines.text(),
            "error Service shop/b from the API server cannot be read, so it stays as it was: "
            "spec.ports[1].port: is not a number\n");
}

TEST(DecodeBrokenTest, OneOfThreeItemsIsUnreadableInProtobuf) {
  const LoggedLines lines;
  const auto item = [](std::string_view name, const Wire& spec) {
    return Wire().message(1, Wire().text(1, name).text(3, "shop")).message(2, spec);
  };
  const Wire list =
      Wire()
          .message(1, Wire().text(2, "9"))
          .message(2, item("a", Wire()))
          .message(2,
                   item("b", Wire().message(1, Wire().number(3, 80)).message(1, Wire().fixed(3))))
          .message(2, item("c", Wire()));
  EXPECT_EQ(to_text(protobuf_format().decode_list(ObjectKind::Service,
                                                  enveloped("v1", "ServiceList", list))),
            "at 9\nService shop/a@ ClusterIP -\nunreadable shop/b\nService shop/c@ ClusterIP -\n");
  EXPECT_EQ(lines.text(),
            "error Service shop/b from the API server cannot be read, so it stays as it was: "
            "spec.ports[1].port: has another wire type than expected\n");
}

TEST(DecodeBrokenTest, AnItemWithoutANameIsLeftOut) {
  const LoggedLines lines;
  EXPECT_EQ(to_text(json_format().decode_list(
                ObjectKind::Service,
                R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"9"},)"
                R"("items":[7,{"metadata":{"namespace":"shop","name":["a"]}},{"metadata":)"
                R"({"namespace":"a/b","name":"c"}},{"metadata":{"name":"d"}},)"
                R"({"metadata":{"namespace":"shop","name":"e"}}]})")),
            "at 9\nService shop/e@ ClusterIP -\n");
  EXPECT_EQ(lines.text(),
            "error Service \"\"/\"\" from the API server is left out, as its name cannot be read: "
            "is not an object\n"
            "error Service \"shop\"/\"\" from the API server is left out, as its name cannot be "
            "read: metadata.name: is not a text\n"
            "error Service \"a/b\"/\"c\" from the API server is left out, as its name cannot be "
            "read: metadata: has no name of use\n"
            "error Service \"\"/\"d\" from the API server is left out, as its name cannot be read: "
            "metadata: has no name of use\n");
}

TEST(DecodeBrokenTest, ANumberThatIsNoPortIsTold) {
  EXPECT_EQ(service_json(R"({"ports":[{"port":70000}]})"),
            "spec.ports[0].port: 70000 is not a port (1-65535)");
  EXPECT_EQ(service_json(R"({"ports":[{}]})"), "spec.ports[0].port: 0 is not a port (1-65535)");
  EXPECT_EQ(service_json(R"({"ports":[{"port":80,"nodePort":-1}]})"),
            "spec.ports[0].nodePort: -1 is not a port (0-65535)");
  EXPECT_EQ(service_json(R"({"ports":[{"port":80.5}]})"),
            "spec.ports[0].port: is not a whole number");
  EXPECT_EQ(service_json(R"({"ports":[{"port":99999999999999999999}]})"),
            "spec.ports[0].port: is not a whole number");
  EXPECT_EQ(service_json(R"({"healthCheckNodePort":65536})"),
            "spec.healthCheckNodePort: 65536 is not a port (0-65535)");
  EXPECT_EQ(slice_json(R"("addressType":"IPv4","ports":[{"port":65536}])"),
            "ports[0].port: 65536 is not a port (0-65535)");
  EXPECT_EQ(service_protobuf(Wire().message(1, Wire().number(3, -5))),
            "spec.ports[0].port: -5 is not a port (1-65535)");
  EXPECT_EQ(service_protobuf(Wire().message(1, Wire().number(3, (std::int64_t{1} << 32) + 80))),
            "spec.ports[0].port: 4294967376 is not a port (1-65535)");
}

TEST(DecodeBrokenTest, AnAffinityTimeOutOfBoundsIsTold) {
  const std::string field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds: ";
  EXPECT_EQ(service_json(R"({"sessionAffinity":"ClientIP","sessionAffinityConfig":)"
                         R"({"clientIP":{"timeoutSeconds":0}}})"),
            field + "0 is not an affinity time in seconds (1-86400)");
  EXPECT_EQ(service_protobuf(
                Wire().text(7, "ClientIP").message(14, Wire().message(1, Wire().number(1, 86401)))),
            field + "86401 is not an affinity time in seconds (1-86400)");
}

TEST(DecodeBrokenTest, ASliceWithoutAnAddressTypeIsTold) {
  EXPECT_EQ(slice_json(R"("endpoints":[])"), "addressType: is missing");
  EXPECT_EQ(protobuf_cause(ObjectKind::EndpointSlice, Wire()), "addressType: is missing");
}

TEST(DecodeBrokenTest, AJsonValueOfAnotherTypeIsToldWithItsField) {
  EXPECT_EQ(service_json("[]"), "spec: is not an object");
  EXPECT_EQ(service_json(R"({"ports":{}})"), "spec.ports: is not a list");
  EXPECT_EQ(service_json(R"({"ports":[7]})"), "spec.ports[0]: is not an object");
  EXPECT_EQ(service_json(R"({"type":{"a":["b"]},"ports":[]})"), "spec.type: is not a text");
  EXPECT_EQ(service_json(R"({"externalIPs":["10.0.0.1",7]})"), "spec.externalIPs: is not a text");
  EXPECT_EQ(slice_json(R"("addressType":"IPv4","endpoints":[{},{"conditions":{"ready":"yes"}}])"),
            "endpoints[1].conditions.ready: is not true or false");
  EXPECT_EQ(json_cause(ObjectKind::Service, R"("metadata":{"name":"web","namespace":"shop",)"
                                            R"("creationTimestamp":"yesterday"})"),
            "metadata.creationTimestamp: \"yesterday\" is not a time (2006-01-02T15:04:05Z)");
}

TEST(DecodeBrokenTest, AProtobufFieldOfAnotherWireTypeIsToldWithItsName) {
  EXPECT_EQ(protobuf_cause(ObjectKind::Service, Wire().number(2, 7)),
            "spec: has another wire type than expected");
  EXPECT_EQ(service_protobuf(Wire().number(3, 7)),
            "spec.clusterIP: has another wire type than expected");
  EXPECT_EQ(service_protobuf(Wire().text(12, "80")),
            "spec.healthCheckNodePort: has another wire type than expected");
  EXPECT_EQ(
      protobuf_cause(ObjectKind::EndpointSlice,
                     Wire().text(4, "IPv4").message(2, Wire().message(2, Wire().text(1, "yes")))),
      "endpoints[0].conditions.ready: has another wire type than expected");
}

TEST(DecodeBrokenTest, AMessageThatIsCutShortEndsThere) {
  const std::string broken = " is no protobuf any more: ";
  EXPECT_EQ(protobuf_cause(ObjectKind::Service, Wire().raw("\x12\x05")),
            "spec:" + broken + "end of buffer exception");
  EXPECT_EQ(service_protobuf(Wire().raw("\x1a\xff\xff\xff\xff\x0f")),
            "spec.clusterIP:" + broken + "end of buffer exception");
  EXPECT_EQ(service_protobuf(Wire().message(1, Wire().raw("\x18\xff"))),
            "spec.ports[0].port:" + broken + "end of buffer exception");
  EXPECT_EQ(service_protobuf(Wire().raw("\x60\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
            "spec.healthCheckNodePort:" + broken + "varint too long exception");
  EXPECT_EQ(service_protobuf(Wire().raw("\x0b")),
            "spec:" + broken + "unknown pbf field type exception");
  EXPECT_EQ(service_protobuf(Wire().raw(std::string_view("\0\0", 2))),
            "spec:" + broken + "invalid tag exception");
}

TEST(DecodeBrokenTest, TextThatIsNotUtf8IsTold) {
  EXPECT_EQ(service_protobuf(Wire().text(3, "10.\xff")), "spec.clusterIP: is not valid UTF-8");
  EXPECT_EQ(service_protobuf(Wire().text(3, "\xed\xa0\x80")), "spec.clusterIP: is not valid UTF-8");
  EXPECT_EQ(service_protobuf(Wire().text(3, "\xc0\xaf")), "spec.clusterIP: is not valid UTF-8");
  EXPECT_EQ(service_json("{\"clusterIP\":\"10.\xff\"}"), "spec.clusterIP: is not valid UTF-8");
  EXPECT_EQ(service_json(R"({"clusterIP":"\ud800"})"),
            "spec.clusterIP: is a text with an escape that cannot be read");
}

TEST(DecodeBrokenTest, TextThatIsUtf8IsFine) {
  EXPECT_EQ(service_protobuf(Wire().message(1, Wire().text(1, "\u7ebf\U0001f600").number(3, 80))),
            "");
  EXPECT_EQ(service_json("{\"ports\":[{\"name\":\"\u7ebf\U0001f600\",\"port\":80}]}"), "");
  EXPECT_EQ(service_json(R"({"ports":[{"name":"\ud83d\ude00","port":80}]})"), "");
}

TEST(DecodeBrokenTest, TheFirstProblemOfAnObjectIsTold) {
  EXPECT_EQ(service_json(R"({"ports":[{"port":0},{"port":70000}],"type":7})"),
            "spec.ports[0].port: 0 is not a port (1-65535)");
}

}  // namespace
}  // namespace mkp
