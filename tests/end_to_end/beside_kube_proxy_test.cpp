// The built program beside kube-proxy 1.37.2 on one real API server: whatever is changed there,
// the rules of both mean the same for every packet.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/cluster/control_plane.h"
#include "tests/end_to_end/compared_node.h"
#include "tests/end_to_end/program_run.h"
#include "tests/end_to_end/random_changes.h"
#include "tests/end_to_end/table_meaning.h"

namespace mkp {
namespace {

using cluster::ControlPlane;
using cluster::IsolatedNetwork;
using testing::HasSubstr;
using testing::Not;

// Of the changes; 1 unless the environment says otherwise.
std::uint32_t seed() {
  const char* given = std::getenv("MKP_SEED");
  return given ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : 1;
}

constexpr int kAtOnce = 5;  // changes between two comparisons
constexpr std::array kFamilies = {IpFamily::Ipv4, IpFamily::Ipv6};

// Endpoints of which nobody says on which node they are; see RandomChanges.
std::string endpoint_without_node(IpFamily family) {
  return family == IpFamily::Ipv4 ? "10.180.0.13" : "fd00:180::d";
}

// Who dials, but for the node itself: an endpoint on this node, one without a node, another pod,
// and hosts outside, of which one is within the source ranges that Services have.
Surroundings surroundings(IpFamily family) {
  if (family == IpFamily::Ipv4) {
    return {ComparedNode::address(family),
            {"10.180.0.2", endpoint_without_node(family), "10.180.0.200", "203.0.113.9",
             "192.168.7.7"}};
  }
  return {ComparedNode::address(family),
          {"fd00:180::2", endpoint_without_node(family), "fd00:180::c8", "2001:db8:77::9",
           "2001:db8:66::7"}};
}

// What kube-proxy's rules mean, but for what ours do otherwise on purpose:
//
// An endpoint without a node may be on this one. When it connects to itself through a Service we
// masquerade that, as its answer would never pass the node; kube-proxy does so only for endpoints
// that are said to be here.
TableMeaning as_we_see_it(TableMeaning theirs) {
  for (const IpFamily family : kFamilies) {
    const std::string client = endpoint_without_node(family);
    const std::string itself = family == IpFamily::Ipv4 ? "to " + client : "to [" + client + "]";
    for (auto& [line, fates] : theirs) {
      if (!line.ends_with(" from " + client)) continue;
      std::set<std::string> seen;
      for (std::string fate : fates) {
        const std::size_t end = std::min(fate.find(','), fate.size());
        const bool masqueraded = fate.find("masqueraded") != std::string::npos;
        if (fate.starts_with(itself + ":") && !masqueraded) fate.insert(end, ", masqueraded");
        seen.insert(std::move(fate));
      }
      fates = std::move(seen);
    }
  }
  return theirs;
}

std::string node_in(const char* zone) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}",
                          "labels":{{"topology.kubernetes.io/zone":"{}"}}}}}})",
                     ComparedNode::kName, zone);
}

// Server-side apply takes but one address of a type.
std::string node_addresses() {
  return fmt::format(R"({{"status":{{"addresses":[{{"type":"InternalIP","address":"{}"}},
                                                  {{"type":"InternalIP","address":"{}"}}]}}}})",
                     ComparedNode::address(IpFamily::Ipv4), ComparedNode::address(IpFamily::Ipv6));
}

// A Service and its slices that are changed last: who serves them as of that step has heard of
// everything before, as the events of one kind of object come in their order.
constexpr int kMarkerPort = 2000;  // and one more at each step
constexpr int kMarkedPort = 9000;

std::string marked_address(IpFamily family, int step) {
  if (family == IpFamily::Ipv4) return fmt::format("10.180.255.{}", 1 + step);
  return fmt::format("fd00:180::ff:{:x}", 1 + step);
}

bool shows_mark(const ListedTable& table, int step) {
  const std::string port = std::to_string(kMarkerPort + step);
  FrontendKeys marker;
  for (const auto& frontend : frontends_of(table)) {
    if (frontend.back() == port) marker.insert(frontend);
  }
  const Result<TableMeaning> meaning = meaning_of(table, marker, {"", {"a pod"}});
  if (!meaning || meaning->empty()) return false;
  const std::string& fate = *meaning->begin()->second.begin();
  const std::string address = marked_address(table.family(), step);
  return fate.starts_with(fmt::format("to {}:{}", address, kMarkedPort)) ||
         fate.starts_with(fmt::format("to [{}]:{}", address, kMarkedPort));
}

// How often a client met what, so that equal does not come to mean equally empty.
class Situations {
 public:
  void count(const TableMeaning& meaning) {
    for (const auto& [line, fates] : meaning) {
      for (auto& [name, times] : times_) {
        times += std::any_of(fates.begin(), fates.end(), [&](const std::string& fate) {
          return fate.find(name) != std::string::npos;
        });
      }
      times_["several"] += fates.size() > 1;
    }
  }
  void add(const Situations& other) {
    for (const auto& [name, times] : other.times_) times_[name] += times;
  }
  std::string text() const {
    std::string text;
    for (const auto& [name, times] : times_) text += fmt::format("{} {}\n", times, name);
    return text;
  }
  // Those that came up less than a hundred times.
  std::string missing() const {
    std::string names;
    for (const auto& [name, times] : times_) names += times < 100 ? name + " " : "";
    return names;
  }

 private:
  std::map<std::string, int> times_{{"several", 0},    {"to ", 0},  {"masqueraded", 0},
                                    {"remembered", 0}, {"drop", 0}, {"reject port-unreachable", 0},
                                    {"untouched", 0}};
};

class BesideKubeProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto cluster = ControlPlane::start();
    ASSERT_TRUE(cluster) << cluster.error().what;
    cluster_ = std::move(*cluster);
    auto ours = ComparedNode::make(*cluster_, "mini-kube-proxy");
    ASSERT_TRUE(ours) << ours.error().what;
    ours_ = std::make_unique<ComparedNode>(std::move(*ours));
    auto theirs = ComparedNode::make(*cluster_, "kube-proxy");
    ASSERT_TRUE(theirs) << theirs.error().what;
    theirs_ = std::make_unique<ComparedNode>(std::move(*theirs));
    apply(node_in("north"));
    const std::string node = cluster::object_path("Node", "", ComparedNode::kName);
    ASSERT_TRUE(cluster_->admin().patch(node + "/status", node_addresses()));
  }

  std::string config() const { return cluster_->file("proxy.yaml"); }
  void apply(const std::string& manifest) {
    const Result<> applied = cluster_->admin().apply(manifest);
    EXPECT_TRUE(applied) << applied.error().what;
  }

  // `settings`: lines of the configuration, beside what both need here.
  void start_both(const std::string& settings) {
    std::ofstream(config()) << "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                               "kind: KubeProxyConfiguration\n"
                               "mode: nftables\n"
                               "hostnameOverride: worker-1\n"
                               "conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s,"
                               " tcpCloseWaitTimeout: 0s}\n"
                               "clientConnection: {kubeconfig: "
                            << cluster_->proxy_kubeconfig() << "}\n"
                            << settings;
    {
      const IsolatedNetwork::Visit inside(ours_->network());
      daemon_ = std::make_unique<ProgramRun>(std::vector<std::string>{"--config", config()});
    }
    const IsolatedNetwork::Visit inside(theirs_->network());
    auto started =
        packets::RunningProgram::start({"setpriv", "--pdeathsig", "KILL", "--",
                                        cluster_->program("kube-proxy"), "--config", config()});
    ASSERT_TRUE(started) << started.error().what;
    kube_proxy_ = std::make_unique<packets::RunningProgram>(std::move(*started));
  }

  void mark(int step) {
    for (const IpFamily family : kFamilies) {
      SliceDraft slice;
      slice.name = fmt::format("mark-{}", to_text(family).back());
      slice.owner = "mark";
      slice.ipv6 = family == IpFamily::Ipv6;
      slice.ports = {{"mark", Protocol::Tcp, kMarkedPort}};
      slice.endpoints[marked_address(family, step)] = {};
      apply(to_manifest(slice));
    }
    ServiceDraft service;
    service.name = "mark";
    service.ports = {{"mark", Protocol::Tcp, kMarkerPort + step}};
    apply(to_manifest(service));
  }

  bool all_show_mark(int step) {
    for (ComparedNode* node : {ours_.get(), theirs_.get()}) {
      for (const IpFamily family : kFamilies) {
        const Result<ListedTable> table = node->table(family);
        if (!table || !shows_mark(*table, step)) return false;
      }
    }
    return true;
  }

  // Where the rules of both mean something else. Asks for all frontends that there are or were, but
  // for those that two Services claim: with us the older one has it, with kube-proxy now the one
  // and now the other. Once a single one claims it, both agree again.
  std::string compare(const FrontendKeys& contended) {
    std::string text;
    situations_ = {};
    for (const IpFamily family : kFamilies) {
      const Result<ListedTable> ours = ours_->table(family);
      const Result<ListedTable> theirs = theirs_->table(family);
      if (!ours || !theirs) return "a table cannot be listed";
      remember_frontends(*ours);
      remember_frontends(*theirs);
      FrontendKeys frontends = frontends_[family];
      std::erase_if(frontends, [&](const auto& key) { return contended.contains(key); });
      const auto one = meaning_of(*ours, frontends, surroundings(family));
      const auto other = meaning_of(*theirs, frontends, surroundings(family));
      if (!one) return one.error().what;
      if (!other) return other.error().what;
      text += differences(*one, as_we_see_it(*other));
      situations_.count(*other);
    }
    return text;
  }

  void remember_frontends(const ListedTable& table) {
    FrontendKeys& frontends = frontends_[table.family()];
    for (const std::vector<std::string>& frontend : frontends_of(table)) {
      frontends.insert(frontend);
      if (frontend.size() == 3) {
        frontends.insert({frontend[0], frontend[1], "7"});  // a port that no Service has
        continue;
      }
      // A node port where it is none: at loopback, and at another host.
      const bool ipv4 = table.family() == IpFamily::Ipv4;
      for (const char* ip : {ipv4 ? "127.0.0.1" : "::1", ipv4 ? "10.20.77.1" : "fd20::77"}) {
        frontends.insert({ip, frontend[0], frontend[1]});
      }
    }
  }

  bool both_show_mark(int step) {
    const auto shown = [&] {
      const bool ours = ours_->has_changed();
      return (theirs_->has_changed() || ours) && all_show_mark(step);
    };
    return eventually(shown, std::chrono::seconds(30)) || all_show_mark(step);
  }

  // What both disagree about once they have heard of that step.
  std::string disagreement(int step, const FrontendKeys& contended) {
    if (!both_show_mark(step)) return "the mark does not show";
    std::string text;
    eventually([&] { return (text = compare(contended)).empty(); }, std::chrono::seconds(5));
    return text;
  }

  void follow(int count) {
    mark(0);
    ASSERT_TRUE(both_show_mark(0)) << daemon_->standard_error() << kube_proxy_->said();
    RandomChanges changes(cluster_->admin(), seed());
    for (int step = 1; step <= count / kAtOnce; ++step) {
      std::string made;
      for (int i = 0; i < kAtOnce; ++i) {
        const Result<std::string> change = changes.next();
        ASSERT_TRUE(change) << change.error().what;
        made += *change + "\n";
      }
      // The first time kube-proxy needs it: it writes the rules of ServiceCIDRs that it hears of
      // after its first sync with its next full one, which only another zone brings on.
      if (step % 20 == 1) apply(node_in(step % 40 == 1 ? "south" : "north"));
      mark(step);
      ASSERT_EQ(disagreement(step, changes.contended()), "")
          << "seed " << seed() << ", step " << step << "; ours first, then kube-proxy's, after\n"
          << made;
      met_.add(situations_);
    }
    std::cout << met_.text();
    EXPECT_THAT(daemon_->standard_error(), Not(HasSubstr("level=error")));
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait(), 0);
  }

  std::unique_ptr<ControlPlane> cluster_;
  std::unique_ptr<ComparedNode> ours_, theirs_;
  std::unique_ptr<ProgramRun> daemon_;
  std::unique_ptr<packets::RunningProgram> kube_proxy_;
  // An address of either family that no Service has, and what tables spoke of since.
  std::map<IpFamily, FrontendKeys> frontends_{{IpFamily::Ipv4, {{"10.111.222.3", "tcp", "80"}}},
                                              {IpFamily::Ipv6, {{"fd96::d:ead", "tcp", "80"}}}};
  Situations situations_;  // of the last comparison
  Situations met_;         // in all
};

TEST_F(BesideKubeProxyTest, LeadsEveryFrontendWhereKubeProxyDoesThroughRandomChanges) {
  start_both(
      "clusterCIDR: 10.180.0.0/16,fd00:180::/64\n"
      "nodePortAddresses: [primary]\n"
      "nftables: {minSyncPeriod: 10ms}\n");
  follow(500);
  EXPECT_EQ(met_.missing(), "");
}

TEST_F(BesideKubeProxyTest, DoesSoWhereEveryAddressAnswersOnNodePortsAndAllIsMasqueraded) {
  start_both(
      "nodePortAddresses: [0.0.0.0/0, '::/0']\n"
      "nftables: {minSyncPeriod: 10ms, masqueradeAll: true}\n");
  follow(100);
}

}  // namespace
}  // namespace mkp
