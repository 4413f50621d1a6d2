#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "netlink/nftables.h"
#include "proxy/backend.h"
#include "proxy/nft_layout.h"

namespace mkp {

// The generation of the network namespace that all our transactions so far lead to. Shared by the
// backends of both families, as the kernel counts for the whole namespace: as long as it is the
// current one, nobody else changed anything.
class KernelGeneration {
 public:
  std::optional<std::uint32_t> current() const { return current_; }
  // Raised each time somebody else's change came to light.
  std::uint64_t surprises() const { return surprises_; }

  // A dump was made at this generation.
  void seen(std::uint32_t generation);
  // We committed a transaction.
  void committed();
  // A transaction of ours came too late.
  void overtaken();

 private:
  std::optional<std::uint32_t> current_;
  std::uint64_t surprises_ = 0;
};

// The flat nftables layout of one family, kept in the kernel.
class NftBackend final : public Backend {
 public:
  NftBackend(nft::Nftables& kernel, KernelGeneration& generation, NftSettings settings);

  bool in_doubt() const override;
  Result<> look() override;
  std::unique_ptr<Plan> plan(const RuleDiff& diff) override;
  Result<std::unique_ptr<Plan>> plan_resync(const RuleModel& model, const NodeModel& node) override;
  std::unique_ptr<Plan> plan_cleanup() override;

 private:
  friend class NftPlan;
  Result<> apply(NftChange& change);

  nft::Nftables& kernel_;
  KernelGeneration& generation_;
  NftSettings settings_;
  LiveTable live_;
  // The generation's surprises when live_ was known to be true; nothing before the first resync.
  std::optional<std::uint64_t> trusted_;
};

}  // namespace mkp
