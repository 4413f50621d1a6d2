#include "proxy/node_rules.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "netlink/nft_text.h"

namespace mkp {

NodeRules::NodeRules(nft::Nftables& kernel, const Config& config,
                     const std::vector<IpFamily>& families, const Clock& clock,
                     std::optional<IpAddress> api_server)
    : config_(config) {
  std::vector<FamilyProxier*> borrowed;
  for (const IpFamily family : families) {
    backends_.push_back(
        std::make_unique<NftBackend>(kernel, generation_, nft_settings(config, family)));
    families_.push_back(std::make_unique<FamilyProxier>(family, *backends_.back(), config_, clock));
    borrowed.push_back(families_.back().get());
  }
  proxier_ = std::make_unique<Proxier>(std::move(borrowed), api_server);
}

NftSettings nft_settings(const Config& config, IpFamily family) {
  NftSettings settings;
  settings.family = family;
  settings.masquerade_mark = 1U << static_cast<unsigned>(config.nftables.masquerade_bit);
  settings.masquerade_all = config.nftables.masquerade_all;
  return settings;
}

Result<> remove_rules(nft::Nftables& kernel, IpFamily family) {
  // Made first, so that there is one to delete: what is in it need not be read for that.
  const nft::Transaction transaction{
      family, std::string(kTable), {{nft::AddTable{}}, {nft::DeleteTable{}}}};
  const Result<std::vector<nft::Refusal>> refusals = kernel.commit(transaction, std::nullopt);
  if (!refusals) return fail(refusals.error(), "clean up");
  if (refusals->empty()) return {};
  const int err = refusals->front().err;
  if (err == EAFNOSUPPORT || err == EOPNOTSUPP) return {};  // a kernel without that family
  return fail(Errc::Invalid,
              fmt::format("clean up: the kernel refused to delete table {} {}: {}",
                          nft::family_text(family), kTable, std::generic_category().message(err)));
}

Result<std::vector<nft::Refusal>> EmptyNftables::commit(const nft::Transaction&,
                                                        std::optional<std::uint32_t>) {
  return fail(Errc::Denied, "a dry run writes nothing");
}

}  // namespace mkp
