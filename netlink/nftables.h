#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "netlink/ruleset.h"
#include "runner/result.h"

namespace mkp::nft {

// Why the kernel did not take a transaction: the operations [first, last] went in one message, and
// it was this message that it refused.
struct Refusal {
  std::size_t first = 0;
  std::size_t last = 0;
  int err = 0;  // positive errno
  bool operator==(const Refusal&) const = default;
};

// nf_tables of one network namespace: the seam towards the kernel. Blocking; belongs to the sync
// thread. The kernel and FakeNftables pass the same contract suite.
class Nftables {
 public:
  virtual ~Nftables() = default;

  // All of it or nothing. Empty: the kernel took it, and its generation is one further if that
  // changed anything. With refusals, nothing has changed; there may be more than are told: the
  // first bad element of a message hides the others. `generation`: the one that the transaction was
  // made against; when it is no longer the current one, fails with Errc::Expired and changes
  // nothing (NFNL_BATCH_GENID, ERESTART).
  virtual Result<std::vector<Refusal>> commit(const Transaction& transaction,
                                              std::optional<std::uint32_t> generation) = 0;

  // One table with everything in it; nothing when it does not exist. The dump is of one generation:
  // when another writer gets between, it is read again a few times, then fails with Errc::Expired.
  virtual Result<std::optional<Ruleset>> dump(IpFamily family, std::string_view table) = 0;

  // Counts the transactions of this network namespace, by anybody. Wraps around; never 0.
  virtual Result<std::uint32_t> generation() = 0;
};

}  // namespace mkp::nft
