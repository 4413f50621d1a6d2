#include "tests/fakes/fake_commit.h"

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <variant>

#include "netlink/set_shape.h"

namespace mkp::nft {
namespace {

// nat chains must come after connection tracking, NF_IP_PRI_CONNTRACK.
constexpr int kConntrackPriority = -200;

const std::string* chain_of(const Expression& expression) {
  const auto* immediate = std::get_if<ImmediateVerdict>(&expression);
  return immediate == nullptr || immediate->verdict.chain.empty() ? nullptr
                                                                  : &immediate->verdict.chain;
}

// The elements of one message: the kernel stops at the first bad one.
std::string_view added_to(const Operation& operation) {
  const auto* add = std::get_if<AddElement>(&operation.what);
  return add == nullptr ? std::string_view() : add->set;
}
std::string_view deleted_from(const Operation& operation) {
  const auto* remove = std::get_if<DeleteElement>(&operation.what);
  return remove == nullptr ? std::string_view() : remove->set;
}
bool same_message(const Operation& one, const Operation& next) {
  if (!added_to(one).empty()) return added_to(one) == added_to(next);
  return !deleted_from(one).empty() && deleted_from(one) == deleted_from(next);
}

// Where an interval ends; a key alone is an interval of one.
const Bytes& end_of(const Element& element) {
  const auto* end = std::get_if<IntervalEnd>(&element.value);
  return end == nullptr ? element.key : end->key;
}

// Whether each field of `key` lies between those of the two others.
bool lies_between(const std::vector<Field>& fields, const Bytes& first, const Bytes& key,
                  const Bytes& last) {
  std::size_t at = 0;
  for (const Field field : fields) {
    const auto part = [&](const Bytes& bytes) {
      return Bytes(bytes.span().subspan(at, size_of(field)));
    };
    if (part(key) < part(first) || part(last) < part(key)) return false;
    at += (size_of(field) + 3) / 4 * 4;
  }
  return true;
}

const Element* find_interval(const FakeNftables::SetTable& set, const Bytes& key) {
  const auto found = std::ranges::find_if(set.elements, [&](const auto& entry) {
    return lies_between(set.set.key, entry.first, key, end_of(entry.second));
  });
  return found == set.elements.end() ? nullptr : &found->second;
}

// Of an interval, both ends are its key.
int check_key(const Set& set, const Element& element) {
  if (element.key.size() != size_of(set.key)) return EINVAL;
  const auto* end = std::get_if<IntervalEnd>(&element.value);
  if (end == nullptr) return 0;
  if (set.content != Set::Content::Intervals) return EINVAL;
  return end->key.size() == size_of(set.key) ? 0 : EINVAL;
}

int check_hook(const BaseHook& hook) {
  if (hook.type != BaseHook::Type::Nat) return 0;
  if (hook.hook == BaseHook::Hook::Forward) return EOPNOTSUPP;
  return hook.priority <= kConntrackPriority ? EOPNOTSUPP : 0;
}

}  // namespace

std::vector<Refusal> FakeCommit::run() {
  std::vector<Refusal> refused;
  const std::vector<Operation>& operations = transaction_.operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    int err = kernel_.objection_ ? kernel_.objection_(operations[i]) : 0;
    if (err == 0) err = std::visit(*this, operations[i].what);
    if (err == 0) continue;
    refused.push_back({i, i, err});
    while (i + 1 < operations.size() && same_message(operations[i], operations[i + 1])) ++i;
  }
  return refused;
}

void FakeCommit::undo() {
  for (const std::function<void()>& step : std::views::reverse(undo_)) step();
  undo_.clear();
}

FakeNftables::Table* FakeCommit::table() {
  const auto found = kernel_.tables_.find(key_);
  return found == kernel_.tables_.end() ? nullptr : &found->second;
}

int FakeCommit::operator()(const AddTable&) {
  if (kernel_.tables_.try_emplace(key_).second) {
    on_undo([this] { kernel_.tables_.erase(key_); });
  }
  return 0;
}

int FakeCommit::operator()(const DeleteTable&) {
  if (table() == nullptr) return ENOENT;
  on_undo([this, before = std::move(*table())]() mutable {
    kernel_.tables_[key_] = std::move(before);
  });
  kernel_.tables_.erase(key_);
  return 0;
}

int FakeCommit::operator()(const AddChain& add) {
  if (table() == nullptr) return ENOENT;
  if (const Ruleset::ChainState* existing = table()->find_chain(add.chain.name)) {
    return !add.chain.hook || existing->chain.hook == add.chain.hook ? 0 : EEXIST;
  }
  if (add.chain.hook) {
    if (const int err = check_hook(*add.chain.hook)) return err;
  }
  table()->chains.push_back({add.chain, {}});
  on_undo([this] { table()->chains.pop_back(); });
  return 0;
}

int FakeCommit::operator()(const DeleteChain& remove) {
  Ruleset::ChainState* chain = table() == nullptr ? nullptr : table()->find_chain(remove.chain);
  if (chain == nullptr) return ENOENT;
  if (is_chain_used(remove.chain)) return EBUSY;
  const auto at = chain - table()->chains.data();
  on_undo([this, at, before = std::move(*chain)] {
    table()->chains.insert(table()->chains.begin() + at, before);
  });
  table()->chains.erase(table()->chains.begin() + at);
  return 0;
}

int FakeCommit::operator()(const FlushChain& flush) {
  Ruleset::ChainState* chain = table() == nullptr ? nullptr : table()->find_chain(flush.chain);
  if (chain == nullptr) return ENOENT;
  if (chain->rules.empty()) return 0;
  on_undo([this, name = flush.chain, before = std::move(chain->rules)] {
    table()->find_chain(name)->rules = before;
  });
  chain->rules.clear();
  return 0;
}

int FakeCommit::operator()(const AddRule& add) {
  Ruleset::ChainState* chain = table() == nullptr ? nullptr : table()->find_chain(add.chain);
  if (chain == nullptr) return ENOENT;
  for (const Expression& expression : add.rule.expressions) {
    if (const int err = check_expression(expression)) return err;
  }
  chain->rules.push_back(add.rule);
  on_undo([this, name = add.chain] { table()->find_chain(name)->rules.pop_back(); });
  return 0;
}

int FakeCommit::operator()(const AddSet& add) {
  if (table() == nullptr) return ENOENT;
  if (const FakeNftables::SetTable* existing = table()->find_set(add.set.name)) {
    return existing->set == add.set ? 0 : EEXIST;
  }
  if (add.set.key.empty() || size_of(add.set.key) > Bytes::kMaxSize) return EINVAL;
  table()->sets.push_back({add.set, {}});
  on_undo([this] { table()->sets.pop_back(); });
  return 0;
}

int FakeCommit::operator()(const DeleteSet& remove) {
  FakeNftables::SetTable* set = table() == nullptr ? nullptr : table()->find_set(remove.set);
  if (set == nullptr) return ENOENT;
  if (is_set_used(remove.set)) return EBUSY;
  const auto at = set - table()->sets.data();
  on_undo([this, at, before = std::move(*set)] {
    table()->sets.insert(table()->sets.begin() + at, before);
  });
  table()->sets.erase(table()->sets.begin() + at);
  return 0;
}

int FakeCommit::operator()(const AddElement& add) {
  FakeNftables::SetTable* set = table() == nullptr ? nullptr : table()->find_set(add.set);
  if (set == nullptr) return ENOENT;
  if (const int err = check_value(set->set, add.element)) return err;
  if (set->set.content == Set::Content::Intervals) return add_interval(*set, add.element);
  const auto existing = set->elements.find(add.element.key);
  if (existing == set->elements.end()) {
    insert(*set, add.element);
    return 0;
  }
  // An element that is there already keeps its comment.
  return existing->second.value == add.element.value ? 0 : EEXIST;
}

int FakeCommit::add_interval(FakeNftables::SetTable& set, const Element& added) {
  if (const Element* existing = find_interval(set, added.key)) {
    const bool same = existing->key == added.key && end_of(*existing) == end_of(added);
    return same ? 0 : EEXIST;
  }
  if (find_interval(set, end_of(added)) != nullptr) return EEXIST;
  if (!lies_between(set.set.key, added.key, added.key, end_of(added))) return EINVAL;
  insert(set, added);
  return 0;
}

void FakeCommit::insert(FakeNftables::SetTable& set, const Element& added) {
  set.elements.emplace(added.key, added);
  on_undo([this, name = set.set.name, key = added.key] {
    table()->find_set(name)->elements.erase(key);
  });
}

int FakeCommit::operator()(const DeleteElement& remove) {
  FakeNftables::SetTable* set = table() == nullptr ? nullptr : table()->find_set(remove.set);
  if (set == nullptr) return ENOENT;
  if (const int err = check_key(set->set, remove.element)) return err;
  Bytes key = remove.element.key;
  if (set->set.content == Set::Content::Intervals) {
    // The interval in which it lies: the kernel looks at nothing else.
    if (const Element* existing = find_interval(*set, key)) key = existing->key;
  }
  auto node = set->elements.extract(key);
  if (node.empty()) return ENOENT;
  on_undo([this, name = std::string(remove.set), before = std::move(node.mapped())] {
    table()->find_set(name)->elements.insert_or_assign(before.key, before);
  });
  return 0;
}

int FakeCommit::check_verdict(const Verdict& verdict) {
  const bool jumps = verdict.kind == Verdict::Kind::Jump || verdict.kind == Verdict::Kind::Goto;
  if (!jumps) return 0;
  const Ruleset::ChainState* chain = table()->find_chain(verdict.chain);
  if (chain == nullptr) return ENOENT;
  return chain->chain.hook ? EOPNOTSUPP : 0;
}

int FakeCommit::check_expression(const Expression& expression) {
  if (const auto* immediate = std::get_if<ImmediateVerdict>(&expression)) {
    return check_verdict(immediate->verdict);
  }
  if (const auto* update = std::get_if<SetUpdate>(&expression)) {
    const FakeNftables::SetTable* set = table()->find_set(update->set);
    if (set == nullptr) return ENOENT;
    return set->set.content == Set::Content::Remembered ? 0 : EOPNOTSUPP;
  }
  const auto* lookup = std::get_if<Lookup>(&expression);
  if (lookup == nullptr) return 0;
  const FakeNftables::SetTable* set = table()->find_set(lookup->set);
  if (set == nullptr) return ENOENT;
  if (lookup->use == Lookup::Use::Match) return 0;
  const bool verdicts = set->set.kind == Set::Kind::VerdictMap;
  if (set->set.kind == Set::Kind::Set) return EINVAL;
  return verdicts == (lookup->use == Lookup::Use::Verdict) ? 0 : EINVAL;
}

int FakeCommit::check_value(const Set& set, const Element& element) {
  if (const int err = check_key(set, element)) return err;
  switch (set.kind) {
    case Set::Kind::Set: {
      const bool has_value = std::holds_alternative<Bytes>(element.value) ||
                             std::holds_alternative<Verdict>(element.value);
      return has_value ? EINVAL : 0;
    }
    case Set::Kind::DataMap: {
      const auto* datum = std::get_if<Bytes>(&element.value);
      return datum != nullptr && datum->size() == size_of(set.data) ? 0 : EINVAL;
    }
    case Set::Kind::VerdictMap: {
      const auto* verdict = std::get_if<Verdict>(&element.value);
      return verdict == nullptr ? EINVAL : check_verdict(*verdict);
    }
  }
  return EINVAL;
}

bool FakeCommit::is_chain_used(std::string_view chain) {
  const auto names_it = [&](const Expression& expression) {
    const std::string* target = chain_of(expression);
    return target != nullptr && *target == chain;
  };
  const auto jumps_there = [&](const Ruleset::ChainState& state) {
    return state.chain.name != chain && std::ranges::any_of(state.rules, [&](const Rule& rule) {
             return std::ranges::any_of(rule.expressions, names_it);
           });
  };
  const auto has_element = [&](const FakeNftables::SetTable& set) {
    return std::ranges::any_of(set.elements, [&](const auto& entry) {
      const auto* verdict = std::get_if<Verdict>(&entry.second.value);
      return verdict != nullptr && verdict->chain == chain;
    });
  };
  return std::ranges::any_of(table()->chains, jumps_there) ||
         std::ranges::any_of(table()->sets, has_element);
}

bool FakeCommit::is_set_used(std::string_view set) {
  const auto names_it = [&](const Expression& expression) {
    const auto* lookup = std::get_if<Lookup>(&expression);
    const auto* update = std::get_if<SetUpdate>(&expression);
    return (lookup != nullptr && lookup->set == set) || (update != nullptr && update->set == set);
  };
  return std::ranges::any_of(table()->chains, [&](const Ruleset::ChainState& state) {
    return std::ranges::any_of(state.rules, [&](const Rule& rule) {
      return std::ranges::any_of(rule.expressions, names_it);
    });
  });
}

}  // namespace mkp::nft
