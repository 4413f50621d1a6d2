#include "tests/fakes/fake_nftables.h"

#include <algorithm>
#include <cerrno>
#include <ranges>

#include "netlink/batch.h"
#include "netlink/nft_text.h"
#include "tests/fakes/fake_commit.h"

namespace mkp::nft {

Ruleset::ChainState* FakeNftables::Table::find_chain(std::string_view name) {
  const auto found = std::ranges::find(chains, name, [](const Ruleset::ChainState& state) {
    return std::string_view(state.chain.name);
  });
  return found == chains.end() ? nullptr : &*found;
}

FakeNftables::SetTable* FakeNftables::Table::find_set(std::string_view name) {
  const auto found = std::ranges::find(
      sets, name, [](const SetTable& state) { return std::string_view(state.set.name); });
  return found == sets.end() ? nullptr : &*found;
}

Result<std::vector<Refusal>> FakeNftables::commit(const Transaction& transaction,
                                                  std::optional<std::uint32_t> generation) {
  if (transaction.operations.empty()) return std::vector<Refusal>{};
  const Batch batch(transaction, generation, 1);
  ++counters_.commits;
  counters_.operations += transaction.operations.size();
  counters_.messages += batch.messages();
  counters_.bytes += batch.bytes().size();

  if (auto failure = std::exchange(failure_, std::nullopt)) return tl::unexpected<Error>(*failure);
  if (!batch.unsendable().empty()) return batch.unsendable();
  if (generation && *generation != generation_) {
    return fail_errno(ERESTART, "commit table " + transaction.table);
  }
  if (!refusals_.empty()) return std::exchange(refusals_, {});

  FakeCommit commit(*this, transaction);
  std::vector<Refusal> refused = commit.run();
  if (!refused.empty()) {
    commit.undo();
  } else if (commit.changed_anything()) {
    if (++generation_ == 0) generation_ = 1;
  }
  return refused;
}

Ruleset FakeNftables::ruleset_of(const Key& key, const Table& table) const {
  Ruleset ruleset;
  ruleset.family = key.first;
  ruleset.table = key.second;
  ruleset.generation = generation_;
  ruleset.chains = table.chains;
  for (const SetTable& set : table.sets) {
    if (set.set.content == Set::Content::Remembered) {
      ruleset.sets.push_back({set.set, {}});
      continue;
    }
    const auto elements = std::views::values(set.elements);
    ruleset.sets.push_back({set.set, {elements.begin(), elements.end()}});
  }
  return ruleset;
}

Result<std::optional<Ruleset>> FakeNftables::dump(IpFamily family, std::string_view table) {
  ++counters_.dumps;
  if (auto failure = std::exchange(dump_failure_, std::nullopt)) {
    return tl::unexpected<Error>(*failure);
  }
  const auto found = tables_.find({family, std::string(table)});
  if (found == tables_.end()) return std::optional<Ruleset>();
  return ruleset_of(found->first, found->second);
}

FakeNftables::Table& FakeNftables::edit(IpFamily family, std::string_view table) {
  ++generation_;
  return tables_[{family, std::string(table)}];
}

const FakeNftables::Table* FakeNftables::find_table(IpFamily family, std::string_view table) const {
  const auto found = tables_.find({family, std::string(table)});
  return found == tables_.end() ? nullptr : &found->second;
}

std::string FakeNftables::text(IpFamily family, std::string_view table) const {
  const auto found = tables_.find({family, std::string(table)});
  return found == tables_.end() ? "" : to_text(ruleset_of(found->first, found->second));
}

std::size_t FakeNftables::element_count(IpFamily family, std::string_view table,
                                        std::string_view set) const {
  const auto found = tables_.find({family, std::string(table)});
  if (found == tables_.end()) return 0;
  const auto state = std::ranges::find(found->second.sets, set, [](const SetTable& candidate) {
    return std::string_view(candidate.set.name);
  });
  return state == found->second.sets.end() ? 0 : state->elements.size();
}

}  // namespace mkp::nft
