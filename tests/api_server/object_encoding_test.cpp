#include "tests/api_server/object_encoding.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "informer/wire_format.h"
#include "tests/api_server/list_answer.h"
#include "tests/api_server/object_store.h"
#include "tests/api_server/wire_encoding.h"

namespace mkp::api {
namespace {

Service full_service() {
  Service made;
  made.metadata = {"shop", "cart", "67141f42", "2", 1'767'225'600};
  made.type = Service::Type::LoadBalancer;
  made.cluster_ip = "172.30.0.7";
  made.cluster_ips = {"172.30.0.7", "fd30::7"};
  made.ip_families = {AddressType::Ipv4, AddressType::Ipv6};
  made.ports = {{"http", Protocol::Tcp, 80, 30080}, {"dns \"q\"", Protocol::Udp, 53, 0}};
  made.external_ips = {"203.0.113.9"};
  made.load_balancer_ingress = {{"203.0.113.7", true}, {"203.0.113.8", false}, {"", false}};
  made.load_balancer_source_ranges = {"203.0.113.0/24"};
  made.internal_traffic_policy = TrafficPolicy::Local;
  made.external_traffic_policy = TrafficPolicy::Local;
  made.client_ip_affinity_seconds = 600;
  made.health_check_node_port = 32000;
  return made;
}

EndpointSlice full_slice() {
  EndpointSlice made;
  made.metadata = {"shop", "cart-x", "uid", "2", 0};
  made.service_name = "cart";
  made.address_type = AddressType::Ipv6;
  made.ports = {{"http", 8080, Protocol::Tcp}, {"", std::nullopt, Protocol::Sctp}};
  made.endpoints = {{"fd20::1", "worker-1", false, true, true, {"a", "b"}, {"worker-1"}},
                    {"fd20::2", "", true, true, false, {}, {}}};
  made.last_change_trigger_time = "2026-01-01T00:00:00Z";
  return made;
}

Node full_node() {
  Node made;
  made.metadata = {"", "worker-1", "uid", "2", 0};
  made.zone = "a";
  made.pod_cidrs = {"10.180.0.0/24", "fd80::/64"};
  made.internal_ips = {"192.168.0.1", "fd20::11"};
  made.external_ips = {"203.0.113.1"};
  made.taint_keys = {"node.kubernetes.io/unreachable"};
  made.deleting = true;
  return made;
}

// The object as our own decoders see it: out of a list, and out of an event.
template <class Kind>
void expect_to_be_read_back(ObjectKind kind, const Kind& object, Encoding encoding,
                            const WireFormat& format) {
  ObjectStore store;
  store.put(draft(object));
  const ListPage page = answer_list(store, kind, {}).value();
  const Resource& resource = resource_of(kind);

  const Result<Listing> listing = format.decode_list(kind, list_body(encoding, resource, page));
  ASSERT_TRUE(listing) << listing.error().what;
  EXPECT_EQ(listing->resource_version, "2");
  ASSERT_EQ(listing->objects.size(), 1U);
  const auto* listed = dynamic_cast<const Kind*>(listing->objects.front().get());
  ASSERT_NE(listed, nullptr);
  EXPECT_TRUE(*listed == object) << page.objects.front()->encoded.json;

  std::string frame = event_frame(encoding, resource, "MODIFIED", page.objects.front()->encoded);
  ASSERT_EQ(format.frame_size(frame, 0).value_or(0), frame.size());
  const Result<WireEvent> event = format.decode_event(kind, frame);
  ASSERT_TRUE(event) << event.error().what;
  const auto& modified = std::get<WatchEvent>(*event);
  EXPECT_EQ(modified.type, WatchEvent::Type::Modified);
  const auto* watched = dynamic_cast<const Kind*>(modified.object.get());
  ASSERT_NE(watched, nullptr);
  EXPECT_TRUE(*watched == object);
}

template <class Kind>
void expect_to_be_read_back_from_both(ObjectKind kind, const Kind& object) {
  expect_to_be_read_back(kind, object, Encoding::Json, json_format());
  expect_to_be_read_back(kind, object, Encoding::Protobuf, protobuf_format());
}

TEST(ObjectEncodingTest, WritesWhatDecodersReadBack) {
  expect_to_be_read_back_from_both(ObjectKind::Service, full_service());
  expect_to_be_read_back_from_both(ObjectKind::EndpointSlice, full_slice());
  expect_to_be_read_back_from_both(ObjectKind::Node, full_node());
  ServiceCidr cidr;
  cidr.metadata = {"", "kubernetes", "", "2", 0};
  cidr.cidrs = {"172.30.0.0/16", "fd30::/108"};
  expect_to_be_read_back_from_both(ObjectKind::ServiceCidr, cidr);
}

void expect_status_and_bookmark(Encoding encoding, const WireFormat& format) {
  const Result<ApiStatus> status =
      format.decode_status(status_body(encoding, too_large_version(9, 2)));
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(status->reason, "Timeout");
  EXPECT_EQ(status->code, 504);
  EXPECT_EQ(status->message, "Timeout: Too large resource version: 9, current: 2");
  EXPECT_EQ(status->causes.at(0).reason, "ResourceVersionTooLarge");

  const Resource& services = resource_of(ObjectKind::Service);
  const auto event =
      format.decode_event(ObjectKind::Service, bookmark_frame(encoding, services, 12, true));
  ASSERT_TRUE(event) << event.error().what;
  EXPECT_EQ(std::get<WatchEvent>(*event).resource_version, "12");
  EXPECT_TRUE(std::get<WatchEvent>(*event).ends_initial_events);

  const auto error =
      format.decode_event(ObjectKind::Service, error_frame(encoding, expired_watch(5, 91)));
  ASSERT_TRUE(error) << error.error().what;
  EXPECT_EQ(std::get<ApiStatus>(*error).message, "too old resource version: 5 (91)");
}

TEST(ObjectEncodingTest, WritesRefusalsAndBookmarksThatDecodersRead) {
  expect_status_and_bookmark(Encoding::Json, json_format());
  expect_status_and_bookmark(Encoding::Protobuf, protobuf_format());
}

// api-client.md, 18.1.
TEST(ObjectEncodingTest, WritesTheEnvelopeOfTheReference) {
  const std::string body = status_body(Encoding::Protobuf, unauthorized());
  const std::string start("k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12", 19);
  EXPECT_EQ(body.substr(0, start.size()), start);
  EXPECT_TRUE(body.ends_with(std::string("\x1a\x00\x22\x00", 4)));
}

}  // namespace
}  // namespace mkp::api
