// Field by field, as protobuf numbers them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/informer/decode_fixture.h"
#include "tests/informer/decode_messages.h"

namespace mkp {
namespace {

std::string list_text(ObjectKind kind, std::string_view api_version, std::string_view list_kind,
                      const Wire& item) {
  const Wire list = Wire().message(1, Wire().text(2, "9")).message(2, item);
  return to_text(protobuf_format().decode_list(kind, enveloped(api_version, list_kind, list)));
}

std::string service(const Wire& spec, const Wire& status = {}) {
  return list_text(ObjectKind::Service, "v1", "ServiceList",
                   Wire().message(1, web_meta()).message(2, spec).message(3, status));
}

std::string service_with_meta(const Wire& meta) {
  return list_text(ObjectKind::Service, "v1", "ServiceList", Wire().message(1, meta));
}

std::string slice(Wire meta, Wire rest) {
  return list_text(ObjectKind::EndpointSlice, "discovery.k8s.io/v1", "EndpointSliceList",
                   Wire().message(1, meta).raw(rest.bytes));
}

std::string slice_with_endpoint(const Wire& endpoint) {
  return slice(web_meta(), Wire().message(2, endpoint).text(4, "IPv4"));
}

std::string node(const Wire& meta, const Wire& spec, const Wire& status) {
  return list_text(ObjectKind::Node, "v1", "NodeList",
                   Wire().message(1, meta).message(2, spec).message(3, status));
}

Wire port(std::int64_t number) { return Wire().number(3, number); }

TEST(DecodeProtobufTest, ObjectMetaIsReadByItsNumbers) {
  const Wire meta = Wire()
                        .text(1, "web")
                        .text(2, "generated")
                        .text(3, "shop")
                        .text(4, "link")
                        .text(5, "u-1")
                        .text(6, "41")
                        .number(7, 3)
                        .message(8, Wire().number(1, 1796064951).number(2, 0))
                        .message(17, Wire().text(1, "manager"));
  EXPECT_EQ(service_with_meta(meta),
            "at 9\nService shop/web@41 uid u-1 created 1796064951 ClusterIP -\n");
}

TEST(DecodeProtobufTest, AMomentThatIsNotSetIsNone) {
  EXPECT_EQ(service_with_meta(web_meta().message(8, Wire())),
            "at 9\nService shop/web@7 ClusterIP -\n");
}

TEST(DecodeProtobufTest, AServicesPortsAreReadByTheirNumbers) {
  const Wire full = Wire()
                        .text(1, "dns")
                        .text(2, "UDP")
                        .number(3, 53)
                        .message(4, Wire().number(1, 0).number(2, 5353).text(3, ""))
                        .number(5, 30053)
                        .text(6, "dns");
  EXPECT_EQ(service(Wire().message(1, full).message(1, port(80)).message(1, port(65535))),
            "at 9\nService shop/web@7 ClusterIP - dns:53/UDP/30053 :80/TCP :65535/TCP\n");
}

TEST(DecodeProtobufTest, AServicesAddressesAreReadByTheirNumbers) {
  const Wire spec = Wire()
                        .text(3, "172.30.0.1")
                        .text(4, "LoadBalancer")
                        .text(5, "203.0.113.5")
                        .text(5, "203.0.113.6")
                        .text(8, "203.0.113.7")
                        .text(9, "203.0.113.0/24")
                        .text(10, "example.com")
                        .text(18, "172.30.0.1")
                        .text(18, "fd30::1")
                        .text(19, "IPv4")
                        .text(19, "IPv6");
  const Wire status =
      Wire().message(1, Wire()
                            .message(1, Wire().text(1, "203.0.113.8").text(2, "").text(3, "VIP"))
                            .message(1, Wire().text(1, "203.0.113.9").text(3, "Proxy"))
                            .message(1, Wire().text(2, "lb.example.com")));
  EXPECT_EQ(service(spec, status),
            "at 9\nService shop/web@7 LoadBalancer 172.30.0.1 ips 172.30.0.1,fd30::1 IPv4 IPv6 "
            "external 203.0.113.5,203.0.113.6 ingress 203.0.113.8 ingress 203.0.113.9(proxy) "
            "ingress  sources 203.0.113.0/24\n");
}

TEST(DecodeProtobufTest, AServicesPoliciesAreReadByTheirNumbers) {
  const Wire spec = Wire()
                        .text(7, "ClientIP")
                        .text(11, "Local")
                        .number(12, 30999)
                        .number(13, 1)
                        .message(14, Wire().message(1, Wire().number(1, 600)))
                        .text(22, "Local")
                        .text(23, "PreferClose");
  EXPECT_EQ(
      service(spec),
      "at 9\nService shop/web@7 ClusterIP - internal-local external-local affinity 600 health "
      "30999\n");
}

TEST(DecodeProtobufTest, WhatAServerLeavesOutIsFilledInForAService) {
  EXPECT_EQ(service(Wire().text(7, "ClientIP")),
            "at 9\nService shop/web@7 ClusterIP - affinity 10800\n");
  EXPECT_EQ(service(Wire().text(3, "172.30.0.1")),
            "at 9\nService shop/web@7 ClusterIP 172.30.0.1 ips 172.30.0.1 IPv4\n");
  EXPECT_EQ(service(Wire().text(18, "fd30::1").text(18, "172.30.0.1")),
            "at 9\nService shop/web@7 ClusterIP fd30::1 ips fd30::1,172.30.0.1 IPv6 IPv4\n");
}

TEST(DecodeProtobufTest, EmptyTextsAndZerosAreAsIfTheyWereNotThere) {
  const Wire spec =
      Wire().text(3, "").text(4, "").text(7, "").text(11, "").number(12, 0).text(22, "").message(
          1, Wire().text(1, "").text(2, "").number(3, 80).number(5, 0));
  EXPECT_EQ(service(spec), "at 9\nService shop/web@7 ClusterIP - :80/TCP\n");
}

TEST(DecodeProtobufTest, ASliceIsReadByItsNumbers) {
  const Wire meta =
      web_meta()
          .message(11, Wire().text(1, "app").text(2, "other"))
          .message(11, Wire().text(1, "kubernetes.io/service-name").text(2, "web"))
          .message(12, Wire()
                           .text(1, "endpoints.kubernetes.io/last-change-trigger-time")
                           .text(2, "2026-11-30T10:00:00Z"));
  const Wire rest = Wire()
                        .message(3, Wire().text(1, "http").text(2, "SCTP").number(3, 8080))
                        .message(3, Wire())
                        .text(4, "IPv6");
  EXPECT_EQ(slice(meta, rest),
            "at 9\nEndpointSlice shop/web@7 of web IPv6 http:8080/SCTP :?/TCP triggered "
            "2026-11-30T10:00:00Z\n");
}

TEST(DecodeProtobufTest, AnEndpointIsReadByItsNumbers) {
  const Wire endpoint = Wire()
                            .text(1, "10.180.0.1")
                            .text(1, "10.180.0.2")
                            .message(2, Wire().number(1, 0).number(2, 0).number(3, 1))
                            .text(3, "host")
                            .text(6, "worker-1")
                            .text(7, "zone-a")
                            .message(8, Wire()
                                            .message(1, Wire().text(1, "zone-a"))
                                            .message(1, Wire().text(1, "zone-b"))
                                            .message(2, Wire().text(1, "worker-1")));
  EXPECT_EQ(slice_with_endpoint(endpoint),
            "at 9\nEndpointSlice shop/web@7 of  IPv4 [10.180.0.1 on worker-1 not-ready not-serving "
            "terminating zones zone-a,zone-b nodes worker-1]\n");
}

TEST(DecodeProtobufTest, AnEndpointWithoutConditionsIsReadyAndServes) {
  EXPECT_EQ(slice_with_endpoint(Wire().text(1, "10.180.0.1")),
            "at 9\nEndpointSlice shop/web@7 of  IPv4 [10.180.0.1]\n");
  EXPECT_EQ(slice_with_endpoint(Wire().text(1, "10.180.0.1").message(2, Wire().number(1, 0))),
            "at 9\nEndpointSlice shop/web@7 of  IPv4 [10.180.0.1 not-ready]\n");
}

TEST(DecodeProtobufTest, ANodeIsReadByItsNumbers) {
  const Wire meta =
      Wire()
          .text(1, "worker-1")
          .message(9, Wire())
          .message(11, Wire().text(1, "topology.kubernetes.io/zone").text(2, "zone-a"));
  const Wire spec = Wire()
                        .text(1, "10.180.1.0/24")
                        .message(5, Wire().text(1, "dedicated").text(2, "x").text(3, "NoSchedule"))
                        .text(7, "10.180.1.0/24")
                        .text(7, "fd80:1::/64");
  const Wire status = Wire()
                          .message(5, Wire().text(1, "InternalIP").text(2, "192.168.0.1"))
                          .message(5, Wire().text(1, "Hostname").text(2, "worker-1"))
                          .message(5, Wire().text(1, "ExternalIP").text(2, "203.0.113.1"))
                          .message(5, Wire().text(1, "InternalIP").text(2, "fd68::1"));
  EXPECT_EQ(node(meta, spec, status),
            "at 9\nNode worker-1@ zone zone-a pods 10.180.1.0/24,fd80:1::/64 internal "
            "192.168.0.1,fd68::1 external 203.0.113.1 taints dedicated deleting\n");
}

TEST(DecodeProtobufTest, ANodeOfBeforeDualStackHasOnePodCidr) {
  EXPECT_EQ(node(Wire().text(1, "worker-1"), Wire().text(1, "10.180.1.0/24"), Wire()),
            "at 9\nNode worker-1@ pods 10.180.1.0/24\n");
}

TEST(DecodeProtobufTest, AServiceCidrIsReadByItsNumbers) {
  const Wire cidr = Wire()
                        .message(1, Wire().text(1, "kubernetes"))
                        .message(2, Wire().text(1, "172.30.0.0/16").text(1, "fd30::/108"))
                        .message(3, Wire().message(1, Wire().text(1, "Ready")));
  const std::string expected = "at 9\nServiceCIDR kubernetes@ cidrs 172.30.0.0/16,fd30::/108\n";
  EXPECT_EQ(list_text(ObjectKind::ServiceCidr, "networking.k8s.io/v1", "ServiceCIDRList", cidr),
            expected);
  EXPECT_EQ(
      list_text(ObjectKind::ServiceCidr, "networking.k8s.io/v1beta1", "ServiceCIDRList", cidr),
      expected);
}

TEST(DecodeProtobufTest, FieldsMayComeInAnyOrder) {
  const Wire item = Wire()
                        .message(3, Wire())
                        .message(2, Wire().text(18, "172.30.0.1").message(1, port(80)))
                        .message(1, web_meta());
  EXPECT_EQ(list_text(ObjectKind::Service, "v1", "ServiceList", item),
            "at 9\nService shop/web@7 ClusterIP 172.30.0.1 ips 172.30.0.1 IPv4 :80/TCP\n");
}

TEST(DecodeProtobufTest, AListSaysItsVersionAndWhereItGoesOn) {
  const Wire list = Wire().message(1, Wire().text(1, "").text(2, "9").text(3, "next").number(4, 5));
  EXPECT_EQ(
      to_text(protobuf_format().decode_list(ObjectKind::Node, enveloped("v1", "NodeList", list))),
      "at 9 continue next\n");
}

TEST(DecodeProtobufTest, WhatIsNoListFails) {
  const WireFormat& format = protobuf_format();
  const auto decoded = [&](std::string body) {
    return to_text(format.decode_list(ObjectKind::Node, std::move(body)));
  };
  const std::string in_front = "fails: list of Node in protobuf: ";
  EXPECT_EQ(decoded(""), in_front + "it does not begin as Kubernetes' protobuf does");
  EXPECT_EQ(decoded("{}"), in_front + "it does not begin as Kubernetes' protobuf does");
  EXPECT_EQ(decoded(enveloped("v1", "NodeList", Wire())),
            in_front + "metadata.resourceVersion: is missing");
  EXPECT_EQ(decoded(enveloped("v1", "PodList", Wire())),
            in_front + "it is \"v1\" \"PodList\", not a v1 NodeList");
  EXPECT_EQ(decoded(enveloped("v2", "NodeList", Wire())),
            in_front + "it is \"v2\" \"NodeList\", not a v1 NodeList");
}

TEST(DecodeProtobufTest, AListThatIsCutShortFails) {
  const Wire list =
      Wire().message(1, Wire().text(2, "9")).message(2, Wire().message(1, web_meta()));
  const std::string whole = enveloped("v1", "ServiceList", list);
  for (std::size_t size = 0; size < whole.size() - 4; ++size) {
    EXPECT_FALSE(protobuf_format().decode_list(ObjectKind::Service, whole.substr(0, size))) << size;
  }
  Wire cut = list;
  cut.bytes.resize(cut.bytes.size() - 1);
  EXPECT_EQ(to_text(protobuf_format().decode_list(ObjectKind::Service,
                                                  enveloped("v1", "ServiceList", cut))),
            "fails: list of Service in protobuf: items: is no protobuf any more: end of buffer "
            "exception");
}

}  // namespace
}  // namespace mkp
