#include "proxy/nft_plan_text.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <variant>

#include "netlink/nft_text.h"
#include "proxy/nft_plan_words.h"

namespace mkp {
namespace {

enum class Effect { Adds, Removes };

Effect effect_of(const nft::Operation& operation) {
  const bool removes = std::holds_alternative<nft::DeleteTable>(operation.what) ||
                       std::holds_alternative<nft::DeleteChain>(operation.what) ||
                       std::holds_alternative<nft::FlushChain>(operation.what) ||
                       std::holds_alternative<nft::DeleteSet>(operation.what) ||
                       std::holds_alternative<nft::DeleteElement>(operation.what);
  return removes ? Effect::Removes : Effect::Adds;
}

nft::OperationPrinter printer_of(IpFamily family) {
  nft::OperationPrinter printer(family, kTable);
  for (const nft::Set& set : layout_sets(family)) printer.declare(set);
  return printer;
}

// Lines of one subject. The draws of a slot chain are one rule many times over, and said once.
class Lines {
 public:
  void add(std::string line) {
    if (line != last_) flush();
    last_ = std::move(line);
    ++times_;
  }
  std::string text() && {
    flush();
    return std::move(text_);
  }

 private:
  void flush() {
    if (times_ == 1) text_ += last_ + "\n";
    if (times_ > 1) text_ += fmt::format("{}  # {} times\n", last_, times_);
    times_ = 0;
  }

  std::string text_;
  std::string last_;
  int times_ = 0;
};

}  // namespace

PlanSize plan_size(const NftChange& change) {
  PlanSize size;
  std::set<std::string_view> served;
  for (const nft::Operation& operation : change.transaction.operations) {
    ++(effect_of(operation) == Effect::Adds ? size.added : size.removed);
    if (operation.serves != nft::Operation::kShared) {
      served.insert(change.subjects[operation.serves]);
    }
  }
  size.service_ports = served.size();
  return size;
}

std::string plan_text(const NftChange& change) {
  nft::OperationPrinter printer = printer_of(change.transaction.family);
  std::map<std::string, Lines> by_heading;  // "All Services" comes before any "Service ..."
  const auto lines_for = [&](std::uint32_t serves) -> Lines& {
    return by_heading[serves == nft::Operation::kShared ? "All Services"
                                                        : "Service " + change.subjects[serves]];
  };
  for (PlanWord& word : plan_words(change)) lines_for(word.serves).add("# " + word.line);
  for (const nft::Operation& operation : change.transaction.operations) {
    lines_for(operation.serves)
        .add(fmt::format("{} {}", effect_of(operation) == Effect::Adds ? '+' : '-',
                         printer.to_text(operation)));
  }
  std::string text;
  for (auto& [heading, lines] : by_heading) {
    text += heading + "\n" + std::move(lines).text();
  }
  return text;
}

std::string operation_text(const nft::Operation& operation, IpFamily family) {
  return printer_of(family).to_text(operation);
}

}  // namespace mkp
