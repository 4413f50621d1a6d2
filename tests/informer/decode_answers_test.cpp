// What a real API server sent, in both encodings.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "informer/manifest_decode.h"
#include "informer/manifest_object.h"
#include "tests/informer/decode_fixture.h"

namespace mkp {
namespace {

struct Answered {
  ObjectKind kind = ObjectKind::Service;
  std::string file;  // without what says the encoding
};

std::string list_text(const WireFormat& format, const Answered& answered) {
  const bool json = &format == &json_format();
  return to_text(
      format.decode_list(answered.kind, api_answer(answered.file + (json ? ".json" : ".pb"))));
}

std::string stream_text(const WireFormat& format, const Answered& answered, std::size_t piece) {
  const bool json = &format == &json_format();
  return events_text(format, answered.kind, api_answer(answered.file + (json ? ".json" : ".pb")),
                     piece);
}

// The lines of a stream about objects, without those of bookmarks, whose time is the server's.
std::vector<std::string> object_lines(const std::string& stream) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = stream.find('\n'); end != std::string::npos;
       end = stream.find('\n', begin)) {
    const std::string line = stream.substr(begin, end - begin);
    if (!line.starts_with("Bookmark")) lines.push_back(line);
    begin = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class DecodeAnswersTest : public testing::TestWithParam<Answered> {};

using DecodeListAnswersTest = DecodeAnswersTest;

TEST_P(DecodeListAnswersTest, BothEncodingsOfAListSayTheSame) {
  const std::string text = list_text(json_format(), GetParam());
  EXPECT_TRUE(text.starts_with("at ")) << text;
  EXPECT_EQ(list_text(protobuf_format(), GetParam()), text);
}

TEST_P(DecodeListAnswersTest, AListSaysWhatAManifestOfItSays) {
  const std::string body = api_answer(GetParam().file + ".json");
  std::map<std::string, std::shared_ptr<Object>> expected;
  for (Manifest& manifest : decode_manifests("list.json", body).manifests) {
    if (!manifest.left_out) expected[manifest.key] = std::move(manifest.object);
  }
  EXPECT_FALSE(expected.empty());
  const Result<Listing> listing = json_format().decode_list(GetParam().kind, body);
  ASSERT_TRUE(listing);
  for (const ObjectPtr& object : listing->objects) {
    const auto found = expected.find(manifest_key(*object->meta()));
    if (found == expected.end()) continue;  // what kube-proxy's selectors leave out
    metadata_of(GetParam().kind, *found->second).resource_version =
        object->meta()->resource_version;
    EXPECT_EQ(to_text(object), to_text(ObjectPtr(found->second)));
    EXPECT_TRUE(same_object(GetParam().kind, *object, *found->second)) << to_text(object);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DecodeListAnswersTest,
                         testing::Values(Answered{ObjectKind::Service, "services-list"},
                                         Answered{ObjectKind::EndpointSlice, "endpointslices-list"},
                                         Answered{ObjectKind::Node, "nodes-list"},
                                         Answered{ObjectKind::ServiceCidr, "servicecidrs-list"}),
                         [](const auto& tested) {
                           return std::string(to_text(tested.param.kind));
                         });

using DecodeStreamAnswersTest = DecodeAnswersTest;

TEST_P(DecodeStreamAnswersTest, BothEncodingsOfAStreamSayTheSameOfItsObjects) {
  const std::vector<std::string> lines = object_lines(stream_text(json_format(), GetParam(), 4096));
  EXPECT_FALSE(lines.empty());
  EXPECT_EQ(object_lines(stream_text(protobuf_format(), GetParam(), 4096)), lines);
}

TEST_P(DecodeStreamAnswersTest, TheSizeOfThePiecesOfAStreamDoesNotMatter) {
  const std::string json = stream_text(json_format(), GetParam(), 1 << 20);
  EXPECT_EQ(json.find("fails"), std::string::npos) << json;
  EXPECT_EQ(json.find("half"), std::string::npos) << json;
  EXPECT_EQ(stream_text(json_format(), GetParam(), 1), json);
  EXPECT_EQ(stream_text(json_format(), GetParam(), 7), json);
  EXPECT_EQ(stream_text(json_format(), GetParam(), 1000), json);
  const std::string protobuf = stream_text(protobuf_format(), GetParam(), 1 << 20);
  EXPECT_EQ(protobuf.find("half"), std::string::npos) << protobuf;
  EXPECT_EQ(stream_text(protobuf_format(), GetParam(), 1), protobuf);
  EXPECT_EQ(stream_text(protobuf_format(), GetParam(), 7), protobuf);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, DecodeStreamAnswersTest,
    testing::Values(Answered{ObjectKind::Service, "services-watch"},
                    Answered{ObjectKind::Service, "services-watchlist"},
                    Answered{ObjectKind::EndpointSlice, "endpointslices-watch"},
                    Answered{ObjectKind::EndpointSlice, "endpointslices-watchlist"},
                    Answered{ObjectKind::Node, "nodes-watchlist"},
                    Answered{ObjectKind::ServiceCidr, "servicecidrs-watchlist"}),
    [](const auto& tested) {
      std::string name = tested.param.file;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(DecodeAnswersTest, ServicesHaveTheValuesThatTheServerHolds) {
  EXPECT_EQ(
      list_text(protobuf_format(), {ObjectKind::Service, "services-list"}),
      "at 89\n"
      "Service shop/cart@68 uid 67141f42-70fe-487f-9541-fdc8e9ab7a8d created 1796064951 ClusterIP "
      "10.106.96.220 ips 10.106.96.220 IPv4 http:80/TCP metrics:9090/TCP\n"
      "Service shop/checkout@87 uid c47a091b-f2eb-4973-9d2a-a4b78446ec02 created 1796064951 "
      "LoadBalancer 10.101.244.192 ips 10.101.244.192,fd96::5:d95b IPv4 IPv6 https:443/TCP/32150 "
      "quic:443/UDP/32150 external 10.20.9.33 ingress 198.51.100.7 ingress 198.51.100.8(proxy) "
      "ingress  sources 203.0.113.0/24,2001:db8:77::/48 internal-local external-local affinity 600 "
      "health 32724\n"
      "Service shop/elsewhere@79 uid 91c8894c-2123-4d5f-a074-3a98c74d4fd9 created 1796064951 "
      "ExternalName -\n"
      "Service shop/headless@78 uid 92f0298c-3ce4-4f02-9aa2-e27b187ecda9 created 1796064951 "
      "ClusterIP None ips None IPv4 :5432/TCP\n"
      "Service shop/ledger@77 uid b52af808-8cbd-4cb5-b871-f2763321d264 created 1796064951 NodePort "
      "10.101.10.138 ips 10.101.10.138 IPv4 diameter:3868/SCTP/30868 http:80/TCP/30080\n"
      "Service shop/mesh@81 uid baeea99d-9e0c-4c34-b55a-9881451717d0 created 1796064951 ClusterIP "
      "10.99.157.137 ips 10.99.157.137 IPv4 :80/TCP\n");
}

TEST(DecodeAnswersTest, SlicesHaveTheValuesThatTheServerHolds) {
  EXPECT_EQ(
      list_text(protobuf_format(), {ObjectKind::EndpointSlice, "endpointslices-list"}),
      "at 97\n"
      "EndpointSlice default/kubernetes@97 uid 71656d5d-c601-4df5-bbb8-7dcaf824871a created "
      "1796064952 of kubernetes IPv4 https:6443/TCP [10.20.0.11]\n"
      "EndpointSlice shop/cart-abc12@82 uid 368aa9b7-69e3-4246-8ba8-6d4c352c58bd created "
      "1796064951 of cart IPv4 http:8080/TCP metrics:9100/TCP [10.64.1.5 on worker-1 zones zone-a "
      "nodes worker-1] [10.64.2.7 on worker-2 not-ready terminating zones zone-b] [10.64.2.9] "
      "triggered 2026-11-30T10:00:00Z\n"
      "EndpointSlice shop/cart-fqdn@85 uid e431528d-42df-4400-ad0d-809ca2695cce created "
      "1796064951 of cart FQDN [cart.example.com]\n"
      "EndpointSlice shop/checkout-v4@84 uid f1b01f9b-9d1b-452c-83df-c7aaed214a64 created "
      "1796064951 of checkout IPv4 https:8443/TCP quic:8443/UDP\n"
      "EndpointSlice shop/checkout-v6@83 uid e7d22de4-409c-424c-93da-e4d3daf80c44 created "
      "1796064951 of checkout IPv6 https:8443/TCP quic:8443/UDP [fd64:0:0:1::5 on worker-1]\n");
}

TEST(DecodeAnswersTest, NodesAndServiceCidrsHaveTheValuesThatTheServerHolds) {
  EXPECT_EQ(
      list_text(protobuf_format(), {ObjectKind::Node, "nodes-list"}),
      "at 97\n"
      "Node worker-1@88 uid 355b8c16-47ad-4830-b68b-53bc52a1862c created 1796064951 zone zone-a "
      "pods 10.64.1.0/24,fd64:0:0:1::/64 internal 10.20.0.11,fd20::11 taints "
      "node.kubernetes.io/not-ready\n"
      "Node worker-2@89 uid ffd8e742-7cdf-4bfe-b5ec-143afc760b00 created 1796064951 zone zone-b "
      "internal 10.20.0.12,fd20::12 taints node.kubernetes.io/not-ready\n");
  EXPECT_EQ(list_text(protobuf_format(), {ObjectKind::ServiceCidr, "servicecidrs-list"}),
            "at 100\n"
            "ServiceCIDR kubernetes@5 uid f7990067-93a9-4b38-b006-20b5a0109d58 created 1796064951 "
            "cidrs 10.96.0.0/12,fd96::/108\n"
            "ServiceCIDR more@86 uid 1d597f10-d6a3-49f5-9315-fbd63ea59503 created 1796064951 cidrs "
            "10.240.0.0/16\n");
}

TEST(DecodeAnswersTest, AWatchTellsWhatHappenedInOrder) {
  const std::string cart =
      "Service shop/cart@102 uid 67141f42-70fe-487f-9541-fdc8e9ab7a8d created 1796064951 ClusterIP "
      "10.106.96.220 ips 10.106.96.220 IPv4 http:81/TCP\n";
  const std::string text = stream_text(json_format(), {ObjectKind::Service, "services-watch"}, 64);
  EXPECT_EQ(text.substr(0, text.find('\n') + 1), "Modified 102: " + cart);
  EXPECT_THAT(text, testing::HasSubstr("\nAdded 103: Service shop/mesh@103 "));
  EXPECT_THAT(text, testing::HasSubstr("\nDeleted 104: Service shop/mesh@104 "));
  EXPECT_EQ(stream_text(protobuf_format(), {ObjectKind::Service, "services-watch"}, 64), text);
}

TEST(DecodeAnswersTest, ABookmarkSaysWhereTheInitialEventsEnd) {
  const std::string text =
      stream_text(json_format(), {ObjectKind::ServiceCidr, "servicecidrs-watchlist"}, 64);
  EXPECT_THAT(text, testing::EndsWith("\nBookmark 100 ends initial events\n"));
}

TEST(DecodeAnswersTest, APageOfAListSaysWhereTheNextBegins) {
  const Result<Listing> first =
      json_format().decode_list(ObjectKind::Service, api_answer("services-page1.json"));
  const Result<Listing> last =
      json_format().decode_list(ObjectKind::Service, api_answer("services-page2.json"));
  ASSERT_TRUE(first && last);
  EXPECT_FALSE(first->continue_token.empty());
  EXPECT_THAT(api_answer("services-page1.json"), testing::HasSubstr(first->continue_token));
  EXPECT_EQ(first->resource_version, last->resource_version);
  EXPECT_FALSE(first->objects.empty());
  EXPECT_FALSE(last->objects.empty());
}

TEST(DecodeAnswersTest, OtherListsAreReadAsWell) {
  EXPECT_THAT(
      to_text(json_format().decode_list(ObjectKind::Node, api_answer("node-field-list.json"))),
      testing::HasSubstr("\nNode worker-1@"));
  EXPECT_THAT(to_text(json_format().decode_list(ObjectKind::Service,
                                                api_answer("services-selected-list.json"))),
              testing::HasSubstr("\nService shop/cart@"));
}

TEST(DecodeAnswersTest, OneObjectIsNoList) {
  EXPECT_EQ(to_text(json_format().decode_list(ObjectKind::Node, api_answer("node-one.json"))),
            "fails: list of Node in JSON: it is \"v1\" \"Node\", not a v1 NodeList");
  EXPECT_EQ(to_text(protobuf_format().decode_list(ObjectKind::Node, api_answer("node-one.pb"))),
            "fails: list of Node in protobuf: it is \"v1\" \"Node\", not a v1 NodeList");
  EXPECT_FALSE(json_format().decode_list(ObjectKind::Node, api_answer("version.json")));
  EXPECT_FALSE(json_format().decode_list(ObjectKind::Node, api_answer("services-list.json")));
  EXPECT_FALSE(protobuf_format().decode_list(ObjectKind::Node, api_answer("error-404.pb")));
}

}  // namespace
}  // namespace mkp
