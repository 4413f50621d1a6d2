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
};

class NftAdoptionTest : public testing::TestWithParam<Damage> {
 protected:
  Result<SyncReport> start_over() {
    rules_ = std::make_unique<NodeRules>(kernel_, config_, std::vector{IpFamily::Ipv4}, clock_);
    return rules_->proxier().sync(cluster_.all());
  }
  std::string live() {
    return live_text(kernel_.dump(IpFamily::Ipv4, kTable).value(),
                     live_settings(config_, {}, IpFamily::Ipv4));
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
