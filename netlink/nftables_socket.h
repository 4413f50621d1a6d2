#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "netlink/netlink_socket.h"
#include "netlink/nftables.h"
#include "netlink/ruleset.h"
#include "runner/result.h"

namespace mkp::nft {

// nf_tables of the network namespace that the process is in when it calls open().
class NftablesSocket final : public Nftables {
 public:
  // Needs no privilege; to dump and to commit takes CAP_NET_ADMIN, and is Denied without.
  static Result<std::unique_ptr<NftablesSocket>> open();

  // A transaction without operations is taken without asking the kernel.
  Result<std::vector<Refusal>> commit(const Transaction& transaction,
                                      std::optional<std::uint32_t> generation) override;
  Result<std::optional<Ruleset>> dump(IpFamily family, std::string_view table) override;
  Result<std::uint32_t> generation() override;

 private:
  explicit NftablesSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}

  // NotFound when there is no such table.
  Result<> find_table(IpFamily family, std::string_view table);
  // Expired when somebody changed something meanwhile.
  Result<std::optional<Ruleset>> dump_once(IpFamily family, std::string_view table);

  NetlinkSocket socket_;
};

}  // namespace mkp::nft
