#include "proxy/nft_layout.h"

#include <algorithm>

#include "proxy/nft_elements.h"

namespace mkp {

void NftChange::acknowledge(LiveTable& live) && {
  if (base) live = std::move(*base);
  for (auto& [frontend, state] : frontends) {
    if (state) {
      live.frontends.insert_or_assign(frontend, std::move(*state));
    } else {
      live.frontends.erase(frontend);
    }
  }
  const auto take = [](const auto& counts, auto& into) {
    for (const auto& [key, count] : counts) {
      if (count == 0) {
        into.erase(key);
      } else {
        into[key] = count;
      }
    }
  };
  take(cluster_ips, live.cluster_ips);
  take(hairpin, live.hairpin);
  for (const auto& [slots, count] : slot_chains) live.slot_chains[slots] = count;
  for (const std::uint32_t slots : removed_slot_chains) live.slot_chains.erase(slots);
}

NftChange NftPlanner::plan(const RuleDiff& diff) {
  for (const auto& [name, change] : diff.changes) unwant(change.before);
  for (const auto& [name, change] : diff.changes) {
    count(change.before, -1, subject(to_text(name)));
    want(name, change.after);
  }
  return finish();
}

NftChange NftPlanner::plan_all(const RuleModel& model) {
  for (const auto& [frontend, state] : live_.frontends) touched_[frontend];
  for (const auto& [ip, count] : live_.cluster_ips) cluster_ips_[ip];
  for (const auto& [ip, count] : live_.hairpin) hairpin_[ip];
  for (const auto& [name, port] : model) want(name, port);
  return finish();
}

NftChange NftPlanner::plan_cleanup() {
  change_.transaction.family = settings_.family;
  change_.transaction.table = kTable;
  for (const auto& [slots, users] : live_.slot_chains) {
    if (users != 0) continue;
    std::vector<nft::Ruleset::ChainState> chains = slot_chains(settings_, slots);
    std::reverse(chains.begin(), chains.end());
    for (const nft::Ruleset::ChainState& state : chains) {
      change_.transaction.operations.push_back({nft::FlushChain{state.chain.name}});
      change_.transaction.operations.push_back({nft::DeleteChain{state.chain.name}});
    }
    change_.removed_slot_chains.push_back(slots);
  }
  return std::move(change_);
}

void NftPlanner::want(const ServicePortName& name, const ServicePort& port) {
  for (const Frontend& frontend : port.cluster_frontends) touched_[frontend] = Wanted{&name, &port};
  if (port != ServicePort{}) count(port, 1, subject(to_text(name)));
}

void NftPlanner::unwant(const ServicePort& port) {
  for (const Frontend& frontend : port.cluster_frontends) touched_[frontend];
}

void NftPlanner::count(const ServicePort& port, std::int64_t by, std::uint32_t serves) {
  for (const Frontend& frontend : port.cluster_frontends) {
    cluster_ips_[frontend.ip] += by;
    shared_serves_[frontend.ip] = serves;
  }
  for (const IpAddress& ip : port.hairpin) {
    hairpin_[ip] += by;
    shared_serves_[ip] = serves;
  }
}

void NftPlanner::reconcile(const Frontend& frontend, const Wanted& wanted) {
  const auto live = live_.frontends.find(frontend);
  const LiveFrontend* before = live == live_.frontends.end() ? nullptr : &live->second;
  if (!before && !wanted.name) return;
  if (!wanted.name) {
    const std::uint32_t serves = subject(before->owner);
    put_verdict(Verb::Delete, frontend, *before, serves);
    put_slots(frontend, before->slots, {}, serves);
    use_chains(before->slots.size(), -1);
    change_.frontends.emplace_back(frontend, std::nullopt);
    return;
  }
  LiveFrontend after{place(before ? before->slots : SlotTable{}, wanted.port->cluster_endpoints),
                     owner_comment(*wanted.name)};
  if (before && *before == after) return;
  const std::uint32_t serves = subject(to_text(*wanted.name));
  if (!before || before->owner != after.owner || before->slots.size() != after.slots.size()) {
    if (before) {
      put_verdict(Verb::Delete, frontend, *before, serves);
      use_chains(before->slots.size(), -1);
    }
    put_verdict(Verb::Add, frontend, after, serves);
    use_chains(after.slots.size(), 1);
  }
  put_slots(frontend, before ? before->slots : SlotTable{}, after.slots, serves);
  change_.frontends.emplace_back(frontend, std::move(after));
}

void NftPlanner::put_verdict(Verb verb, const Frontend& frontend, const LiveFrontend& state,
                             std::uint32_t serves) {
  nft::Element element{frontend_key(frontend), {}, state.owner};
  if (state.slots.size() == 0) {
    put(verb, kRejectServices, std::move(element), serves);
    return;
  }
  element.value =
      nft::Verdict{nft::Verdict::Kind::Goto, internal_cluster_chain(state.slots.size())};
  put(verb, kServices, std::move(element), serves);
}

void NftPlanner::put_slots(const Frontend& frontend, const SlotTable& before,
                           const SlotTable& after, std::uint32_t serves) {
  const auto element = [&](std::uint32_t slot, const Endpoint& endpoint) {
    return nft::Element{slot_key({frontend, slot}), endpoint_datum(endpoint), ""};
  };
  for (std::uint32_t slot = 0; slot < std::max(before.size(), after.size()); ++slot) {
    const Endpoint was = slot < before.size() ? before.slots[slot] : Endpoint{};
    const Endpoint is = slot < after.size() ? after.slots[slot] : Endpoint{};
    if (was == is) continue;
    if (!SlotTable::empty(was)) put(Verb::Delete, kClusterEndpoints, element(slot, was), serves);
    if (!SlotTable::empty(is)) put(Verb::Add, kClusterEndpoints, element(slot, is), serves);
  }
}

void NftPlanner::reconcile_shared(std::string_view set, const Shared& deltas,
                                  const std::map<IpAddress, std::uint32_t>& live,
                                  std::map<IpAddress, std::uint32_t>& counts) {
  for (const auto& [ip, delta] : deltas) {
    const auto entry = live.find(ip);
    const bool present = entry != live.end();
    const auto count = static_cast<std::uint32_t>((present ? entry->second : 0) + delta);
    const nft::Element element{set == kHairpin ? hairpin_key(ip) : address_key(ip), {}, ""};
    const auto serves = shared_serves_.find(ip);
    const std::uint32_t whom =
        serves == shared_serves_.end() ? nft::Operation::kShared : serves->second;
    if (present && count == 0) put(Verb::Delete, set, element, whom);
    if (!present && count != 0) put(Verb::Add, set, element, whom);
    if (present || count != 0) counts[ip] = count;
  }
}

void NftPlanner::use_chains(std::uint32_t slots, std::int64_t by) {
  if (slots != 0) slot_chains_[slots] += by;
}

void NftPlanner::put(Verb verb, std::string_view set, nft::Element element, std::uint32_t serves) {
  if (verb == Verb::Add) {
    additions_[set].push_back({nft::AddElement{set, std::move(element)}, serves});
  } else {
    deletions_[set].push_back({nft::DeleteElement{set, std::move(element)}, serves});
  }
}

std::uint32_t NftPlanner::subject(std::string text) {
  const auto [entry, added] = subject_index_.try_emplace(
      std::move(text), static_cast<std::uint32_t>(change_.subjects.size()));
  if (added) change_.subjects.push_back(entry->first);
  return entry->second;
}

NftChange NftPlanner::finish() {
  for (const auto& [frontend, wanted] : touched_) reconcile(frontend, wanted);
  reconcile_shared(kClusterIps, cluster_ips_, live_.cluster_ips, change_.cluster_ips);
  reconcile_shared(kHairpin, hairpin_, live_.hairpin, change_.hairpin);

  change_.transaction.family = settings_.family;
  change_.transaction.table = kTable;
  std::vector<nft::Operation>& operations = change_.transaction.operations;
  for (const auto& [slots, delta] : slot_chains_) {
    const auto live = live_.slot_chains.find(slots);
    if (live == live_.slot_chains.end()) {
      for (nft::Ruleset::ChainState& state : slot_chains(settings_, slots)) {
        operations.push_back({nft::AddChain{state.chain}});
        for (nft::Rule& rule : state.rules)
          operations.push_back({nft::AddRule{state.chain.name, std::move(rule)}});
      }
    }
    const std::uint32_t users = live == live_.slot_chains.end() ? 0 : live->second;
    change_.slot_chains[slots] = static_cast<std::uint32_t>(users + delta);
  }
  for (auto* bucket : {&deletions_, &additions_}) {
    for (auto& [set, elements] : *bucket) {
      std::move(elements.begin(), elements.end(), std::back_inserter(operations));
    }
  }
  return std::move(change_);
}

}  // namespace mkp
