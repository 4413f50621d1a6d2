// The chains' half of NftPlanner.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "proxy/nft_layout.h"

namespace mkp {
namespace {

using ChainState = nft::Ruleset::ChainState;

std::map<std::string_view, const ChainState*> by_name(const std::vector<ChainState>& chains) {
  std::map<std::string_view, const ChainState*> named;
  for (const ChainState& state : chains) named.emplace(state.chain.name, &state);
  return named;
}

std::set<std::string> names_of(const std::vector<nft::Set>& sets) {
  std::set<std::string> names;
  for (const nft::Set& set : sets) names.insert(set.name);
  return names;
}

}  // namespace

void NftPlanner::make_chain(const ChainState& state, std::uint32_t serves) {
  chains_.push_back({nft::AddChain{state.chain}, serves});
  for (const nft::Rule& rule : state.rules) {
    rules_.push_back({nft::AddRule{state.chain.name, rule}, serves});
  }
}

void NftPlanner::refill_chain(const ChainState& before, const ChainState& after,
                              std::uint32_t serves) {
  if (before.rules == after.rules) return;
  flushes_.push_back({nft::FlushChain{after.chain.name}, serves});
  for (const nft::Rule& rule : after.rules) {
    rules_.push_back({nft::AddRule{after.chain.name, rule}, serves});
  }
}

void NftPlanner::reconcile_chains(const std::vector<ChainState>& before,
                                  const std::vector<ChainState>& after, std::uint32_t serves) {
  const auto is = by_name(before);
  const auto shall = by_name(after);
  for (const ChainState& state : after) {
    const auto found = is.find(state.chain.name);
    if (found == is.end()) {
      make_chain(state, serves);
      change_.chains_at_work.insert(state.chain.name);
    } else {
      refill_chain(*found->second, state, serves);
    }
  }
  for (const ChainState& state : before) {
    if (shall.contains(state.chain.name)) continue;
    flushes_.push_back({nft::FlushChain{state.chain.name}, serves});
    change_.idle_chains.insert(state.chain.name);
  }
}

void NftPlanner::reconcile_affinity(const std::string& name, const WantedAffinity& wanted) {
  const auto live = live_.affinity.find(name);
  const AffinityRules* before = live == live_.affinity.end() ? nullptr : &live->second;
  const bool same = before ? wanted.rules == *before : !wanted.rules;
  if (same && (before_ == after_ || !before)) return;

  const std::uint32_t serves = subject(wanted.subject);
  std::vector<ChainState> is;
  std::vector<ChainState> shall;
  std::vector<nft::Set> had;
  std::vector<nft::Set> has;
  if (before) {
    is = affinity_chains(before_, name, *before);
    had = affinity_sets(before_.family, name, *before);
  }
  if (wanted.rules) {
    shall = affinity_chains(after_, name, *wanted.rules);
    has = affinity_sets(after_.family, name, *wanted.rules);
  }
  const std::set<std::string> had_names = names_of(had);
  const std::set<std::string> has_names = names_of(has);
  for (const nft::Set& set : has) {
    if (!had_names.contains(set.name)) sets_.push_back({nft::AddSet{set}, serves});
  }
  for (const std::string& name_of_set : had_names) {
    if (!has_names.contains(name_of_set)) {
      given_up_sets_.push_back({nft::DeleteSet{name_of_set}, serves});
    }
  }
  reconcile_chains(is, shall, serves);
  if (same) return;
  change_.affinity[name] = {before ? std::optional<AffinityRules>(*before) : std::nullopt,
                            wanted.rules, serves};
}

// Chains that read otherwise with the new settings.
void NftPlanner::refill_by_settings() {
  if (before_ == after_) return;
  constexpr std::uint32_t kEverybody = nft::Operation::kShared;
  const std::vector<ChainState> is = fixed_chains(before_);
  const std::vector<ChainState> shall = fixed_chains(after_);
  for (std::size_t i = 0; i < is.size(); ++i) refill_chain(is[i], shall[i], kEverybody);
  for (const auto& [chain, users] : live_.slot_chains) {
    refill_chain(slot_chain_state(before_, chain), slot_chain_state(after_, chain), kEverybody);
  }
  for (const auto& [name, rules] : live_.affinity) {
    touched_affinity_[name] = {rules, affinity_owner(name)};
  }
}

void NftPlanner::use_chains(const Frontend& frontend, const LiveFrontend& state, std::int64_t by) {
  for (const SlotChain& chain : slot_chains_of(frontend, state)) slot_chains_[chain] += by;
}

void NftPlanner::reconcile_slot_chains() {
  for (const auto& [chain, delta] : slot_chains_) {
    const auto live = live_.slot_chains.find(chain);
    if (live == live_.slot_chains.end()) {
      make_chain(slot_chain_state(after_, chain), nft::Operation::kShared);
    }
    const std::uint32_t users = live == live_.slot_chains.end() ? 0 : live->second;
    change_.slot_chains[chain] = static_cast<std::uint32_t>(users + delta);
  }
}

}  // namespace mkp
