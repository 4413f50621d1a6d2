#include "proxy/nft_frontend_adoption.h"

#include <algorithm>
#include <utility>

#include "proxy/nft_affinity.h"
#include "proxy/nft_elements.h"

namespace mkp {
namespace {

using Route = LiveFrontend::Route;

// The rest of a name behind its prefix.
std::optional<std::string> behind(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return name.substr(prefix.size());
}

void read_slot_entry(const SlotChain& chain, LiveFrontend& state) {
  using Kind = SlotChain::Kind;
  switch (chain.kind) {
    case Kind::InternalCluster:
      state.route = Route::InternalCluster;
      state.cluster.slots.resize(chain.slots);
      break;
    case Kind::InternalLocal:
      state.route = Route::InternalLocal;
      state.local.slots.resize(chain.slots);
      break;
    case Kind::ExternalCluster:
    case Kind::NodePortExternalCluster:
      state.route = Route::ExternalCluster;
      state.cluster.slots.resize(chain.slots);
      break;
    default:
      break;  // no chain that a frontend's verdict leads to
  }
}

void read_entry(const std::string& chain, const FrontendSets& sets, LiveFrontend& state) {
  if (chain == sets.external_local) {
    state.route = Route::ExternalLocal;
  } else if (const auto slots = slot_chain_of(chain)) {
    read_slot_entry(*slots, state);
  } else if (const auto internal = behind(chain, affinity_internal_chain(""))) {
    state.route = Route::InternalAffinity;
    state.affinity = *internal;
  } else if (const auto external = behind(chain, affinity_external_chain(""))) {
    state.route = Route::ExternalAffinity;
    state.affinity = *external;
  }
}

// Where a frontend of policy Local leads one of its two kinds of clients.
void read_list(const std::string& chain, const std::string& affinity_prefix, SlotTable& slots,
               LiveFrontend& state) {
  if (const auto drawn = slot_chain_of(chain)) {
    slots.slots.resize(drawn->slots);
  } else if (const auto name = behind(chain, affinity_prefix)) {
    state.affinity = *name;
  }
}

bool is_fit(const SlotTable& table) { return table.size() == 0 || table.valid(); }

}  // namespace

const std::vector<nft::Element>& FrontendAdoption::elements(std::string_view set) const {
  static const std::vector<nft::Element> kNone;
  const auto found =
      std::find_if(ruleset_.sets.begin(), ruleset_.sets.end(),
                   [&](const nft::Ruleset::SetState& state) { return state.set.name == set; });
  return found == ruleset_.sets.end() ? kNone : found->elements;
}

FrontendAdoption::Found* FrontendAdoption::find(std::string_view set, const nft::Element& element,
                                                FrontendKey key) {
  const std::optional<Frontend> frontend = frontend_of(element.key, key, family_);
  if (!frontend) {
    unfit.push_back({set, &element, element.comment});
    return nullptr;
  }
  Found& found = found_[*frontend];
  found.fixed.emplace_back(set, &element);
  if (found.owner.empty()) found.owner = element.comment;
  return &found;
}

void FrontendAdoption::read_verdict(const FrontendSets& sets, std::string_view map,
                                    const nft::Element& element, Found& found) const {
  const auto* verdict = std::get_if<nft::Verdict>(&element.value);
  if (!verdict || verdict->kind != nft::Verdict::Kind::Goto) {
    found.consistent = false;
    return;
  }
  if (map == sets.verdicts) read_entry(verdict->chain, sets, found.state);
  if (map == sets.short_circuit) {
    found.state.short_circuit = true;
    read_list(verdict->chain, affinity_cluster_chain(""), found.state.cluster, found.state);
  }
  if (map == sets.local_services) {
    found.state.local_service = true;
    read_list(verdict->chain, affinity_local_chain(""), found.state.local, found.state);
  }
}

void FrontendAdoption::read(const FrontendSets& sets) {
  for (const std::string_view map : {sets.verdicts, sets.short_circuit, sets.local_services}) {
    for (const nft::Element& element : elements(map)) {
      Found* found = find(map, element, sets.key);
      if (found) read_verdict(sets, map, element, *found);
    }
  }
  for (const std::string_view set : {sets.reject, sets.drop}) {
    for (const nft::Element& element : elements(set)) {
      Found* found = find(set, element, sets.key);
      if (!found) continue;
      if (found->state.refusal != Refusal::None) found->consistent = false;
      found->state.refusal = set == sets.reject ? Refusal::Reject : Refusal::Drop;
    }
  }
}

void FrontendAdoption::read_allowed_sources() {
  for (const nft::Element& element : elements(kFirewalledServices)) {
    find(kFirewalledServices, element, FrontendKey::Address);
  }
  for (const nft::Element& element : elements(kAllowedSources)) {
    const std::optional<AllowedSource> allowed = allowed_source_of(element, family_);
    const auto entry = allowed ? found_.find(allowed->frontend) : found_.end();
    if (!allowed || entry == found_.end()) {
      unfit.push_back({kAllowedSources, &element, ""});
      continue;
    }
    entry->second.fixed.emplace_back(kAllowedSources, &element);
    entry->second.state.allowed_sources.push_back(allowed->sources);
  }
}

void FrontendAdoption::read_slots(const FrontendSets& sets, std::string_view map) {
  for (const nft::Element& element : elements(map)) {
    const std::optional<SlotKey> key = slot_of(element.key, sets.key, family_);
    const auto* datum = std::get_if<nft::Bytes>(&element.value);
    const std::optional<Endpoint> endpoint = datum ? endpoint_of(*datum, family_) : std::nullopt;
    const auto entry = key ? found_.find(key->frontend) : found_.end();
    if (!key || !endpoint || entry == found_.end()) {
      unfit.push_back({map, &element, entry == found_.end() ? "" : entry->second.owner});
      continue;
    }
    Found& found = entry->second;
    SlotTable& table = map == sets.cluster_endpoints ? found.state.cluster : found.state.local;
    if (key->slot >= table.size()) {
      // Beyond the table, so no packet finds it: only itself is unfit.
      unfit.push_back({map, &element, found.owner});
      continue;
    }
    table.slots[key->slot] = *endpoint;
    found.slots.emplace_back(map, &element);
  }
}

void FrontendAdoption::judge(const Frontend& frontend, Found& found,
                             const std::function<bool(const std::string&)>& is_chain) {
  LiveFrontend& state = found.state;
  state.owner = found.owner;
  std::sort(state.allowed_sources.begin(), state.allowed_sources.end());
  bool fits = found.consistent && is_fit(state.cluster) && is_fit(state.local);
  const std::vector<PlacedElement> made = frontend_elements(frontend, state);
  fits = fits && made.size() == found.fixed.size();
  for (const PlacedElement& wanted : made) {
    const auto* verdict = std::get_if<nft::Verdict>(&wanted.element.value);
    if (verdict && !is_chain(verdict->chain)) fits = false;
    fits = fits && std::any_of(found.fixed.begin(), found.fixed.end(), [&](const auto& one) {
             return one.first == wanted.set && *one.second == wanted.element;
           });
  }
  if (fits && !made.empty()) {
    fit.emplace(frontend, std::move(state));
    return;
  }
  for (const auto* list : {&found.fixed, &found.slots}) {
    for (const auto& [set, element] : *list) unfit.push_back({set, element, found.owner});
  }
}

void FrontendAdoption::run(const std::function<bool(const std::string&)>& is_chain) {
  for (const FrontendSets* sets : {&kAddressSets, &kNodePortSets}) read(*sets);
  read_allowed_sources();
  for (const FrontendSets* sets : {&kAddressSets, &kNodePortSets}) {
    read_slots(*sets, sets->cluster_endpoints);
    read_slots(*sets, sets->local_endpoints);
  }
  for (auto& [frontend, found] : found_) judge(frontend, found, is_chain);
}

}  // namespace mkp
