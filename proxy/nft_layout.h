#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/backend.h"
#include "proxy/nft_affinity.h"
#include "proxy/nft_frontend.h"
#include "proxy/nft_settings.h"
#include "proxy/nft_skeleton.h"
#include "proxy/nft_slot_chains.h"
#include "proxy/rule_model.h"

namespace mkp {

// What the kernel has of ours in one family: the part that grows with Services, as it was
// acknowledged. The counters say how many frontends or Service ports want a shared object; 0: it is
// there, and nobody wants it any more.
struct LiveTable {
  std::unordered_map<Frontend, LiveFrontend> frontends;
  std::map<IpAddress, std::uint32_t> cluster_ips;
  std::map<IpAddress, std::uint32_t> hairpin;
  std::set<IpAddress> node_port_ips;
  std::map<SlotChain, std::uint32_t> slot_chains;
  std::map<std::string, AffinityRules> affinity;  // by affinity_name()
  // Chains of affinity that nobody uses any more. They have no rules.
  std::set<std::string> idle_chains;
};

// Operations that turn a live table into a wanted one, and what the live table is once the kernel
// took them.
struct NftChange {
  struct FrontendChange {
    Frontend frontend;
    FrontendKind kind = FrontendKind::ClusterIp;
    std::optional<LiveFrontend> before;  // nothing: new
    std::optional<LiveFrontend> after;   // nothing: gone
    std::uint32_t serves = nft::Operation::kShared;
  };
  struct AffinityChange {
    std::optional<AffinityRules> before;
    std::optional<AffinityRules> after;
    std::uint32_t serves = nft::Operation::kShared;
  };

  nft::Transaction transaction;
  // Operation::serves is an index into these: "shop/web:http".
  std::vector<std::string> subjects;

  NftSettings settings;           // of the table afterwards
  std::optional<LiveTable> base;  // instead of the live table so far, after a dump
  std::vector<FrontendChange> frontends;
  std::map<IpAddress, std::uint32_t> cluster_ips;  // new counts
  std::map<IpAddress, std::uint32_t> hairpin;
  std::optional<std::set<IpAddress>> node_port_ips;
  std::map<SlotChain, std::uint32_t> slot_chains;
  std::vector<SlotChain> removed_slot_chains;
  std::map<std::string, AffinityChange> affinity;
  std::set<std::string> idle_chains;     // new ones
  std::set<std::string> chains_at_work;  // idle ones that are not so any more, or deleted

  // The kernel acknowledged the transaction: brings `live` up to it.
  void acknowledge(LiveTable& live) &&;
};

// The frontends that go with a resync's change, and where each has led so far.
std::vector<Plan::GoneFrontend> gone_frontends(const NftChange& change);

// Works out an NftChange. Pure: reads the live table, touches nothing else.
class NftPlanner {
 public:
  // `settings`: those that the live table's chains are made from.
  NftPlanner(const NftSettings& settings, const LiveTable& live)
      : before_(settings), after_(settings), live_(live) {}

  // From the applied model to the next one. One endpoint more or less is one element more or less,
  // unless its slot table is outgrown.
  NftChange plan(const RuleDiff& diff);

  // From a live table that was read from the kernel (its counters all 0 but for the slot chains),
  // whose chains are as the settings say, to the whole model. `found_sets`: affinity's that it has.
  NftChange plan_all(const RuleModel& model, const NodeModel& node,
                     const std::set<std::string>& found_sets);

  // Deletes the chains that no frontend uses any more; an empty transaction when there are none.
  NftChange plan_cleanup();

 private:
  struct Wanted {
    const ServicePortName* name = nullptr;  // null: the frontend shall go
    const ServicePort* port = nullptr;
    ServedFrontend served;
  };
  struct WantedAffinity {
    std::optional<AffinityRules> rules;
    std::string subject;
  };
  using Shared = std::map<IpAddress, std::int64_t>;
  enum class Verb { Add, Delete };

  void want(const ServicePortName& name, const ServicePort& port);
  void unwant(const ServicePortName& name, const ServicePort& port);
  void count(const ServicePort& port, std::int64_t by, std::uint32_t serves);
  void reconcile(const Frontend& frontend, const Wanted& wanted);
  FrontendKind kind_of_gone(const Frontend& frontend, const LiveFrontend& before) const;
  void put_fixed(const Frontend& frontend, const LiveFrontend* before, const LiveFrontend* after,
                 std::uint32_t serves);
  void put_slots(std::string_view map, const Frontend& frontend, const SlotTable& before,
                 const SlotTable& after, std::uint32_t serves);
  void reconcile_shared(std::string_view set, const Shared& deltas,
                        const std::map<IpAddress, std::uint32_t>& live,
                        std::map<IpAddress, std::uint32_t>& counts);
  void reconcile_node_ports(const NodeModel& node);
  void reconcile_affinity(const std::string& name, const WantedAffinity& wanted);
  void reconcile_chains(const std::vector<nft::Ruleset::ChainState>& before,
                        const std::vector<nft::Ruleset::ChainState>& after, std::uint32_t serves);
  void make_chain(const nft::Ruleset::ChainState& state, std::uint32_t serves);
  void refill_chain(const nft::Ruleset::ChainState& before, const nft::Ruleset::ChainState& after,
                    std::uint32_t serves);
  void refill_by_settings();
  void use_chains(const Frontend& frontend, const LiveFrontend& state, std::int64_t by);
  void reconcile_slot_chains();
  void put(Verb verb, std::string_view set, nft::Element element, std::uint32_t serves);
  std::uint32_t subject(std::string text);
  NftChange finish();

  NftSettings before_;
  NftSettings after_;
  const LiveTable& live_;
  NftChange change_;
  std::map<Frontend, Wanted> touched_;
  std::map<std::string, WantedAffinity> touched_affinity_;
  Shared cluster_ips_;
  Shared hairpin_;
  std::map<IpAddress, std::uint32_t> shared_serves_;
  std::map<SlotChain, std::int64_t> slot_chains_;
  std::unordered_map<std::string, std::uint32_t> subject_index_;
  // In the order in which the kernel is given them: what is made, emptied, filled and given up;
  // then elements, by set, so that those of one set share messages, the deletions first.
  std::vector<nft::Operation> sets_;
  std::vector<nft::Operation> chains_;
  std::vector<nft::Operation> flushes_;
  std::vector<nft::Operation> rules_;
  std::vector<nft::Operation> given_up_sets_;
  std::map<std::string_view, std::vector<nft::Operation>> deletions_;
  std::map<std::string_view, std::vector<nft::Operation>> additions_;
};

}  // namespace mkp
