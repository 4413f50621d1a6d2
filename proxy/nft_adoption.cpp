#include "proxy/nft_adoption.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "proxy/nft_affinity.h"
#include "proxy/nft_elements.h"
#include "proxy/nft_frontend_adoption.h"

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

bool remembers_as_ours(const SetState& state) {
  return !state.set.foreign && state.set.content == nft::Set::Content::Remembered;
}

// Whether a rule adds clients to the set.
bool is_updated(const std::string& set, const nft::Ruleset& ruleset) {
  const auto updates = [&](const nft::Expression& expression) {
    const auto* update = std::get_if<nft::SetUpdate>(&expression);
    return update && update->set == set;
  };
  const auto has_update = [&](const nft::Rule& rule) {
    return std::any_of(rule.expressions.begin(), rule.expressions.end(), updates);
  };
  return std::any_of(ruleset.chains.begin(), ruleset.chains.end(), [&](const ChainState& state) {
    return std::any_of(state.rules.begin(), state.rules.end(), has_update);
  });
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
    for (const ChainState& state : ruleset_.chains) adopt_slot_chain(state);
    adopt_affinity();
    for (const ChainState& state : ruleset_.chains) {
      if (known_chains_.contains(state.chain.name)) continue;
      if (!state.rules.empty()) repair({nft::FlushChain{state.chain.name}});
      if (is_affinity_chain(state.chain.name) && !state.chain.hook) {
        adoption_.live.idle_chains.insert(state.chain.name);
      } else {
        deletions_.push_back({{nft::DeleteChain{state.chain.name}}, ""});
      }
    }
  }

  void adopt_slot_chain(const ChainState& state) {
    const std::optional<SlotChain> chain = slot_chain_of(state.chain.name);
    if (!chain || state.chain.hook) return;
    // What it goes to must be there before it does.
    for (const std::optional<SlotChain>& one : {successor(*chain), chain}) {
      if (!one || !adoption_.live.slot_chains.try_emplace(*one, 0).second) continue;
      adopt_chain(slot_chain_state(settings_, *one));
    }
  }

  void adopt_affinity() {
    std::map<std::string_view, const ChainState*> chains;
    for (const ChainState& state : ruleset_.chains) chains.emplace(state.chain.name, &state);
    adoption_.live.affinity = read_affinity(settings_, chains);
    for (const auto& [name, rules] : adoption_.live.affinity) {
      for (const ChainState& state : affinity_chains(settings_, name, rules)) adopt_chain(state);
    }
  }

  void adopt_sets() {
    const std::vector<nft::Set> wanted = layout_sets(settings_.family);
    for (const SetState& state : ruleset_.sets) {
      const bool ours = std::any_of(wanted.begin(), wanted.end(), [&](const nft::Set& set) {
        return set.name == state.set.name;
      });
      if (is_affinity_set(state.set.name) && remembers_as_ours(state)) {
        adoption_.affinity_sets.insert(state.set.name);
      } else if (!ours) {
        deletions_.push_back({{nft::DeleteSet{state.set.name}}, ""});
      }
    }
  }

  void discard(std::string_view set, const nft::Element& element, std::string comment = "") {
    if (comment.empty()) comment = element.comment;
    repair({nft::DeleteElement{set, element}}, std::move(comment));
  }

  void adopt_frontends() {
    FrontendAdoption frontends(ruleset_, settings_.family);
    frontends.run([this](const std::string& chain) { return known_chains_.contains(chain); });
    for (const auto& [set, element, owner] : frontends.unfit) discard(set, *element, owner);
    for (const auto& [frontend, state] : frontends.fit) {
      for (const SlotChain& chain : slot_chains_of(frontend, state)) {
        ++adoption_.live.slot_chains[chain];
      }
    }
    adoption_.live.frontends = std::move(frontends.fit);
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
    for (const nft::Element& element : elements(kNodePortIps)) {
      const std::optional<IpAddress> ip = address_of(element.key, settings_.family);
      if (ip) adoption_.live.node_port_ips.insert(*ip);
      if (!ip) discard(kNodePortIps, element);
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
  // What rules remember clients by in another way than ours.
  const auto is_odd = [&](const SetState& state) {
    return is_affinity_set(state.set.name) && !remembers_as_ours(state) &&
           is_updated(state.set.name, ruleset);
  };
  if (std::any_of(ruleset.sets.begin(), ruleset.sets.end(), is_odd)) return false;
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
