// Random clusters on a kernel that refuses, is changed by others and outlives its daemon: whatever
// happens, rules end as a fresh start would make them, and no UDP flow to what is gone is missed.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "proxy/nft_adoption.h"
#include "proxy/udp_frontends.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/proxy/live_text.h"
#include "tests/proxy/random_cluster.h"

namespace mkp {
namespace {

constexpr int kClusters = 150;
constexpr int kEdits = 12;

const std::vector<IpFamily> kFamilies = {IpFamily::Ipv4, IpFamily::Ipv6};

// A flow that the rules once led there.
struct Led {
  IpAddress dialled;
  Frontend frontend;
  Endpoint endpoint;
  auto operator<=>(const Led&) const = default;
};

UdpFlow flow_of(const Led& led) {
  UdpFlow flow;
  flow.source = {led.endpoint.ip, 40000};
  flow.destination = {led.dialled, led.frontend.port};
  flow.reply_source = {led.endpoint.ip, led.endpoint.port};
  flow.reply_destination = flow.source;
  return flow;
}

// One family's flows, as clients with fixed source ports make them.
class Flows {
 public:
  void follow(const UdpChanges& changes) { frontends_.apply(changes); }
  // A new process knows no more than the rules that it finds: flows to endpoints that served on
  // while the rules led elsewhere are beyond it.
  void start_over(const Adoption& adoption) {
    frontends_ = UdpFrontends();
    std::erase_if(flows_, [&](const Led& led) {
      const std::vector<Endpoint> known = endpoints_of(adoption, led.frontend);
      return std::ranges::find(known, led.endpoint) == known.end();
    });
  }

  // Flows to what is no frontend any more must be found; what is found goes. Says what was missed.
  std::string visit(const Adoption& adoption, const NodeModel& node) {
    std::string missed;
    for (auto led = flows_.begin(); led != flows_.end();) {
      const bool stale = frontends_.is_stale(flow_of(*led));
      if (!leads(*led, adoption, node) && !(stale && frontends_.needs_visit())) {
        missed += to_text(led->frontend) + " -> " + to_text(led->endpoint) + "\n";
      }
      led = stale ? flows_.erase(led) : std::next(led);
    }
    frontends_.visited(frontends_.revision());
    return missed;
  }
  // New ones, to wherever the rules lead now.
  void begin(const Adoption& adoption, const NodeModel& node) {
    for (const auto& [frontend, state] : adoption.live.frontends) {
      if (frontend.protocol != Protocol::Udp) continue;
      if (!frontend.ip && node.node_port_ips.empty()) continue;
      const IpAddress dialled = frontend.ip ? *frontend.ip : node.node_port_ips.front();
      if (!frontend.ip && has_address(adoption, dialled, frontend.port)) continue;
      for (const Endpoint& endpoint : endpoints_of(adoption, frontend)) {
        flows_.insert({dialled, frontend, endpoint});
      }
    }
  }

 private:
  static std::vector<Endpoint> endpoints_of(const Adoption& adoption, const Frontend& frontend) {
    const auto state = adoption.live.frontends.find(frontend);
    if (state == adoption.live.frontends.end()) return {};
    std::vector<Endpoint> endpoints = state->second.endpoints();
    const auto sticky = adoption.live.affinity.find(state->second.affinity);
    if (sticky != adoption.live.affinity.end()) {
      const AffinityRules& rules = sticky->second;
      endpoints.insert(endpoints.end(), rules.cluster.begin(), rules.cluster.end());
    }
    return endpoints;
  }
  static bool has_address(const Adoption& adoption, const IpAddress& ip, std::uint16_t port) {
    return adoption.live.frontends.contains({ip, Protocol::Udp, port});
  }
  static bool leads(const Led& led, const Adoption& adoption, const NodeModel& node) {
    if (has_address(adoption, led.dialled, led.frontend.port)) return true;
    if (!adoption.live.frontends.contains(led.frontend)) return false;
    return led.frontend.ip ||
           std::ranges::find(node.node_port_ips, led.dialled) != node.node_port_ips.end();
  }

  UdpFrontends frontends_;
  std::set<Led> flows_;
};

class FaultyNode {
 public:
  explicit FaultyNode(std::uint32_t seed) : random_(seed), config_(random_.config()) {
    changes_ = random_.cluster().take();
    start();
  }

  // One sync, in which something may go wrong.
  Result<SyncReport> sync() {
    switch (random_.number(6)) {
      case 0:
        kernel_.object([](const nft::Operation&) { return ENOMEM; });
        break;
      case 1:
        kernel_.edit(IpFamily::Ipv4, "somebody-elses");
        break;
      case 2:
        config_.nftables.masquerade_all = random_.once_in(2);
        start();
        changes_ = random_.cluster().all();
        break;
      default:
        break;
    }
    Result<SyncReport> report = rules_->proxier().sync(std::move(changes_));
    for (const UdpChanges& one : rules_->proxier().take_udp_changes()) {
      flows_[static_cast<std::size_t>(one.family)].follow(one);
    }
    kernel_.object(nullptr);
    if (random_.once_in(3)) (void)rules_->proxier().cleanup();  // may be overtaken
    return report;
  }
  void edit() {
    random_.edit();
    changes_ = random_.cluster().take();
  }
  // What differs from a fresh start, and which flows are missed.
  std::string wrong() {
    nft::FakeNftables other;
    NodeRules fresh(other, config_, kFamilies, clock_);
    EXPECT_TRUE(fresh.proxier().sync(random_.cluster().all()));
    std::string wrong;
    for (const IpFamily family : kFamilies) {
      const NodeFacts& facts = random_.cluster().node();
      const NftSettings settings = live_settings(config_, facts, family);
      const auto ruleset = kernel_.dump(family, kTable).value();
      const std::string live = live_text(ruleset, settings);
      const std::string wanted = live_text(other.dump(family, kTable).value(), settings);
      if (live != wanted) wrong += live + "instead of\n" + wanted;
      const NodeModel node = node_model(config_, facts, family).model;
      Flows& flows = flows_[static_cast<std::size_t>(family)];
      const Adoption adoption = adopt(ruleset, settings);
      wrong += flows.visit(adoption, node);
      flows.begin(adoption, node);
    }
    return wrong;
  }

 private:
  void start() {
    rules_ = std::make_unique<NodeRules>(kernel_, config_, kFamilies, clock_);
    for (const IpFamily family : kFamilies) {
      const NftSettings settings = live_settings(config_, random_.cluster().node(), family);
      flows_[static_cast<std::size_t>(family)].start_over(
          adopt(kernel_.dump(family, kTable).value(), settings));
    }
  }

  RandomCluster random_;
  Config config_;
  FakeClock clock_;
  nft::FakeNftables kernel_;
  std::unique_ptr<NodeRules> rules_;
  ClusterChanges changes_;
  std::array<Flows, 2> flows_;
};

TEST(RandomFaultsTest, RulesAndFlowsEndAsTheyShould) {
  spdlog::set_level(spdlog::level::off);
  for (std::uint32_t seed = 0; seed < kClusters; ++seed) {
    FaultyNode node(seed);
    for (int edit = 0; edit < kEdits; ++edit) {
      if (node.sync()) {
        ASSERT_EQ(node.wrong(), "") << "seed " << seed << ", edit " << edit;
      }
      node.edit();
    }
  }
  spdlog::set_level(spdlog::level::info);
}

}  // namespace
}  // namespace mkp
