#include <gtest/gtest.h>

#include "proxy/endpoint_changes.h"
#include "proxy/service_changes.h"

namespace mkp {
namespace {

std::shared_ptr<const Service> service(std::string cluster_ip, std::string resource_version) {
  Service made;
  made.metadata = {.name_space = "shop",
                   .name = "web",
                   .uid = "",
                   .resource_version = std::move(resource_version)};
  made.cluster_ip = std::move(cluster_ip);
  return std::make_shared<const Service>(std::move(made));
}

std::shared_ptr<const EndpointSlice> slice(std::string owner, std::string address,
                                           AddressType type = AddressType::Ipv4) {
  EndpointSlice made;
  made.metadata = {.name_space = "shop", .name = "web-1", .uid = "", .resource_version = "1"};
  made.service_name = std::move(owner);
  made.address_type = type;
  made.endpoints = {
      {.address = std::move(address), .node_name = "", .zone_hints = {}, .node_hints = {}}};
  return std::make_shared<const EndpointSlice>(std::move(made));
}

TEST(ServiceChangesTest, ManyEventsOfOneServiceAreOneChangeFromTheFirstStateToTheLast) {
  const auto first = service("172.30.0.1", "1");
  const auto second = service("172.30.0.2", "2");
  const auto third = service("172.30.0.3", "3");
  ServiceChanges changes;
  changes.note(first, second);
  changes.note(second, third);

  const std::vector<ServiceChange> taken = changes.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].previous, first);
  EXPECT_EQ(taken[0].current, third);
  EXPECT_TRUE(changes.empty());
}

TEST(ServiceChangesTest, AServiceThatEndsAsItBeganIsNoChange) {
  ServiceChanges changes;
  changes.note(service("172.30.0.1", "1"), service("172.30.0.2", "2"));
  changes.note(service("172.30.0.2", "2"), service("172.30.0.1", "3"));
  EXPECT_TRUE(changes.empty());
}

TEST(ServiceChangesTest, AServiceThatCameAndWentIsNoChange) {
  ServiceChanges changes;
  changes.note(nullptr, service("172.30.0.1", "1"));
  changes.note(service("172.30.0.1", "1"), nullptr);
  EXPECT_TRUE(changes.empty());
}

TEST(ServiceChangesTest, WhatAProxyDoesNotReadIsNoChange) {
  ServiceChanges changes;
  changes.note(service("172.30.0.1", "1"), service("172.30.0.1", "2"));
  EXPECT_TRUE(changes.empty());
}

TEST(EndpointChangesTest, ASliceThatMovesToAnotherServiceNamesBoth) {
  EndpointChanges changes;
  changes.note(slice("web", "10.180.0.2"), slice("api", "10.180.0.2"));
  const std::vector<EndpointChange> taken = changes.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].previous->service_name, "web");
  EXPECT_EQ(taken[0].current->service_name, "api");
}

TEST(EndpointChangesTest, ASliceOfNamesOrWithoutAnOwnerIsNoBusinessOfOurs) {
  EndpointChanges changes;
  changes.note(nullptr, slice("web", "example.org", AddressType::Fqdn));
  changes.note(nullptr, slice("", "10.180.0.2"));
  EXPECT_TRUE(changes.empty());
}

TEST(EndpointChangesTest, ASliceThatLosesItsOwnerIsADeletion) {
  EndpointChanges changes;
  changes.note(slice("web", "10.180.0.2"), slice("", "10.180.0.2"));
  const std::vector<EndpointChange> taken = changes.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].previous->service_name, "web");
  EXPECT_EQ(taken[0].current, nullptr);
}

}  // namespace
}  // namespace mkp
