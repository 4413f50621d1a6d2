#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "tests/packets/proxied_node.h"

namespace mkp::packets {
namespace {

// So many that chance alone keeps each endpoint within 3 % of its share: that is 5 standard
// deviations.
constexpr std::size_t kFlows = 200'000;
constexpr std::size_t kPortsOfAClient = 50'000;
constexpr double kTolerance = 0.03;

constexpr const char* kPort = "[{name: p, protocol: UDP, port: 80}]";

class Distribution : public ProxiedNode {
 protected:
  Distribution() : ProxiedNode(Following::RunOnce) {}

  static std::vector<std::string> pods(std::size_t count) {
    std::vector<std::string> addresses;
    addresses.reserve(count);
    for (std::size_t pod = 1; pod <= count; ++pod) {
      addresses.push_back(fmt::format("10.64.2.{}", pod));
    }
    return addresses;
  }

  // A UDP flow from each of so many source ports to the Service's cluster IP.
  static std::vector<Packet> flows() {
    std::vector<Packet> all;
    all.reserve(kFlows);
    for (std::size_t flow = 0; flow < kFlows; ++flow) {
      const std::size_t client = flow / kPortsOfAClient;
      const auto port = static_cast<std::uint16_t>(10'000 + flow % kPortsOfAClient);
      all.push_back({.transport = Transport::Udp,
                     .source = {ip(fmt::format("10.64.7.{}", client + 1)), port},
                     .destination = {ip("10.96.0.10"), 80},
                     .tag = static_cast<std::uint32_t>(flow + 1)});
    }
    return all;
  }

  // How many flows each address got.
  std::map<std::string, std::size_t> counts() {
    const Result<std::vector<Seen>> seen = node_->send_from_pods(flows());
    EXPECT_TRUE(seen) << seen.error().what;
    std::map<std::string, std::size_t> counted;
    if (!seen) return counted;
    for (const Seen& one : *seen) {
      if (one.sighting.kind != Sighting::Kind::Sentinel)
        ++counted[to_text(one.sighting.packet.destination)];
    }
    return counted;
  }

  void expect_even(const std::vector<std::string>& endpoints) {
    const std::map<std::string, std::size_t> counted = counts();
    const double share = static_cast<double>(kFlows) / static_cast<double>(endpoints.size());
    std::size_t arrived = 0;
    for (const std::string& endpoint : endpoints) {
      const auto found = counted.find(endpoint + ":8080");
      const std::size_t got = found == counted.end() ? 0 : found->second;
      EXPECT_NEAR(static_cast<double>(got), share, kTolerance * share) << endpoint;
      arrived += got;
    }
    EXPECT_EQ(arrived, kFlows) << "flows were lost, or went elsewhere";
    EXPECT_EQ(counted.size(), endpoints.size());
  }

  void give(const std::vector<std::string>& endpoints) {
    write_service("web", "10.96.0.10", kPort);
    write_slice("web", "[{name: p, protocol: UDP, port: 8080}]", endpoints);
    sync();
  }
};

TEST_F(Distribution, OverSevenEndpointsIsEven) {
  give(pods(7));
  expect_even(pods(7));
}

TEST_F(Distribution, OverSixThatAreLeftOfTwelveIsEven) {
  give(pods(12));
  give(pods(6));
  expect_even(pods(6));
}

// The emptiest table that keeps its size: a packet finds nine of sixteen slots empty.
TEST_F(Distribution, OverSevenThatAreLeftOfSixteenSlotsIsEven) {
  give(pods(12));
  give(pods(7));
  EXPECT_TRUE(run_program({"nft", "list chain ip mini-kube-proxy cluster-16"}));
  expect_even(pods(7));
}

}  // namespace
}  // namespace mkp::packets
