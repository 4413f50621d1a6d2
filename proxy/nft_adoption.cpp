#include "proxy/nft_adoption.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "proxy/nft_elements.h"

namespace mkp {
namespace {

using ChainState = nft::Ruleset::ChainState;
using SetState = nft::Ruleset::SetState;

const ChainState* find_chain(const nft::Ruleset& ruleset, std::string_view name) {
  const auto found =
      std::find_if(ruleset.chains.begin(), ruleset.chains.end(),
                   [&](const ChainState& state) { return state.chain.name == name; });
  return found == ruleset.chains.end() ? nullptr : &*found;
}

const SetState* find_set(const nft::Ruleset& ruleset, std::string_view name) {
  const auto found = std::find_if(ruleset.sets.begin(), ruleset.sets.end(),
                                  [&](const SetState& state) { return state.set.name == name; });
  return found == ruleset.sets.end() ? nullptr : &*found;
}

// Sorts one dump into what is fit for use and what is not. The operations come out in an order that
// the kernel takes: rules first, as they refer to chains and sets; then elements; then chains and
// sets; then what is missing.
class Adopter {
 public:
  Adopter(const nft::Ruleset& ruleset, const NftSettings& settings)
      : ruleset_(ruleset), settings_(settings) {}

  Adoption run() {
    // Foreign sets go before foreign chains: an element of theirs may name such a chain.
    adopt_sets();
    adopt_chains();
    adopt_frontends();
    adopt_shared();
    std::move(deletions_.begin(), deletions_.end(), std::back_inserter(adoption_.repairs));
    std::move(creations_.begin(), creations_.end(), std::back_inserter(adoption_.repairs));
    return std::move(adoption_);
  }

 private:
  void repair(nft::Operation operation, std::string comment = "") {
    adoption_.repairs.push_back({std::move(operation), std::move(comment)});
  }
  void refill(const ChainState& wanted) {
    for (const nft::Rule& rule : wanted.rules)
      creations_.push_back({{nft::AddRule{wanted.chain.name, rule}}, ""});
  }

  // A chain that shall hold exactly these rules.
  void adopt_chain(const ChainState& wanted) {
    known_chains_.insert(wanted.chain.name);
    const ChainState* found = find_chain(ruleset_, wanted.chain.name);
    if (found && *found == wanted) return;
    if (found) repair({nft::FlushChain{wanted.chain.name}});
    if (found && found->chain != wanted.chain)
      deletions_.push_back({{nft::DeleteChain{wanted.chain.name}}, ""});
    if (!found || found->chain != wanted.chain)
      creations_.push_back({{nft::AddChain{wanted.chain}}, ""});
    refill(wanted);
  }

  void adopt_chains() {
    for (const ChainState& wanted : fixed_chains(settings_)) adopt_chain(wanted);
    for (const ChainState& state : ruleset_.chains) {
      const std::optional<std::uint32_t> slots = slots_of_chain(state.chain.name);
      if (!slots || state.chain.hook) continue;
      for (const ChainState& wanted : slot_chains(settings_, *slots)) adopt_chain(wanted);
      adoption_.live.slot_chains[*slots] = 0;
    }
    for (const ChainState& state : ruleset_.chains) {
      if (known_chains_.contains(state.chain.name)) continue;
      repair({nft::FlushChain{state.chain.name}});
      deletions_.push_back({{nft::DeleteChain{state.chain.name}}, ""});
    }
  }

  void adopt_sets() {
    const std::vector<nft::Set> wanted = layout_sets(settings_.family);
    for (const SetState& state : ruleset_.sets) {
      const bool ours = std::any_of(wanted.begin(), wanted.end(), [&](const nft::Set& set) {
        return set.name == state.set.name;
      });
      if (!ours) deletions_.push_back({{nft::DeleteSet{state.set.name}}, ""});
    }
  }

  void discard(std::string_view set, const nft::Element& element, std::string comment = "") {
    if (comment.empty()) comment = element.comment;
    repair({nft::DeleteElement{set, element}}, std::move(comment));
  }

  struct Found {
    const nft::Element* verdict = nullptr;
    SlotTable slots;
    std::vector<const nft::Element*> elements;
    bool fit = true;
  };

  void adopt_frontends() {
    const IpFamily family = settings_.family;
    std::unordered_map<Frontend, Found> found;
    for (const nft::Element& element : elements(kServices)) {
      const std::optional<Frontend> frontend = frontend_of(element.key, family);
      const auto* verdict = std::get_if<nft::Verdict>(&element.value);
      const std::optional<std::uint32_t> slots =
          verdict && verdict->kind == nft::Verdict::Kind::Goto ? slots_of_chain(verdict->chain)
                                                               : std::nullopt;
      if (!frontend || !slots || !adoption_.live.slot_chains.contains(*slots)) {
        discard(kServices, element);
        continue;
      }
      Found& entry = found[*frontend];
      entry.verdict = &element;
      entry.slots.slots.resize(*slots);
    }
    for (const nft::Element& element : elements(kClusterEndpoints)) {
      const std::optional<SlotKey> key = slot_of(element.key, family);
      const auto* datum = std::get_if<nft::Bytes>(&element.value);
      const std::optional<Endpoint> endpoint = datum ? endpoint_of(*datum, family) : std::nullopt;
      const auto entry = key ? found.find(key->frontend) : found.end();
      const bool has_seat = key && entry != found.end() && key->slot < entry->second.slots.size();
      if (!key || !endpoint || !has_seat) {
        discard(kClusterEndpoints, element,
                entry == found.end() ? "" : entry->second.verdict->comment);
        continue;
      }
      entry->second.slots.slots[key->slot] = *endpoint;
      entry->second.elements.push_back(&element);
    }
    for (auto& [frontend, entry] : found) keep_or_discard(frontend, entry);
    for (const nft::Element& element : elements(kRejectServices)) {
      const std::optional<Frontend> frontend = frontend_of(element.key, family);
      if (!frontend ||
          !adoption_.live.frontends.try_emplace(*frontend, LiveFrontend{{}, element.comment})
               .second) {
        discard(kRejectServices, element);
      }
    }
  }

  void keep_or_discard(const Frontend& frontend, Found& entry) {
    if (!entry.slots.valid()) {
      discard(kServices, *entry.verdict);
      for (const nft::Element* element : entry.elements) {
        discard(kClusterEndpoints, *element, entry.verdict->comment);
      }
      return;
    }
    ++adoption_.live.slot_chains[entry.slots.size()];
    adoption_.live.frontends.emplace(frontend,
                                     LiveFrontend{std::move(entry.slots), entry.verdict->comment});
  }

  void adopt_shared() {
    for (const nft::Element& element : elements(kClusterIps)) {
      const std::optional<IpAddress> ip = address_of(element.key, settings_.family);
      if (ip) adoption_.live.cluster_ips[*ip] = 0;
      if (!ip) discard(kClusterIps, element);
    }
    for (const nft::Element& element : elements(kHairpin)) {
      const std::optional<IpAddress> ip = hairpin_of(element.key, settings_.family);
      if (ip) adoption_.live.hairpin[*ip] = 0;
      if (!ip) discard(kHairpin, element);
    }
  }

  const std::vector<nft::Element>& elements(std::string_view set) const {
    static const std::vector<nft::Element> kNone;
    const SetState* state = find_set(ruleset_, set);
    return state ? state->elements : kNone;
  }

  const nft::Ruleset& ruleset_;
  const NftSettings& settings_;
  Adoption adoption_;
  std::unordered_set<std::string> known_chains_;
  std::vector<Adoption::Repair> deletions_;
  std::vector<Adoption::Repair> creations_;
};

bool is_this_layout(const nft::Ruleset& ruleset, const NftSettings& settings) {
  for (const nft::Set& wanted : layout_sets(settings.family)) {
    const SetState* found = find_set(ruleset, wanted.name);
    if (!found || found->set != wanted) return false;
  }
  const std::vector<ChainState> chains = fixed_chains(settings);
  return std::all_of(chains.begin(), chains.end(), [&](const ChainState& wanted) {
    // A base chain can be deleted and made again; one that others jump to cannot.
    const ChainState* found = find_chain(ruleset, wanted.chain.name);
    return !found || found->chain == wanted.chain || wanted.chain.hook;
  });
}

Adoption create_table(bool replace, const NftSettings& settings) {
  Adoption adoption;
  const auto add = [&](nft::Operation operation) {
    adoption.repairs.push_back({std::move(operation), ""});
  };
  if (replace) add({nft::DeleteTable{}});
  add({nft::AddTable{}});
  for (nft::Set& set : layout_sets(settings.family)) add({nft::AddSet{std::move(set)}});
  for (ChainState& state : fixed_chains(settings)) {
    add({nft::AddChain{state.chain}});
    for (nft::Rule& rule : state.rules) add({nft::AddRule{state.chain.name, std::move(rule)}});
  }
  return adoption;
}

}  // namespace

Adoption adopt(const std::optional<nft::Ruleset>& ruleset, const NftSettings& settings) {
  if (!ruleset) return create_table(false, settings);
  if (!is_this_layout(*ruleset, settings)) return create_table(true, settings);
  return Adopter(*ruleset, settings).run();
}

}  // namespace mkp
