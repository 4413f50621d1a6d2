#include "proxy/nft_adoption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/nft_elements.h"
#include "proxy/node_rules.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_nftables.h"
#include "tests/proxy/live_text.h"
#include "tests/proxy/rule_literals.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {
namespace {

using Table = nft::FakeNftables::Table;

// One thing that somebody else may have done to our table.
struct Damage {
  const char* name;
  void (*inflict)(Table& table);
};

nft::Element& element_of(Table& table, std::string_view set) {
  return table.find_set(set)->elements.begin()->second;
}

void put(Table& table, std::string_view set, nft::Element element) {
  table.find_set(set)->elements.insert_or_assign(element.key, element);
}

void remove_chain(Table& table, std::string_view name) {
  std::erase_if(table.chains, [&](const auto& state) { return state.chain.name == name; });
}

void remove_set(Table& table, std::string_view name) {
  std::erase_if(table.sets, [&](const auto& entry) { return entry.set.name == name; });
}

const nft::Bytes kWeb = frontend_key(frontend("172.30.0.10:80"));
const Frontend kNodePort{std::nullopt, Protocol::Tcp, 30080};
const Frontend kBalancer = frontend("198.51.100.1:80");
const Frontend kStickyAt = frontend("172.30.0.21:80");
constexpr std::string_view kSticky = "default/sticky/tcp/http";

const Damage kDamages[] = {
    {"nothing", [](Table&) {}},
    {"a_fixed_chain_without_its_rules",
     [](Table& table) { table.find_chain("dispatch")->rules.clear(); }},
    {"a_foreign_rule_in_a_fixed_chain",
     [](Table& table) { table.find_chain("dispatch")->rules.push_back({{nft::Reject{}}}); }},
    {"a_missing_base_chain", [](Table& table) { remove_chain(table, "filter-forward"); }},
    {"a_base_chain_with_another_priority",
     [](Table& table) { table.find_chain("filter-input")->chain.hook->priority = 5; }},
    {"a_slot_chain_without_its_rules",
     [](Table& table) { table.find_chain("cluster-4")->rules.clear(); }},
    {"a_foreign_chain",
     [](Table& table) {
       table.chains.push_back({{"somebody-elses", std::nullopt}, {{{nft::Reject{}}}}});
     }},
    {"a_foreign_set",
     [](Table& table) {
       table.sets.push_back(
           {{"somebody-elses", nft::Set::Kind::Set, {nft::Field::Ipv4Address}, {}}, {}});
     }},
    {"a_missing_set", [](Table& table) { remove_set(table, kHairpin); }},
    {"a_set_of_another_shape",
     [](Table& table) { table.find_set(kClusterIps)->set.key = {nft::Field::InetService}; }},
    {"a_verdict_to_nowhere",
     [](Table& table) {
       put(table, kAddressSets.verdicts,
           {kWeb, nft::Verdict{nft::Verdict::Kind::Drop, ""}, "default/web:http"});
     }},
    {"a_missing_verdict",
     [](Table& table) { table.find_set(kAddressSets.verdicts)->elements.clear(); }},
    {"a_missing_slot_zero",
     [](Table& table) {
       table.find_set(kAddressSets.cluster_endpoints)
           ->elements.erase(slot_key({frontend("172.30.0.10:80"), 0}));
     }},
    {"a_slot_with_another_endpoint",
     [](Table& table) {
       element_of(table, kAddressSets.cluster_endpoints).value =
           endpoint_datum(endpoint("10.180.99.99:1"));
     }},
    {"an_endpoint_in_two_slots",
     [](Table& table) {
       put(table, kAddressSets.cluster_endpoints,
           {slot_key({frontend("172.30.0.10:80"), 3}), endpoint_datum(endpoint("10.180.0.2:8080")),
            ""});
     }},
    {"a_slot_beyond_the_table",
     [](Table& table) {
       put(table, kAddressSets.cluster_endpoints,
           {slot_key({frontend("172.30.0.10:80"), 9}), endpoint_datum(endpoint("10.180.0.9:8080")),
            ""});
     }},
    {"a_service_that_nobody_has",
     [](Table& table) {
       put(table, kAddressSets.reject,
           {frontend_key(frontend("172.30.0.99:80")), {}, "default/ghost:http"});
     }},
    {"a_frontend_that_is_rejected_and_served",
     [](Table& table) {
       put(table, kAddressSets.reject, {kWeb, {}, "default/web:http"});
     }},
    {"another_owner",
     [](Table& table) { element_of(table, kAddressSets.verdicts).comment = "default/other:http"; }},
    {"a_cluster_ip_that_nobody_has",
     [](Table& table) {
       put(table, kClusterIps, {address_key(ip("172.30.0.99")), {}, ""});
     }},
    {"a_missing_cluster_ip", [](Table& table) { table.find_set(kClusterIps)->elements.clear(); }},
    {"a_hairpin_of_two_addresses",
     [](Table& table) {
       nft::Bytes key = address_key(ip("10.180.0.2"));
       key.append_field(std::array<std::uint8_t, 4>{10, 180, 0, 3});
       put(table, kHairpin, {key, {}, ""});
     }},
    {"a_missing_node_port",
     [](Table& table) { table.find_set(kNodePortSets.verdicts)->elements.clear(); }},
    {"a_missing_short_circuit",
     [](Table& table) { table.find_set(kNodePortSets.short_circuit)->elements.clear(); }},
    {"a_missing_local_endpoint",
     [](Table& table) { table.find_set(kNodePortSets.local_endpoints)->elements.clear(); }},
    {"a_dropped_frontend_that_is_not",
     [](Table& table) {
       put(table, kNodePortSets.drop, {frontend_key(kNodePort), {}, "default/rich:http"});
     }},
    {"a_node_port_address_that_nobody_has",
     [](Table& table) {
       put(table, kNodePortIps, {address_key(ip("192.168.0.99")), {}, ""});
     }},
    {"a_missing_source_range",
     [](Table& table) { table.find_set(kAllowedSources)->elements.clear(); }},
    {"a_source_range_too_many",
     [](Table& table) {
       const nft::Element element = allowed_source(kBalancer, prefix("198.18.0.0/15"));
       put(table, kAllowedSources, element);
     }},
    {"a_source_range_that_is_no_prefix",
     [](Table& table) {
       nft::Element element = allowed_source(kBalancer, prefix("198.18.0.0/32"));
       element.value = nft::IntervalEnd{
           std::get<nft::IntervalEnd>(allowed_source(kBalancer, prefix("198.18.0.2/32")).value)
               .key};
       put(table, kAllowedSources, element);
     }},
    {"a_firewalled_frontend_that_is_not",
     [](Table& table) { table.find_set(kFirewalledServices)->elements.clear(); }},
    {"a_choice_without_its_rules",
     [](Table& table) { table.find_chain(affinity_cluster_chain(kSticky))->rules.clear(); }},
    {"an_affinity_chain_with_a_foreign_rule",
     [](Table& table) {
       table.find_chain(affinity_internal_chain(kSticky))->rules.push_back({{nft::Reject{}}});
     }},
    {"a_missing_affinity_chain",
     [](Table& table) {
       table.find_set(kAddressSets.verdicts)->elements.erase(frontend_key(kStickyAt));
       remove_chain(table, affinity_internal_chain(kSticky));
     }},
    {"an_affinity_chain_that_nobody_has",
     [](Table& table) {
       table.chains.push_back(
           {{"affinity-cluster-default/ghost/tcp/http", std::nullopt}, {{{nft::Reject{}}}}});
     }},
    {"clients_of_an_endpoint_that_nobody_has",
     [](Table& table) {
       nft::Set set{"affinity-default/ghost/tcp/http__10.180.0.9/80",
                    nft::Set::Kind::Set,
                    {nft::Field::Ipv4Address},
                    {}};
       set.content = nft::Set::Content::Remembered;
       table.sets.push_back({set, {}});
     }},
    {"clients_remembered_in_another_way",
     [](Table& table) {
       table.sets.push_back(
           {{"affinity-default/ghost", nft::Set::Kind::Set, {nft::Field::Ipv4Address}, {}}, {}});
     }},
};

// Everything that a Service may ask for, but for session affinity.
std::shared_ptr<const Service> rich_service() {
  auto service = std::make_shared<Service>();
  service->metadata = {.name_space = "default", .name = "rich", .uid = "", .resource_version = ""};
  service->type = Service::Type::LoadBalancer;
  service->cluster_ip = "172.30.0.20";
  service->cluster_ips = {"172.30.0.20"};
  service->ip_families = {AddressType::Ipv4};
  service->external_ips = {"192.0.2.1"};
  service->load_balancer_ingress = {{.ip = "198.51.100.1", .proxy_mode = false}};
  service->load_balancer_source_ranges = {"203.0.113.0/24"};
  service->external_traffic_policy = TrafficPolicy::Local;
  service->ports = {
      {.name = "http", .protocol = Protocol::Tcp, .port = 80, .node_port = kNodePort.port}};
  return service;
}

std::shared_ptr<const Service> sticky_service() {
  auto service = std::make_shared<Service>(*rich_service());
  service->metadata.name = "sticky";
  service->cluster_ip = "172.30.0.21";
  service->cluster_ips = {"172.30.0.21"};
  service->external_ips.clear();
  service->load_balancer_ingress.clear();
  service->ports[0].node_port = 0;
  service->client_ip_affinity_seconds = 10800;
  return service;
}

std::shared_ptr<const EndpointSlice> slice_here(const std::string& owner) {
  auto slice = std::make_shared<EndpointSlice>();
  slice->metadata.name_space = "default";
  slice->metadata.name = owner + "-here";
  slice->service_name = owner;
  slice->ports = {{.name = "http", .port = 8080, .protocol = Protocol::Tcp}};
  EndpointSlice::Endpoint here;
  here.address = "10.180.0.7";
  here.node_name = "node-a";
  slice->endpoints = {here};
  return slice;
}

class NftAdoptionTest : public testing::TestWithParam<Damage> {
 protected:
  Result<SyncReport> start_over() {
    rules_ = std::make_unique<NodeRules>(kernel_, config_, std::vector{IpFamily::Ipv4}, clock_);
    return rules_->proxier().sync(cluster_.all());
  }
  std::string live() {
    return live_text(kernel_.dump(IpFamily::Ipv4, kTable).value(),
                     live_settings(config_, cluster_.node(), IpFamily::Ipv4));
  }

  Config config_;
  FakeClock clock_;
  nft::FakeNftables kernel_;
  SmallCluster cluster_;
  std::unique_ptr<NodeRules> rules_;
};

TEST_P(NftAdoptionTest, IsRepairedByTheNextProcessInOneTransaction) {
  cluster_.put_service("web", {.cluster_ips = {"172.30.0.10"}});
  cluster_.put_slice("web", {"10.180.0.2", "10.180.0.3"});
  cluster_.put_service("empty", {.cluster_ips = {"172.30.0.11"}});
  cluster_.put(rich_service());
  cluster_.put(slice_here("rich"));
  cluster_.put(sticky_service());
  cluster_.put(slice_here("sticky"));
  NodeFacts facts;
  facts.node.name = "node-a";
  facts.node.ips = {ip("192.168.0.1")};
  facts.addresses = {ip("192.168.0.1")};
  cluster_.put(facts);
  ASSERT_TRUE(start_over());
  const std::string whole = live();
  GetParam().inflict(kernel_.edit(IpFamily::Ipv4, kTable));
  kernel_.reset_counters();

  const Result<SyncReport> report = start_over();
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(live(), whole);
  EXPECT_EQ(kernel_.counters().commits, std::string_view(GetParam().name) == "nothing" ? 0U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Of, NftAdoptionTest, testing::ValuesIn(kDamages),
                         [](const auto& damage) { return std::string(damage.param.name); });

TEST(NftAdoptionTextTest, ATableThatDoesNotExistIsMade) {
  const Adoption adoption = adopt(std::nullopt, NftSettings{});
  EXPECT_TRUE(adoption.live.frontends.empty());
  EXPECT_TRUE(std::holds_alternative<nft::AddTable>(adoption.repairs.front().operation.what));
}

}  // namespace
}  // namespace mkp
