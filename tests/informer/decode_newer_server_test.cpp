// Servers of the future: fields and words that nobody here knows.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/informer/decode_fixture.h"
#include "tests/informer/decode_messages.h"

namespace mkp {
namespace {

// What both encodings of a list of one item say, when they say the same.
std::string decoded(ObjectKind kind, std::string_view api_version, std::string_view json,
                    const Wire& wire) {
  const std::string list_kind = fmt::format("{}List", to_text(kind));
  const std::string from_json = to_text(json_format().decode_list(
      kind,
      fmt::format(
          R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"9"}},)"
          R"("items":[{{"metadata":{{"name":"web","namespace":"shop","resourceVersion":"7"}},)"
          R"({}}}]}})",
          list_kind, api_version, json)));
  const Wire list = Wire()
                        .message(1, Wire().text(2, "9"))
                        .message(2, Wire().message(1, web_meta()).raw(wire.bytes));
  const std::string from_protobuf =
      to_text(protobuf_format().decode_list(kind, enveloped(api_version, list_kind, list)));
  return from_json == from_protobuf ? from_json : from_json + "but in protobuf\n" + from_protobuf;
}

std::string service(std::string_view spec, const Wire& wire) {
  return decoded(ObjectKind::Service, "v1", fmt::format("\"spec\":{}", spec),
                 Wire().message(2, wire));
}

std::string slice(std::string_view json, const Wire& wire) {
  return decoded(ObjectKind::EndpointSlice, "discovery.k8s.io/v1", json, wire);
}

TEST(DecodeNewerServerTest, FieldsThatAreNotKnownArePassedOver) {
  EXPECT_EQ(service(R"({"futures":[{"a":{"b":[1,2.5,true,null,"x"]}}],"type":"NodePort"})",
                    Wire()
                        .message(90, Wire().number(1, -1).fixed(2))
                        .number(18'000, 1)
                        .fixed(91)
                        .text(4, "NodePort")),
            "at 9\nService shop/web@7 NodePort -\n");
}

TEST(DecodeNewerServerTest, ATypeOfServiceThatIsNotKnownIsAsClusterIp) {
  EXPECT_EQ(service(R"({"type":"Anycast","clusterIP":"172.30.0.1"})",
                    Wire().text(4, "Anycast").text(3, "172.30.0.1")),
            "at 9\nService shop/web@7 ClusterIP 172.30.0.1 ips 172.30.0.1 IPv4\n");
}

TEST(DecodeNewerServerTest, PoliciesThatAreNotKnownAreAsIfNothingWereSaid) {
  EXPECT_EQ(service(R"({"internalTrafficPolicy":"Near","externalTrafficPolicy":"Near",)"
                    R"("sessionAffinity":"Cookie"})",
                    Wire().text(22, "Near").text(11, "Near").text(7, "Cookie")),
            "at 9\nService shop/web@7 ClusterIP -\n");
}

TEST(DecodeNewerServerTest, APortOfAProtocolThatIsNotKnownIsLeftOutAlone) {
  const LoggedLines lines;
  EXPECT_EQ(service(R"({"ports":[{"protocol":"QUIC","port":443},{"port":80}]})",
                    Wire()
                        .message(1, Wire().text(2, "QUIC").number(3, 443))
                        .message(1, Wire().number(3, 80))),
            "at 9\nService shop/web@7 ClusterIP - :80/TCP\n");
  const std::string line =
      "warning Service shop/web from the API server is used but for a part that is not known here: "
      "spec.ports[0].protocol: \"QUIC\" is not one of TCP, UDP, SCTP\n";
  EXPECT_EQ(lines.text(), line + line);
  EXPECT_EQ(slice(R"("addressType":"IPv4","ports":[{"protocol":"QUIC","port":443},{"port":80}])",
                  Wire()
                      .text(4, "IPv4")
                      .message(3, Wire().text(2, "QUIC").number(3, 443))
                      .message(3, Wire().number(3, 80))),
            "at 9\nEndpointSlice shop/web@7 of  IPv4 :80/TCP\n");
}

TEST(DecodeNewerServerTest, AFamilyThatIsNotKnownKeepsTheOthersInTheirPlaces) {
  EXPECT_EQ(service(R"({"clusterIPs":["x","172.30.0.1"],"ipFamilies":["IPv7","IPv4"]})",
                    Wire().text(18, "x").text(18, "172.30.0.1").text(19, "IPv7").text(19, "IPv4")),
            "at 9\nService shop/web@7 ClusterIP x ips x,172.30.0.1 FQDN IPv4\n");
}

TEST(DecodeNewerServerTest, AnAddressTypeThatIsNotKnownIsOneThatNoProxyUses) {
  EXPECT_EQ(slice(R"("addressType":"IPv7","endpoints":[{"addresses":["x"]}])",
                  Wire().text(4, "IPv7").message(2, Wire().text(1, "x"))),
            "at 9\nEndpointSlice shop/web@7 of  FQDN [x]\n");
}

TEST(DecodeNewerServerTest, AnIpModeThatIsNotKnownIsNotOursToCapture) {
  EXPECT_EQ(
      decoded(ObjectKind::Service, "v1",
              R"("status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.1","ipMode":"Tunnel"}]}})",
              Wire().message(
                  3, Wire().message(
                         1, Wire().message(1, Wire().text(1, "203.0.113.1").text(3, "Tunnel"))))),
      "at 9\nService shop/web@7 ClusterIP - ingress 203.0.113.1(proxy)\n");
}

}  // namespace
}  // namespace mkp
