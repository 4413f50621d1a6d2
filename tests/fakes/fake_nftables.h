#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netlink/nftables.h"
#include "netlink/ruleset.h"
#include "runner/result.h"

namespace mkp::nft {

// nf_tables in memory: atomic, and as strict as the kernel. It and the kernel pass one contract
// suite, tests/netlink/nftables_contract.h; where they differ, this one is wrong. It does not
// follow jumps, though: loops, and NAT in a chain that a filter hook leads to, are the kernel's to
// refuse.
class FakeNftables final : public Nftables {
 public:
  // What has been asked for, whether it was taken or not.
  struct Counters {
    std::size_t commits = 0;     // with at least one operation
    std::size_t operations = 0;  // in them
    std::size_t messages = 0;    // as which they would have been sent
    std::size_t bytes = 0;
    std::size_t dumps = 0;
  };
  struct SetTable {
    Set set;
    std::map<Bytes, Element> elements;
  };
  struct Table {
    std::vector<Ruleset::ChainState> chains;  // in the order in which they were made
    std::vector<SetTable> sets;

    Ruleset::ChainState* find_chain(std::string_view name);
    SetTable* find_set(std::string_view name);
  };

  Result<std::vector<Refusal>> commit(const Transaction& transaction,
                                      std::optional<std::uint32_t> generation) override;
  Result<std::optional<Ruleset>> dump(IpFamily family, std::string_view table) override;
  Result<std::uint32_t> generation() override { return generation_; }

  const Counters& counters() const { return counters_; }
  void reset_counters() { counters_ = {}; }

  // The next commit fails as a whole with that, and changes nothing.
  void fail_next_commit(Error error) { failure_ = std::move(error); }
  // The next commit is refused for these, and changes nothing.
  void refuse_next(std::vector<Refusal> refusals) { refusals_ = std::move(refusals); }
  // Whatever is committed, an operation for which this holds is refused with that errno, until it
  // is set to nothing again.
  using Objection = std::function<int(const Operation&)>;  // 0, or a positive errno
  void object(Objection objection) { objection_ = std::move(objection); }
  // The next dump fails with that.
  void fail_next_dump(Error error) { dump_failure_ = std::move(error); }

  // For what other programs do behind our back: the table, made if there is none, with the
  // generation moved on. Nothing is checked.
  Table& edit(IpFamily family, std::string_view table);
  // To look at. Null when there is no such table.
  const Table* find_table(IpFamily family, std::string_view table) const;

  // The table as nft would list it; empty when there is none.
  std::string text(IpFamily family, std::string_view table) const;
  std::size_t element_count(IpFamily family, std::string_view table, std::string_view set) const;

 private:
  friend class FakeCommit;
  using Key = std::pair<IpFamily, std::string>;

  Ruleset ruleset_of(const Key& key, const Table& table) const;

  std::map<Key, Table> tables_;
  std::uint32_t generation_ = 1;
  Counters counters_;
  std::optional<Error> failure_;
  std::vector<Refusal> refusals_;
  Objection objection_;
  std::optional<Error> dump_failure_;
};

}  // namespace mkp::nft
