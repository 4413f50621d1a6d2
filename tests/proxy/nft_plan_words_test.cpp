#include "proxy/nft_plan_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "proxy/nft_plan_text.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Frontend kNodePort{std::nullopt, Protocol::Tcp, 30080};

// What a dry run says in words, change after change.
class NftPlanWordsTest : public testing::Test {
 protected:
  std::string change_to(const RuleModel& model, const std::optional<NodeModel>& node = {}) {
    RuleDiff change = diff(applied_, model);
    change.node = node;
    NftChange planned = NftPlanner(settings_, live_).plan(change);
    const std::string text = plan_text(planned);
    settings_ = planned.settings;
    std::move(planned).acknowledge(live_);
    applied_ = model;
    return words_of(text);
  }
  std::string change_to(const ServicePort& web) { return change_to({{port_name("web"), web}}); }

  // The headings with words under them, and the words.
  static std::string words_of(const std::string& text) {
    std::istringstream lines(text);
    std::string words;
    std::string heading;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# ")) words += std::exchange(heading, "") + line + "\n";
      if (line.starts_with("Service ") || line == "All Services") heading = line + "\n";
    }
    return words;
  }

  // A Service port at a cluster IP and one frontend more.
  static ServicePort web(const Frontend& at, FrontendKind kind) {
    ServicePort port = cluster_port("172.30.0.10:80", {"10.180.0.2:8080", "10.180.1.3:8080"});
    port.frontends.push_back({at, kind});
    std::sort(port.frontends.begin(), port.frontends.end());
    return port;
  }
  static ServicePort external_local(std::vector<Endpoint> here) {
    ServicePort port = web(kNodePort, FrontendKind::NodePort);
    port.external_policy = TrafficPolicy::Local;
    port.endpoints.local = std::move(here);
    return port;
  }

  NftSettings settings_;
  LiveTable live_;
  RuleModel applied_;
};

TEST_F(NftPlanWordsTest, ANodePort) {
  EXPECT_EQ(change_to(web(kNodePort, FrontendKind::NodePort)),
            "Service default/web:http\n"
            "# node port 30080/TCP: new, to 10.180.0.2:8080 10.180.1.3:8080\n"
            "# ClusterIP 172.30.0.10:80/TCP: new, to 10.180.0.2:8080 10.180.1.3:8080\n");
  EXPECT_EQ(change_to(cluster_port("172.30.0.10:80", {"10.180.0.2:8080", "10.180.1.3:8080"})),
            "Service default/web:http\n"
            "# node port 30080/TCP: gone, was to 10.180.0.2:8080 10.180.1.3:8080\n");
}

TEST_F(NftPlanWordsTest, AnExternalIp) {
  EXPECT_THAT(
      change_to(web(frontend("192.0.2.1:80"), FrontendKind::ExternalIp)),
      HasSubstr("# external IP 192.0.2.1:80/TCP: new, to 10.180.0.2:8080 10.180.1.3:8080\n"));
}

TEST_F(NftPlanWordsTest, ALoadBalancerIpWithSourceRanges) {
  ServicePort port = web(frontend("198.51.100.1:80"), FrontendKind::LoadBalancerIp);
  port.allowed_sources = {prefix("203.0.113.0/24")};
  EXPECT_THAT(change_to(port),
              HasSubstr("# load-balancer IP 198.51.100.1:80/TCP: new, to 10.180.0.2:8080 "
                        "10.180.1.3:8080; loadBalancerSourceRanges: only from 203.0.113.0/24\n"));
  port.allowed_sources = {};
  EXPECT_EQ(
      change_to(port),
      "Service default/web:http\n"
      "# load-balancer IP 198.51.100.1:80/TCP: now to 10.180.0.2:8080 10.180.1.3:8080; was to "
      "10.180.0.2:8080 10.180.1.3:8080; loadBalancerSourceRanges: only from 203.0.113.0/24\n");
}

TEST_F(NftPlanWordsTest, AnExternalTrafficPolicyLocal) {
  EXPECT_THAT(change_to(external_local(endpoints({"10.180.0.2:8080"}))),
              HasSubstr("# node port 30080/TCP: new, externalTrafficPolicy Local, from outside to "
                        "10.180.0.2:8080, from pods and this node to 10.180.0.2:8080 "
                        "10.180.1.3:8080\n"));
  EXPECT_THAT(
      change_to(external_local({})),
      HasSubstr("now externalTrafficPolicy Local, from outside dropped as no endpoint is on "
                "this node, from pods and this node to 10.180.0.2:8080 10.180.1.3:8080"));
}

TEST_F(NftPlanWordsTest, AnInternalTrafficPolicyLocal) {
  ServicePort port = cluster_port("172.30.0.10:80", {});
  port.internal_policy = TrafficPolicy::Local;
  port.endpoints = {std::nullopt, endpoints({"10.180.0.2:8080"}), true};
  EXPECT_THAT(change_to(port), HasSubstr("new, internalTrafficPolicy Local, to 10.180.0.2:8080\n"));
  port.endpoints.local->clear();
  EXPECT_THAT(change_to(port),
              HasSubstr("now internalTrafficPolicy Local, no endpoint on this node: "
                        "connections are dropped; was"));
}

TEST_F(NftPlanWordsTest, TheFirstAndTheLastEndpoint) {
  change_to(cluster_port("172.30.0.10:80", {}));
  EXPECT_EQ(change_to(cluster_port("172.30.0.10:80", {"10.180.0.2:8080"})),
            "Service default/web:http\n"
            "# ClusterIP 172.30.0.10:80/TCP: now to 10.180.0.2:8080; was no endpoints: connections "
            "are rejected\n");
  EXPECT_THAT(change_to(cluster_port("172.30.0.10:80", {})),
              HasSubstr("now no endpoints: connections are rejected; was to 10.180.0.2:8080\n"));
}

TEST_F(NftPlanWordsTest, EndpointsOfTwentyAreNotAllListed) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back("10.180.0." + std::to_string(10 + i) + ":80");
  EXPECT_THAT(change_to(cluster_port("172.30.0.10:80", {texts.begin(), texts.end()})),
              HasSubstr("10.180.0.19:80 and 10 more\n"));
}

TEST_F(NftPlanWordsTest, SessionAffinity) {
  ServicePort port = cluster_port("172.30.0.10:80", {"10.180.0.2:8080"});
  change_to(port);
  port.affinity_seconds = 10800;
  EXPECT_EQ(change_to(port),
            "Service default/web:http\n"
            "# ClusterIP 172.30.0.10:80/TCP: now sessionAffinity ClientIP; was to 10.180.0.2:8080\n"
            "# sessionAffinity ClientIP: new, for 10800 s, to 10.180.0.2:8080\n");
  port.affinity_seconds = 60;
  EXPECT_EQ(change_to(port),
            "Service default/web:http\n"
            "# sessionAffinity ClientIP: for 60 s, to 10.180.0.2:8080\n");
  port.affinity_seconds.reset();
  EXPECT_THAT(change_to(port),
              HasSubstr("# sessionAffinity ClientIP: gone, clients are forgotten"));
}

TEST_F(NftPlanWordsTest, AFrontendThatPassesToAnotherService) {
  change_to({{port_name("old"), cluster_port("172.30.0.10:80", {})}});
  EXPECT_EQ(change_to({{port_name("new"), cluster_port("172.30.0.10:80", {})}}),
            "Service default/new:http\n"
            "# ClusterIP 172.30.0.10:80/TCP: taken over from default/old:http, as before\n");
}

TEST_F(NftPlanWordsTest, WhatHoldsForTheWholeNode) {
  NodeModel node;
  node.node_port_ips = {ip("192.168.0.1")};
  node.service_cidrs = {prefix("172.30.0.0/16")};
  node.local_pods.sources = {prefix("10.180.0.0/16")};
  EXPECT_EQ(change_to(applied_, node),
            "All Services\n"
            "# ServiceCIDRs: what is addressed to no Service in 172.30.0.0/16 is dropped\n"
            "# pods are told from other clients by their addresses within 10.180.0.0/16\n"
            "# node ports are open at 192.168.0.1\n");
  node.node_ports_anywhere = true;
  node.local_pods = {};
  node.local_pods.interface_prefix = "veth";
  EXPECT_THAT(
      change_to(applied_, node),
      AllOf(HasSubstr("node ports are open at every address of this node but loopback"),
            HasSubstr("pods are told from other clients by interfaces veth*"),
            HasSubstr("node ports are closed at 192.168.0.1"), Not(HasSubstr("ServiceCIDRs"))));
}

TEST_F(NftPlanWordsTest, MasqueradingOfAll) {
  settings_.masquerade_all = true;
  EXPECT_THAT(change_to(cluster_port("172.30.0.10:80", {"10.180.0.2:8080"})),
              HasSubstr("# masqueradeAll: every client of a cluster IP is masqueraded"));
}

}  // namespace
}  // namespace mkp
