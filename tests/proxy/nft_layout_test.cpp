#include "proxy/nft_layout.h"

#include <gtest/gtest.h>

#include <sstream>

#include "proxy/nft_plan_text.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

// Plans against a live table that starts empty and becomes what each plan says, as if the kernel
// took it all.
class NftLayoutTest : public testing::Test {
 protected:
  // What an empty live table needs first is another's business: only Services are looked at here.
  std::string change_to(const RuleModel& model) {
    NftChange change = NftPlanner(settings_, live_).plan(diff(applied_, model));
    std::string text = operations_of(plan_text(change));
    std::move(change).acknowledge(live_);
    applied_ = model;
    return text;
  }
  // A plan's text without what it says in words.
  static std::string operations_of(const std::string& text) {
    std::istringstream lines(text);
    std::string operations;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) operations += line + "\n";
    }
    return operations;
  }
  std::string clean_up() {
    NftChange change = NftPlanner(settings_, live_).plan_cleanup();
    std::string text = plan_text(change);
    std::move(change).acknowledge(live_);
    return text;
  }
  static RuleModel web(const std::vector<std::string_view>& to) {
    return {{port_name("web"), cluster_port("172.30.0.10:80", to)}};
  }

  NftLayoutTest() { settings_.local_pods.sources = {prefix("10.180.0.0/16")}; }

  NftSettings settings_;
  LiveTable live_;
  RuleModel applied_;
};

TEST_F(NftLayoutTest, AServiceWithOneEndpointIsAVerdictASlotAndAClusterIp) {
  EXPECT_EQ(change_to(web({"10.180.0.2:8080"})),
            "All Services\n"
            "+ chain ip mini-kube-proxy cluster-1\n"
            "+ chain ip mini-kube-proxy internal-cluster-1\n"
            "+ rule ip mini-kube-proxy cluster-1 dnat ip to ip daddr . meta l4proto . th dport . "
            "numgen random mod 1 map @cluster-endpoints\n"
            "+ rule ip mini-kube-proxy internal-cluster-1 ip saddr != 10.180.0.0/16 jump "
            "mark-for-masquerade\n"
            "+ rule ip mini-kube-proxy internal-cluster-1 goto cluster-1\n"
            "Service default/web:http\n"
            "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 0 : "
            "10.180.0.2 . 8080 }\n"
            "+ element ip mini-kube-proxy cluster-ips { 172.30.0.10 }\n"
            "+ element ip mini-kube-proxy services { 172.30.0.10 . tcp . 80 comment "
            "\"default/web:http\" : goto internal-cluster-1 }\n");
}

TEST_F(NftLayoutTest, OneEndpointMoreIsOneElementMore) {
  change_to(web({"10.180.0.2:8080", "10.180.0.3:8080"}));
  EXPECT_EQ(change_to(web({"10.180.0.2:8080", "10.180.0.3:8080", "10.180.0.4:8080"})),
            "Service default/web:http\n"
            "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 2 : "
            "10.180.0.4 . 8080 }\n");
}

TEST_F(NftLayoutTest, AnEndpointInAnothersPlaceIsOneElementLessAndOneMore) {
  change_to(web({"10.180.0.2:8080", "10.180.0.3:8080"}));
  EXPECT_EQ(change_to(web({"10.180.0.2:8080", "10.180.0.9:8080"})),
            "Service default/web:http\n"
            "- element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.3 . 8080 }\n"
            "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.9 . 8080 }\n");
}

TEST_F(NftLayoutTest, TheLastEndpointGoneMeansReject) {
  change_to(web({"10.180.0.2:8080"}));
  EXPECT_EQ(change_to(web({})),
            "Service default/web:http\n"
            "- element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 0 : "
            "10.180.0.2 . 8080 }\n"
            "- element ip mini-kube-proxy services { 172.30.0.10 . tcp . 80 comment "
            "\"default/web:http\" : goto internal-cluster-1 }\n"
            "+ element ip mini-kube-proxy reject-services { 172.30.0.10 . tcp . 80 comment "
            "\"default/web:http\" }\n");
}

TEST_F(NftLayoutTest, AClusterIpOfTwoPortsGoesWithTheLastOfThem) {
  const ServicePortName other{{"default", "web"}, "https", Protocol::Tcp};
  RuleModel both = web({});
  both[other] = cluster_port("172.30.0.10:443", {});
  change_to(both);
  EXPECT_EQ(change_to(web({})),
            "Service default/web:https\n"
            "- element ip mini-kube-proxy reject-services { 172.30.0.10 . tcp . 443 comment "
            "\"default/web:https\" }\n");
  EXPECT_EQ(change_to({}),
            "Service default/web:http\n"
            "- element ip mini-kube-proxy cluster-ips { 172.30.0.10 }\n"
            "- element ip mini-kube-proxy reject-services { 172.30.0.10 . tcp . 80 comment "
            "\"default/web:http\" }\n");
}

TEST_F(NftLayoutTest, AFrontendThatPassesToAnotherServiceIsReplacedInOneTransaction) {
  change_to({{port_name("old"), cluster_port("172.30.0.10:80", {})}});
  EXPECT_EQ(change_to({{port_name("new"), cluster_port("172.30.0.10:80", {})}}),
            "Service default/new:http\n"
            "- element ip mini-kube-proxy reject-services { 172.30.0.10 . tcp . 80 comment "
            "\"default/old:http\" }\n"
            "+ element ip mini-kube-proxy reject-services { 172.30.0.10 . tcp . 80 comment "
            "\"default/new:http\" }\n");
}

TEST_F(NftLayoutTest, AHairpinAddressStaysAsLongAsOneServicePortWantsIt) {
  const auto model = [](const std::vector<IpAddress>& web, const std::vector<IpAddress>& api) {
    RuleModel both;
    both[port_name("api")].hairpin = api;
    both[port_name("web")].hairpin = web;
    return both;
  };
  EXPECT_EQ(change_to(model({ip("10.180.0.2")}, {ip("10.180.0.2")})),
            "Service default/web:http\n"
            "+ element ip mini-kube-proxy hairpin { 10.180.0.2 . 10.180.0.2 }\n");
  EXPECT_EQ(change_to(model({}, {ip("10.180.0.2")})), "");
  EXPECT_EQ(change_to(model({}, {})),
            "Service default/api:http\n"
            "- element ip mini-kube-proxy hairpin { 10.180.0.2 . 10.180.0.2 }\n");
}

TEST_F(NftLayoutTest, ChainsThatNobodyUsesAreRemovedByACleanUpOnly) {
  change_to(web({"10.180.0.2:8080"}));
  EXPECT_EQ(clean_up(), "");
  change_to({});
  EXPECT_EQ(clean_up(),
            "All Services\n"
            "- flush chain ip mini-kube-proxy internal-cluster-1\n"
            "- chain ip mini-kube-proxy internal-cluster-1\n"
            "- flush chain ip mini-kube-proxy cluster-1\n"
            "- chain ip mini-kube-proxy cluster-1\n");
  EXPECT_EQ(clean_up(), "");
}

TEST_F(NftLayoutTest, AChainThatIsWantedAgainIsNotMadeAgain) {
  change_to(web({"10.180.0.2:8080"}));
  change_to({});
  EXPECT_EQ(change_to(web({"10.180.0.2:8080"})).find("chain"), std::string::npos);
  EXPECT_EQ(clean_up(), "");
}

TEST_F(NftLayoutTest, AnOutgrownSlotTableChangesTheVerdictAndKeepsTheSeats) {
  change_to(web({"10.180.0.2:8080"}));
  const std::string text = change_to(web({"10.180.0.2:8080", "10.180.0.3:8080"}));
  EXPECT_EQ(text.substr(text.find("Service default")),
            "Service default/web:http\n"
            "- element ip mini-kube-proxy services { 172.30.0.10 . tcp . 80 comment "
            "\"default/web:http\" : goto internal-cluster-1 }\n"
            "+ element ip mini-kube-proxy cluster-endpoints { 172.30.0.10 . tcp . 80 . 1 : "
            "10.180.0.3 . 8080 }\n"
            "+ element ip mini-kube-proxy services { 172.30.0.10 . tcp . 80 comment "
            "\"default/web:http\" : goto internal-cluster-4 }\n");
}

}  // namespace
}  // namespace mkp
