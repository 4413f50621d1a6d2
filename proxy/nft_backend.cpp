#include "proxy/nft_backend.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>

#include "netlink/nft_text.h"
#include "proxy/nft_adoption.h"
#include "proxy/nft_plan_text.h"

namespace mkp {
namespace {

// The first refusal, with whom it serves.
std::string refusal_text(const nft::Refusal& refusal, const NftChange& change) {
  const nft::Operation& operation = change.transaction.operations[refusal.first];
  const std::string whom = operation.serves == nft::Operation::kShared
                               ? std::string()
                               : fmt::format(", for Service {}", change.subjects[operation.serves]);
  return fmt::format("the kernel refused \"{}\"{}: {}",
                     operation_text(operation, change.transaction.family), whom,
                     std::generic_category().message(refusal.err));
}

// Puts the repairs of an adoption in front of a change's operations.
void prepend(std::vector<Adoption::Repair> repairs, NftChange& change) {
  std::vector<nft::Operation> operations;
  operations.reserve(repairs.size() + change.transaction.operations.size());
  for (Adoption::Repair& repair : repairs) {
    if (!repair.comment.empty()) {
      repair.operation.serves = static_cast<std::uint32_t>(change.subjects.size());
      change.subjects.push_back(std::move(repair.comment));
    }
    operations.push_back(std::move(repair.operation));
  }
  std::move(change.transaction.operations.begin(), change.transaction.operations.end(),
            std::back_inserter(operations));
  change.transaction.operations = std::move(operations);
}

}  // namespace

PlanSize& PlanSize::operator+=(const PlanSize& other) {
  added += other.added;
  removed += other.removed;
  service_ports += other.service_ports;
  return *this;
}

class NftPlan final : public Plan {
 public:
  NftPlan(NftBackend& backend, NftChange change) : backend_(backend), change_(std::move(change)) {}

  PlanSize size() const override { return plan_size(change_); }
  std::string to_text() const override { return plan_text(change_); }
  std::vector<GoneFrontend> gone_frontends() const override { return mkp::gone_frontends(change_); }
  Result<> apply() override { return backend_.apply(change_); }

 private:
  NftBackend& backend_;
  NftChange change_;
};

void KernelGeneration::seen(std::uint32_t generation) {
  if (current_ != generation) ++surprises_;
  current_ = generation;
}

void KernelGeneration::committed() {
  if (!current_) return;
  // The kernel skips 0, which would mean "do not check".
  if (++*current_ == 0) ++*current_;
}

void KernelGeneration::overtaken() {
  current_.reset();
  ++surprises_;
}

NftBackend::NftBackend(nft::Nftables& kernel, KernelGeneration& generation, NftSettings settings)
    : kernel_(kernel), generation_(generation), settings_(std::move(settings)) {}

bool NftBackend::in_doubt() const { return trusted_ != generation_.surprises(); }

Result<> NftBackend::look() {
  const Result<std::uint32_t> generation = kernel_.generation();
  if (!generation) return fail(generation.error(), "look for changes");
  generation_.seen(*generation);
  return {};
}

std::unique_ptr<Plan> NftBackend::plan(const RuleDiff& diff) {
  return std::make_unique<NftPlan>(*this, NftPlanner(settings_, live_).plan(diff));
}

Result<std::unique_ptr<Plan>> NftBackend::plan_resync(const RuleModel& model,
                                                      const NodeModel& node) {
  // Asked for first, so that whatever happens before the dump counts as a surprise.
  const Result<std::uint32_t> generation = kernel_.generation();
  if (!generation) return fail(generation.error(), "resync");
  const Result<std::optional<nft::Ruleset>> ruleset = kernel_.dump(settings_.family, kTable);
  if (!ruleset) return fail(ruleset.error(), "resync");
  const std::optional<nft::Ruleset>& table = *ruleset;
  generation_.seen(table ? table->generation : *generation);

  const NftSettings settings = with_node(settings_, node);
  Adoption adoption = adopt(table, settings);
  NftChange change =
      NftPlanner(settings, adoption.live).plan_all(model, node, adoption.affinity_sets);
  change.base = std::move(adoption.live);
  prepend(std::move(adoption.repairs), change);
  return std::make_unique<NftPlan>(*this, std::move(change));
}

std::unique_ptr<Plan> NftBackend::plan_cleanup() {
  NftChange change = NftPlanner(settings_, live_).plan_cleanup();
  if (change.transaction.operations.empty()) return nullptr;
  return std::make_unique<NftPlan>(*this, std::move(change));
}

Result<> NftBackend::apply(NftChange& change) {
  if (!change.transaction.operations.empty()) {
    const Result<std::vector<nft::Refusal>> refusals =
        kernel_.commit(change.transaction, generation_.current());
    if (!refusals) {
      if (refusals.error().code == Errc::Expired) generation_.overtaken();
      return fail(refusals.error(),
                  fmt::format("commit table {} {}", nft::family_text(settings_.family), kTable));
    }
    if (!refusals->empty()) {
      // What we hold to be live made the kernel say no: look again before the next attempt.
      trusted_.reset();
      return fail(Errc::Invalid,
                  fmt::format("commit table {} {}: {}", nft::family_text(settings_.family), kTable,
                              refusal_text(refusals->front(), change)));
    }
    generation_.committed();
  }
  if (change.base) trusted_ = generation_.surprises();
  settings_ = change.settings;
  std::move(change).acknowledge(live_);
  return {};
}

}  // namespace mkp
