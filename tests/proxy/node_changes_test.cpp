// What of this node changed since the last sync.
#include "proxy/node_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

Node node_a() {
  Node made;
  made.metadata.name = "node-a";
  made.zone = "za";
  made.pod_cidrs = {"10.180.7.0/24"};
  made.internal_ips = {"192.168.0.10", "fd00:192::10"};
  made.external_ips = {"203.0.113.10"};
  return made;
}

class NodeChangesTest : public testing::Test {
 protected:
  // As an informer would tell of it.
  void become(const Node& node) {
    const auto after = std::make_shared<const Node>(node);
    changes_.note(std::exchange(node_, after), after);
  }
  void become(const std::string& name, const Texts& cidrs) {
    ServiceCidr made;
    made.metadata.name = name;
    made.cidrs = cidrs;
    const auto after = std::make_shared<const ServiceCidr>(made);
    changes_.note(std::exchange(ranges_[name], after), after);
  }
  void delete_range(const std::string& name) {
    changes_.note(std::exchange(ranges_[name], nullptr), nullptr);
  }

  // What is known after a change, which there must have been.
  NodeFacts news() {
    const std::shared_ptr<const NodeFacts> facts = changes_.take();
    EXPECT_NE(facts, nullptr);
    return facts ? *facts : NodeFacts{};
  }
  bool changed() { return changes_.take() != nullptr; }
  std::string own_ips_with(std::optional<IpAddress> bind_address) {
    NodeChanges changes("node-a", bind_address);
    changes.note(nullptr, std::make_shared<const Node>(node_a()));
    return joined(changes.take()->node.ips);
  }

  NodeChanges changes_{"node-a", std::nullopt};
  std::shared_ptr<const Node> node_;
  std::map<std::string, std::shared_ptr<const ServiceCidr>> ranges_;
};

TEST_F(NodeChangesTest, TheNameIsNewsToTheFirstSyncAlone) {
  EXPECT_FALSE(changes_.empty());
  EXPECT_EQ(news().node.name, "node-a");
  EXPECT_TRUE(changes_.empty());
  EXPECT_FALSE(changed());
}

// --- the Node object ---

TEST_F(NodeChangesTest, ANodeTellsItsZoneItsPodCidrsAndItsAddresses) {
  become(node_a());
  const NodeFacts facts = news();
  EXPECT_EQ(facts.node.zone, "za");
  EXPECT_EQ(joined(facts.node.pod_cidrs), "10.180.7.0/24");
  EXPECT_EQ(joined(facts.node.ips), "192.168.0.10 fd00:192::10 203.0.113.10");
}

TEST_F(NodeChangesTest, WhatAProxyDoesNotReadOfANodeIsNoChange) {
  become(node_a());
  news();
  Node other = node_a();
  other.metadata.resource_version = "2";
  other.taint_keys = {"node.kubernetes.io/unschedulable"};
  other.deleting = true;
  become(other);
  EXPECT_TRUE(changes_.empty());
  EXPECT_FALSE(changed());
}

TEST_F(NodeChangesTest, PodCidrsMayComeLaterAndChange) {
  Node fresh = node_a();
  fresh.pod_cidrs = {};
  become(fresh);
  EXPECT_FALSE(changes_.knows_pod_cidrs());
  news();
  become(node_a());
  EXPECT_TRUE(changes_.knows_pod_cidrs());
  EXPECT_EQ(joined(news().node.pod_cidrs), "10.180.7.0/24");
  Node moved = node_a();
  moved.pod_cidrs = {"10.180.8.0/24", "fd00:180:8::/64"};
  become(moved);
  EXPECT_EQ(joined(news().node.pod_cidrs), "10.180.8.0/24 fd00:180:8::/64");
}

TEST_F(NodeChangesTest, APodCidrThatIsNoneIsPassedOver) {
  Node odd = node_a();
  odd.pod_cidrs = {"10.180.7.0", "fd00:180:7::/64"};
  become(odd);
  EXPECT_EQ(joined(news().node.pod_cidrs), "fd00:180:7::/64");
}

TEST_F(NodeChangesTest, AnAddressThatIsNoneIsPassedOver) {
  Node odd = node_a();
  odd.internal_ips = {"node-a.example.org", "192.168.000.010"};
  become(odd);
  EXPECT_EQ(joined(news().node.ips), "192.168.0.10 203.0.113.10");
}

TEST_F(NodeChangesTest, ANodeThatGoesAndComesBackTheSameIsNoChange) {
  become(node_a());
  news();
  changes_.note(std::exchange(node_, nullptr), nullptr);
  EXPECT_TRUE(changes_.empty());
  become(node_a());
  EXPECT_TRUE(changes_.empty());
}

TEST_F(NodeChangesTest, AnotherNodeIsNoBusinessOfOurs) {
  news();
  Node other = node_a();
  other.metadata.name = "node-b";
  become(other);
  EXPECT_TRUE(changes_.empty());
}

TEST_F(NodeChangesTest, ABindAddressGoesBeforeTheNodesOwnUnlessItIsUnspecified) {
  EXPECT_EQ(own_ips_with(ip("192.168.0.99")),
            "192.168.0.99 192.168.0.10 fd00:192::10 203.0.113.10");
  EXPECT_EQ(own_ips_with(ip("0.0.0.0")), "192.168.0.10 fd00:192::10 203.0.113.10");
  EXPECT_EQ(own_ips_with(ip("::")), "192.168.0.10 fd00:192::10 203.0.113.10");
}

TEST_F(NodeChangesTest, ABindAddressIsKnownBeforeTheNodeIs) {
  NodeChanges changes("node-a", ip("192.168.0.99"));
  EXPECT_EQ(joined(changes.take()->node.ips), "192.168.0.99");
}

// --- ServiceCIDRs ---

TEST_F(NodeChangesTest, RangesComeAndGoWithTheirObjects) {
  become("kubernetes", {"172.30.0.0/16", "fd00:30::/112"});
  become("more", {"172.31.0.0/16"});
  EXPECT_EQ(joined(news().service_cidrs), "172.30.0.0/16 fd00:30::/112 172.31.0.0/16");
  delete_range("kubernetes");
  EXPECT_EQ(joined(news().service_cidrs), "172.31.0.0/16");
}

TEST_F(NodeChangesTest, ARangeOfTwoObjectsOutlivesOneOfThem) {
  become("kubernetes", {"172.30.0.0/16"});
  become("copy", {"172.30.0.0/16"});
  news();
  delete_range("copy");
  EXPECT_EQ(joined(news().service_cidrs), "172.30.0.0/16");
  delete_range("kubernetes");
  EXPECT_EQ(joined(news().service_cidrs), "-");
}

TEST_F(NodeChangesTest, ARangeThatIsRemovedBeforeASyncIsNotToldOf) {
  news();
  become("more", {"172.31.0.0/16"});
  delete_range("more");
  EXPECT_THAT(news().service_cidrs, IsEmpty());
}

TEST_F(NodeChangesTest, AnObjectThatStaysTheSameIsNoChange) {
  become("kubernetes", {"172.30.0.0/16"});
  news();
  become("kubernetes", {"172.30.0.0/16"});
  EXPECT_TRUE(changes_.empty());
}

TEST_F(NodeChangesTest, ARangeThatIsNoneOrIsEverythingIsPassedOver) {
  become("odd", {"172.30.0.0", "0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", "172.31.0.0/16"});
  EXPECT_EQ(joined(news().service_cidrs), "172.31.0.0/16");
}

TEST_F(NodeChangesTest, RangesSurviveAChangeOfTheNodeAndItsAddressesToo) {
  become("kubernetes", {"172.30.0.0/16"});
  changes_.note_addresses({ip("192.168.0.10")});
  become(node_a());
  const NodeFacts facts = news();
  EXPECT_EQ(joined(facts.service_cidrs), "172.30.0.0/16");
  EXPECT_EQ(joined(facts.addresses), "192.168.0.10");
}

// --- addresses of interfaces ---

TEST_F(NodeChangesTest, AddressesAreNewsOnlyWhenTheyDiffer) {
  changes_.note_addresses({ip("127.0.0.1"), ip("192.168.0.10")});
  EXPECT_THAT(news().addresses, ElementsAre(ip("127.0.0.1"), ip("192.168.0.10")));
  changes_.note_addresses({ip("127.0.0.1"), ip("192.168.0.10")});
  EXPECT_TRUE(changes_.empty());
  changes_.note_addresses({ip("127.0.0.1")});
  EXPECT_THAT(news().addresses, ElementsAre(ip("127.0.0.1")));
}

}  // namespace
}  // namespace mkp
