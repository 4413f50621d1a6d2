#pragma once

#include <memory>
#include <vector>

#include "configs/config.h"
#include "netlink/nftables.h"
#include "proxy/family_proxier.h"
#include "proxy/nft_backend.h"
#include "proxy/proxier.h"

namespace mkp {

// Everything between the changes of the cluster and the kernel, for the families of this node.
// Belongs to the sync thread once it is built.
class NodeRules {
 public:
  // `kernel` and `clock` are borrowed for life. `api_server`: see ApiServerSlices.
  NodeRules(nft::Nftables& kernel, const Config& config, const std::vector<IpFamily>& families,
            const Clock& clock, std::optional<IpAddress> api_server = std::nullopt);

  Proxier& proxier() { return *proxier_; }

 private:
  const Config config_;
  KernelGeneration generation_;
  std::vector<std::unique_ptr<NftBackend>> backends_;
  std::vector<std::unique_ptr<FamilyProxier>> families_;
  std::unique_ptr<Proxier> proxier_;
};

// The settings of one family's rules, as far as the configuration alone tells them.
NftSettings nft_settings(const Config& config, IpFamily family);

// Takes our table out of the kernel, whatever is in it; succeeds when there is none.
Result<> remove_rules(nft::Nftables& kernel, IpFamily family);

// A kernel without any rules, which cannot be written to: for dry runs without privileges.
class EmptyNftables final : public nft::Nftables {
 public:
  Result<std::vector<nft::Refusal>> commit(const nft::Transaction&,
                                           std::optional<std::uint32_t>) override;
  Result<std::optional<nft::Ruleset>> dump(IpFamily, std::string_view) override {
    return std::nullopt;
  }
  Result<std::uint32_t> generation() override { return 1; }
};

}  // namespace mkp
