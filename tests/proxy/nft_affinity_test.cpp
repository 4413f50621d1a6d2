#include "proxy/nft_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "netlink/nft_text.h"
#include "proxy/nft_elements.h"
#include "proxy/node_rules.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/proxy/rule_literals.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string text_of(const std::vector<nft::Ruleset::ChainState>& chains, IpFamily family) {
  std::string text;
  for (const nft::Ruleset::ChainState& state : chains) {
    text += state.chain.name + "\n";
    for (const nft::Rule& rule : state.rules) text += "  " + nft::to_text(rule, family) + "\n";
  }
  return text;
}

TEST(NftAffinityTest, AServicePortHasAChainForItsListAndAChainAndASetForEachEndpoint) {
  const AffinityRules rules{
      Protocol::Tcp,          10800, endpoints({"10.180.0.2:8080", "10.180.0.3:8080"}), {},
      TrafficPolicy::Cluster, true};
  NftSettings settings;
  settings.local_pods.sources = {prefix("10.180.0.0/16")};
  EXPECT_EQ(text_of(affinity_chains(settings, "shop/web/tcp/http", rules), IpFamily::Ipv4),
            "endpoint-shop/web/tcp/http__10.180.0.2/8080\n"
            "  update @affinity-shop/web/tcp/http__10.180.0.2/8080 { ip saddr timeout 3h }\n"
            "  meta l4proto tcp dnat to 10.180.0.2:8080\n"
            "endpoint-shop/web/tcp/http__10.180.0.3/8080\n"
            "  update @affinity-shop/web/tcp/http__10.180.0.3/8080 { ip saddr timeout 3h }\n"
            "  meta l4proto tcp dnat to 10.180.0.3:8080\n"
            "affinity-cluster-shop/web/tcp/http\n"
            "  ip saddr @affinity-shop/web/tcp/http__10.180.0.2/8080 goto "
            "endpoint-shop/web/tcp/http__10.180.0.2/8080\n"
            "  ip saddr @affinity-shop/web/tcp/http__10.180.0.3/8080 goto "
            "endpoint-shop/web/tcp/http__10.180.0.3/8080\n"
            "  numgen random mod 2 0 goto endpoint-shop/web/tcp/http__10.180.0.2/8080\n"
            "  goto endpoint-shop/web/tcp/http__10.180.0.3/8080\n"
            "affinity-internal-shop/web/tcp/http\n"
            "  ip saddr != 10.180.0.0/16 jump mark-for-masquerade\n"
            "  goto affinity-cluster-shop/web/tcp/http\n"
            "affinity-external-shop/web/tcp/http\n"
            "  jump mark-for-masquerade\n"
            "  goto affinity-cluster-shop/web/tcp/http\n");
}

TEST(NftAffinityTest, AnIpv6EndpointHasNoColonsInItsNames) {
  const AffinityRules rules{Protocol::Udp, 5, endpoints({"[fd00::7]:53"}), {}, std::nullopt, false};
  NftSettings settings;
  settings.family = IpFamily::Ipv6;
  EXPECT_THAT(text_of(affinity_chains(settings, "shop/dns/udp/", rules), IpFamily::Ipv6),
              HasSubstr("endpoint-shop/dns/udp/__fd00..7/53\n"
                        "  update @affinity-shop/dns/udp/__fd00..7/53 { ip6 saddr timeout 5s }\n"
                        "  meta l4proto udp dnat to [fd00::7]:53\n"));
}

TEST(NftAffinityTest, NamesThatAreTooLongAreCutAndStayUnique) {
  ServicePortName one{{std::string(63, 'n'), std::string(63, 's')}, std::string(63, 'p')};
  ServicePortName two = one;
  two.port.back() = 'q';
  EXPECT_LE(affinity_name(one).size(), 180U);
  EXPECT_NE(affinity_name(one), affinity_name(two));
  EXPECT_EQ(affinity_name(one), affinity_name(one));
}

TEST(NftAffinityTest, ANameTellsWhoseItIs) {
  for (const ServicePortName& port : {ServicePortName{{"shop", "web"}, "http", Protocol::Tcp},
                                      ServicePortName{{"shop", "web"}, "", Protocol::Udp}}) {
    EXPECT_EQ(affinity_owner(affinity_name(port)), to_text(port));
  }
}

TEST(NftAffinityTest, APortThatLeadsNowhereHasNoChains) {
  ServicePort port = cluster_port("172.30.0.10:80", {});
  port.affinity_seconds = 10;
  EXPECT_EQ(affinity_rules(port, Protocol::Tcp), std::nullopt);
  port = cluster_port("172.30.0.10:80", {"10.180.0.2:80"});
  EXPECT_EQ(affinity_rules(port, Protocol::Tcp), std::nullopt);
}

// Clients are put into the kernel's sets here, as its rules would do it.
class AffinityMemoryTest : public testing::Test {
 protected:
  AffinityMemoryTest() {
    start();
    put_service(10800);
    cluster_.put_slice("web", {"10.180.0.2", "10.180.0.3"});
    sync();
    nft::FakeNftables::Table& table = kernel_.edit(IpFamily::Ipv4, kTable);
    for (const char* endpoint : {"10.180.0.2", "10.180.0.3"}) {
      const nft::Bytes client = address_key(ip("203.0.113.7"));
      table.find_set(set_of(endpoint))->elements[client] = {client, {}, ""};
    }
    sync();  // has seen that
  }

  static std::string set_of(const std::string& endpoint) {
    return "affinity-default/web/tcp/http__" + endpoint + "/8080";
  }
  void start() {
    rules_ = std::make_unique<NodeRules>(kernel_, config_, std::vector{IpFamily::Ipv4}, clock_);
  }
  void restart() {
    start();
    (void)cluster_.take();
    const auto report = rules_->proxier().sync(cluster_.all());
    ASSERT_TRUE(report) << report.error().what;
  }
  void sync() {
    const auto report = rules_->proxier().sync(cluster_.take());
    ASSERT_TRUE(report) << report.error().what;
  }
  void put_service(std::int32_t seconds) {
    auto service = std::make_shared<Service>();
    service->metadata.name_space = "default";
    service->metadata.name = "web";
    service->cluster_ip = "172.30.0.10";
    service->cluster_ips = {"172.30.0.10"};
    service->ip_families = {AddressType::Ipv4};
    service->ports = {{.name = "http", .protocol = Protocol::Tcp, .port = 80, .node_port = 0}};
    service->client_ip_affinity_seconds = seconds;
    cluster_.put(service);
  }
  // The endpoints that remember somebody.
  std::set<std::string> remembering() {
    std::set<std::string> endpoints;
    for (const char* endpoint : {"10.180.0.2", "10.180.0.3", "10.180.0.4"}) {
      if (kernel_.element_count(IpFamily::Ipv4, kTable, set_of(endpoint)) == 1) {
        endpoints.insert(endpoint);
      }
    }
    return endpoints;
  }

  Config config_;
  FakeClock clock_;
  nft::FakeNftables kernel_;
  SmallCluster cluster_;
  std::unique_ptr<NodeRules> rules_;
};

TEST_F(AffinityMemoryTest, OutlivesEndpointsThatCome) {
  cluster_.put_slice("web", {"10.180.0.2", "10.180.0.3", "10.180.0.4"});
  sync();
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.2", "10.180.0.3"));
}

TEST_F(AffinityMemoryTest, GoesWithItsEndpointAlone) {
  cluster_.put_slice("web", {"10.180.0.3", "10.180.0.4"});
  sync();
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.3"));
}

TEST_F(AffinityMemoryTest, OutlivesARestartThatSendsNothing) {
  kernel_.reset_counters();
  restart();
  EXPECT_EQ(kernel_.counters().commits, 0U);
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.2", "10.180.0.3"));
}

TEST_F(AffinityMemoryTest, OutlivesARestartWithOtherSettings) {
  config_.cluster_cidr = {prefix("10.180.0.0/16")};
  restart();
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.2", "10.180.0.3"));
}

TEST_F(AffinityMemoryTest, IsAdoptedAsItIsUnderOtherSettings) {
  config_.nftables.masquerade_all = true;
  start();
  (void)cluster_.take();
  const auto preview = rules_->proxier().preview(cluster_.all());
  ASSERT_TRUE(preview);
  EXPECT_THAT(preview->text, HasSubstr("# masqueradeAll: every client of a cluster IP"));
  EXPECT_THAT(preview->text, testing::Not(HasSubstr("new,")));
}

TEST_F(AffinityMemoryTest, ASetOfSomebodyElsesCostsItNothing) {
  nft::FakeNftables::Table& table = kernel_.edit(IpFamily::Ipv4, kTable);
  table.sets.push_back(
      {{"affinity-debug", nft::Set::Kind::Set, {nft::Field::Ipv4Address}, {}}, {}});
  restart();
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.2", "10.180.0.3"));
  EXPECT_THAT(kernel_.text(IpFamily::Ipv4, kTable), testing::Not(HasSubstr("affinity-debug")));
}

TEST_F(AffinityMemoryTest, OutlivesAnotherTimeout) {
  put_service(60);
  sync();
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.2", "10.180.0.3"));
  EXPECT_THAT(kernel_.text(IpFamily::Ipv4, kTable), HasSubstr("{ ip saddr timeout 1m }"));
}

TEST_F(AffinityMemoryTest, OutlivesADamagedChain) {
  nft::FakeNftables::Table& table = kernel_.edit(IpFamily::Ipv4, kTable);
  table.find_chain("affinity-cluster-default/web/tcp/http")->rules.clear();
  restart();
  EXPECT_THAT(remembering(), ElementsAre("10.180.0.2", "10.180.0.3"));
}

TEST_F(AffinityMemoryTest, GoesWhenTheServiceWantsNoAffinity) {
  cluster_.put_service("web", {.cluster_ips = {"172.30.0.10"}});
  sync();
  EXPECT_THAT(remembering(), IsEmpty());
  ASSERT_TRUE(rules_->proxier().cleanup());
  EXPECT_THAT(kernel_.text(IpFamily::Ipv4, kTable), testing::Not(HasSubstr("affinity")));
}

}  // namespace
}  // namespace mkp
