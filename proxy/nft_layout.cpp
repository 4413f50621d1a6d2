#include "proxy/nft_layout.h"

#include <algorithm>
#include <iterator>

#include "proxy/nft_elements.h"

namespace mkp {
namespace {

using ChainState = nft::Ruleset::ChainState;

template <class Counts>
void take_counts(const Counts& counts, Counts& into) {
  for (const auto& [key, count] : counts) {
    if (count == 0) {
      into.erase(key);
    } else {
      into[key] = count;
    }
  }
}

}  // namespace

void NftChange::acknowledge(LiveTable& live) && {
  if (base) live = std::move(*base);
  for (FrontendChange& change : frontends) {
    if (change.after) {
      live.frontends.insert_or_assign(change.frontend, std::move(*change.after));
    } else {
      live.frontends.erase(change.frontend);
    }
  }
  take_counts(cluster_ips, live.cluster_ips);
  take_counts(hairpin, live.hairpin);
  if (node_port_ips) live.node_port_ips = std::move(*node_port_ips);
  for (const auto& [chain, count] : slot_chains) live.slot_chains[chain] = count;
  for (const SlotChain& chain : removed_slot_chains) live.slot_chains.erase(chain);
  for (auto& [name, change] : affinity) {
    if (change.after) {
      live.affinity.insert_or_assign(name, std::move(*change.after));
    } else {
      live.affinity.erase(name);
    }
  }
  for (const std::string& chain : chains_at_work) live.idle_chains.erase(chain);
  live.idle_chains.merge(idle_chains);
}

std::vector<Plan::GoneFrontend> gone_frontends(const NftChange& change) {
  std::vector<Plan::GoneFrontend> gone;
  if (!change.base) return gone;
  const LiveTable& found = *change.base;
  for (const NftChange::FrontendChange& one : change.frontends) {
    if (one.after || !one.before) continue;
    std::vector<Endpoint> endpoints = one.before->endpoints();
    const auto affinity = found.affinity.find(one.before->affinity);
    if (affinity != found.affinity.end()) {
      const AffinityRules& rules = affinity->second;
      std::set_union(rules.cluster.begin(), rules.cluster.end(), rules.local.begin(),
                     rules.local.end(), std::back_inserter(endpoints));
    }
    gone.push_back({one.frontend, std::move(endpoints)});
  }
  return gone;
}

NftChange NftPlanner::plan(const RuleDiff& diff) {
  if (diff.node) {
    after_ = with_node(before_, *diff.node);
    refill_by_settings();
    reconcile_node_ports(*diff.node);
  }
  for (const auto& [name, change] : diff.changes) unwant(name, change.before);
  for (const auto& [name, change] : diff.changes) {
    count(change.before, -1, subject(to_text(name)));
    want(name, change.after);
  }
  return finish();
}

NftChange NftPlanner::plan_all(const RuleModel& model, const NodeModel& node,
                               const std::set<std::string>& found_sets) {
  for (const auto& [frontend, state] : live_.frontends) touched_[frontend];
  for (const auto& [name, rules] : live_.affinity)
    touched_affinity_[name].subject = affinity_owner(name);
  for (const auto& [ip, count] : live_.cluster_ips) cluster_ips_[ip];
  for (const auto& [ip, count] : live_.hairpin) hairpin_[ip];
  for (const auto& [name, port] : model) want(name, port);
  reconcile_node_ports(node);

  // Those of live rules are given up by reconcile_affinity(), if at all.
  std::set<std::string> strays = found_sets;
  const auto has_user = [&](const std::string& name, const AffinityRules& rules) {
    for (const nft::Set& set : affinity_sets(after_.family, name, rules)) strays.erase(set.name);
  };
  for (const auto& [name, rules] : live_.affinity) has_user(name, rules);
  for (const auto& [name, wanted] : touched_affinity_) {
    if (wanted.rules) has_user(name, *wanted.rules);
  }
  for (const std::string& set : strays) given_up_sets_.push_back({nft::DeleteSet{set}});
  return finish();
}

NftChange NftPlanner::plan_cleanup() {
  change_.settings = before_;
  change_.transaction.family = before_.family;
  change_.transaction.table = kTable;
  std::vector<nft::Operation>& operations = change_.transaction.operations;
  // Those that go to others before the others.
  for (auto entry = live_.slot_chains.rbegin(); entry != live_.slot_chains.rend(); ++entry) {
    const auto& [chain, users] = *entry;
    if (users != 0) continue;
    operations.push_back({nft::FlushChain{name_of(chain)}});
    operations.push_back({nft::DeleteChain{name_of(chain)}});
    change_.removed_slot_chains.push_back(chain);
  }
  for (const std::string& chain : live_.idle_chains) {
    operations.push_back({nft::DeleteChain{chain}});
    change_.chains_at_work.insert(chain);
  }
  return std::move(change_);
}

void NftPlanner::want(const ServicePortName& name, const ServicePort& port) {
  for (const ServedFrontend& served : port.frontends) {
    touched_[served.frontend] = Wanted{&name, &port, served};
  }
  if (std::optional<AffinityRules> rules = affinity_rules(port, name.protocol)) {
    touched_affinity_[affinity_name(name)] = {std::move(rules), to_text(name)};
  }
  if (!port.empty()) count(port, 1, subject(to_text(name)));
}

void NftPlanner::unwant(const ServicePortName& name, const ServicePort& port) {
  for (const ServedFrontend& served : port.frontends) touched_[served.frontend];
  if (port.affinity_seconds) {
    touched_affinity_[affinity_name(name)] = {std::nullopt, to_text(name)};
  }
}

void NftPlanner::count(const ServicePort& port, std::int64_t by, std::uint32_t serves) {
  for (const ServedFrontend& served : port.frontends) {
    if (served.kind != FrontendKind::ClusterIp || !served.frontend.ip) continue;
    cluster_ips_[*served.frontend.ip] += by;
    shared_serves_[*served.frontend.ip] = serves;
  }
  for (const IpAddress& ip : port.hairpin) {
    hairpin_[ip] += by;
    shared_serves_[ip] = serves;
  }
}

// What a frontend was that the model says nothing of any more.
FrontendKind NftPlanner::kind_of_gone(const Frontend& frontend, const LiveFrontend& before) const {
  if (!frontend.ip) return FrontendKind::NodePort;
  if (!before.allowed_sources.empty()) return FrontendKind::LoadBalancerIp;
  return live_.cluster_ips.contains(*frontend.ip) ? FrontendKind::ClusterIp
                                                  : FrontendKind::ExternalIp;
}

void NftPlanner::reconcile(const Frontend& frontend, const Wanted& wanted) {
  const auto live = live_.frontends.find(frontend);
  const LiveFrontend* before = live == live_.frontends.end() ? nullptr : &live->second;
  if (!before && !wanted.name) return;
  std::optional<LiveFrontend> after;
  if (wanted.name) after = wanted_frontend(*wanted.name, *wanted.port, wanted.served, before);
  if (before && after && *before == *after) return;

  const std::uint32_t serves = subject(wanted.name ? to_text(*wanted.name) : before->owner);
  put_fixed(frontend, before, after ? &*after : nullptr, serves);
  const SlotTable none;
  const FrontendSets& sets = sets_of(frontend);
  put_slots(sets.cluster_endpoints, frontend, before ? before->cluster : none,
            after ? after->cluster : none, serves);
  put_slots(sets.local_endpoints, frontend, before ? before->local : none,
            after ? after->local : none, serves);
  if (before) use_chains(frontend, *before, -1);
  if (after) use_chains(frontend, *after, 1);
  const FrontendKind kind = wanted.name ? wanted.served.kind : kind_of_gone(frontend, *before);
  change_.frontends.push_back({frontend, kind,
                               before ? std::optional<LiveFrontend>(*before) : std::nullopt,
                               std::move(after), serves});
}

void NftPlanner::put_fixed(const Frontend& frontend, const LiveFrontend* before,
                           const LiveFrontend* after, std::uint32_t serves) {
  std::vector<PlacedElement> is;
  std::vector<PlacedElement> shall;
  if (before) is = frontend_elements(frontend, *before);
  if (after) shall = frontend_elements(frontend, *after);
  const auto in = [](const std::vector<PlacedElement>& all, const PlacedElement& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (PlacedElement& element : is) {
    if (!in(shall, element)) put(Verb::Delete, element.set, element.element, serves);
  }
  for (PlacedElement& element : shall) {
    if (!in(is, element)) put(Verb::Add, element.set, std::move(element.element), serves);
  }
}

void NftPlanner::put_slots(std::string_view map, const Frontend& frontend, const SlotTable& before,
                           const SlotTable& after, std::uint32_t serves) {
  const auto element = [&](std::uint32_t slot, const Endpoint& endpoint) {
    return nft::Element{slot_key({frontend, slot}), endpoint_datum(endpoint), ""};
  };
  for (std::uint32_t slot = 0; slot < std::max(before.size(), after.size()); ++slot) {
    const Endpoint was = slot < before.size() ? before.slots[slot] : Endpoint{};
    const Endpoint is = slot < after.size() ? after.slots[slot] : Endpoint{};
    if (was == is) continue;
    if (!SlotTable::empty(was)) put(Verb::Delete, map, element(slot, was), serves);
    if (!SlotTable::empty(is)) put(Verb::Add, map, element(slot, is), serves);
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

// Where every local address answers, the rules ask the routing tables and not the set.
void NftPlanner::reconcile_node_ports(const NodeModel& node) {
  std::set<IpAddress> wanted;
  if (!node.node_ports_anywhere)
    wanted.insert(node.node_port_ips.begin(), node.node_port_ips.end());
  if (wanted == live_.node_port_ips) return;
  for (const IpAddress& ip : live_.node_port_ips) {
    if (wanted.contains(ip)) continue;
    put(Verb::Delete, kNodePortIps, {address_key(ip), {}, ""}, nft::Operation::kShared);
  }
  for (const IpAddress& ip : wanted) {
    if (live_.node_port_ips.contains(ip)) continue;
    put(Verb::Add, kNodePortIps, {address_key(ip), {}, ""}, nft::Operation::kShared);
  }
  change_.node_port_ips = wanted;
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
  for (const auto& [name, wanted] : touched_affinity_) reconcile_affinity(name, wanted);
  reconcile_shared(kClusterIps, cluster_ips_, live_.cluster_ips, change_.cluster_ips);
  reconcile_shared(kHairpin, hairpin_, live_.hairpin, change_.hairpin);
  reconcile_slot_chains();

  change_.settings = after_;
  change_.transaction.family = after_.family;
  change_.transaction.table = kTable;
  std::vector<nft::Operation>& operations = change_.transaction.operations;
  const auto give = [&](std::vector<nft::Operation>& bucket) {
    std::move(bucket.begin(), bucket.end(), std::back_inserter(operations));
  };
  for (auto* bucket : {&sets_, &chains_, &flushes_, &rules_, &given_up_sets_}) give(*bucket);
  for (auto* by_set : {&deletions_, &additions_}) {
    for (auto& [set, elements] : *by_set) give(elements);
  }
  return std::move(change_);
}

}  // namespace mkp
