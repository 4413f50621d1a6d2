#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "netlink/nftables.h"
#include "netlink/ruleset.h"
#include "tests/fakes/fake_nftables.h"

namespace mkp::nft {

// One transaction on a FakeNftables. Like the kernel it goes on after a refusal, so that all of
// them are told, and takes everything back afterwards.
class FakeCommit {
 public:
  FakeCommit(FakeNftables& kernel, const Transaction& transaction)
      : kernel_(kernel), transaction_(transaction), key_(transaction.family, transaction.table) {}

  std::vector<Refusal> run();
  void undo();
  bool changed_anything() const { return !undo_.empty(); }

  // Each returns 0 or a positive errno.
  int operator()(const AddTable&);
  int operator()(const DeleteTable&);
  int operator()(const AddChain& add);
  int operator()(const DeleteChain& remove);
  int operator()(const FlushChain& flush);
  int operator()(const AddRule& add);
  int operator()(const AddSet& add);
  int operator()(const DeleteSet& remove);
  int operator()(const AddElement& add);
  int operator()(const DeleteElement& remove);

 private:
  FakeNftables::Table* table();
  // Whether a verdict may go there.
  int check_verdict(const Verdict& verdict);
  int check_expression(const Expression& expression);
  int check_value(const Set& set, const Element& element);
  int add_interval(FakeNftables::SetTable& set, const Element& added);
  void insert(FakeNftables::SetTable& set, const Element& added);
  // By rules of other chains, and by elements of verdict maps.
  bool is_chain_used(std::string_view chain);
  bool is_set_used(std::string_view set);
  void on_undo(std::function<void()> step) { undo_.push_back(std::move(step)); }

  FakeNftables& kernel_;
  const Transaction& transaction_;
  FakeNftables::Key key_;
  std::vector<std::function<void()>> undo_;
};

}  // namespace mkp::nft
