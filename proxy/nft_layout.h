#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_skeleton.h"
#include "proxy/rule_model.h"
#include "proxy/slot_table.h"

namespace mkp {

// A frontend as the kernel has it.
struct LiveFrontend {
  SlotTable slots;    // size 0: new connections are rejected
  std::string owner;  // the comment of its verdict or reject element
  bool operator==(const LiveFrontend&) const = default;
};

// What the kernel has of ours in one family: the part that grows with Services, as it was
// acknowledged. The counters say how many frontends or Service ports want a shared object; 0: it is
// there, and nobody wants it any more.
struct LiveTable {
  std::unordered_map<Frontend, LiveFrontend> frontends;
  std::map<IpAddress, std::uint32_t> cluster_ips;
  std::map<IpAddress, std::uint32_t> hairpin;
  std::map<std::uint32_t, std::uint32_t> slot_chains;  // by number of slots
};

// Operations that turn a live table into a wanted one, and what the live table is once the kernel
// took them.
struct NftChange {
  nft::Transaction transaction;
  // Operation::serves is an index into these: "shop/web:http".
  std::vector<std::string> subjects;

  std::optional<LiveTable> base;  // instead of the live table so far, after a dump
  std::vector<std::pair<Frontend, std::optional<LiveFrontend>>> frontends;  // nothing: gone
  std::map<IpAddress, std::uint32_t> cluster_ips;                           // new counts
  std::map<IpAddress, std::uint32_t> hairpin;
  std::map<std::uint32_t, std::uint32_t> slot_chains;
  std::vector<std::uint32_t> removed_slot_chains;

  // The kernel acknowledged the transaction: brings `live` up to it.
  void acknowledge(LiveTable& live) &&;
};

// Works out an NftChange. Pure: reads the live table, touches nothing else.
class NftPlanner {
 public:
  NftPlanner(const NftSettings& settings, const LiveTable& live)
      : settings_(settings), live_(live) {}

  // From the applied model to the next one. One endpoint more or less is one element more or less,
  // unless its slot table is outgrown.
  NftChange plan(const RuleDiff& diff);

  // From a live table that was read from the kernel (its counters all 0 but for the slot chains) to
  // the whole model.
  NftChange plan_all(const RuleModel& model);

  // Deletes the chains that no frontend uses any more; an empty transaction when there are none.
  NftChange plan_cleanup();

 private:
  struct Wanted {
    const ServicePortName* name = nullptr;  // null: the frontend shall go
    const ServicePort* port = nullptr;
  };
  using Shared = std::map<IpAddress, std::int64_t>;
  enum class Verb { Add, Delete };

  void want(const ServicePortName& name, const ServicePort& port);
  void unwant(const ServicePort& port);
  void count(const ServicePort& port, std::int64_t by, std::uint32_t serves);
  void reconcile(const Frontend& frontend, const Wanted& wanted);
  void put_verdict(Verb verb, const Frontend& frontend, const LiveFrontend& state,
                   std::uint32_t serves);
  void put_slots(const Frontend& frontend, const SlotTable& before, const SlotTable& after,
                 std::uint32_t serves);
  void reconcile_shared(std::string_view set, const Shared& deltas,
                        const std::map<IpAddress, std::uint32_t>& live,
                        std::map<IpAddress, std::uint32_t>& counts);
  void use_chains(std::uint32_t slots, std::int64_t by);
  void put(Verb verb, std::string_view set, nft::Element element, std::uint32_t serves);
  std::uint32_t subject(std::string text);
  NftChange finish();

  NftSettings settings_;
  const LiveTable& live_;
  NftChange change_;
  std::map<Frontend, Wanted> touched_;
  Shared cluster_ips_;
  Shared hairpin_;
  std::map<IpAddress, std::uint32_t> shared_serves_;
  std::map<std::uint32_t, std::int64_t> slot_chains_;
  std::unordered_map<std::string, std::uint32_t> subject_index_;
  // By set, so that the elements of one set share messages; the kernel is given the deletions
  // first.
  std::map<std::string_view, std::vector<nft::Operation>> deletions_;
  std::map<std::string_view, std::vector<nft::Operation>> additions_;
};

}  // namespace mkp
