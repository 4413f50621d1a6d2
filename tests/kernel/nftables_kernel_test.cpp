#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "netlink/nft_text.h"
#include "netlink/nftables_socket.h"
#include "tests/netlink/nftables_contract.h"
#include "tests/netlink/rule_samples.h"
#include "tests/netlink/set_contents_contract.h"

namespace mkp::nft {
namespace {

struct MakeSocket {
  static std::unique_ptr<Nftables> make() {
    Result<std::unique_ptr<NftablesSocket>> socket = NftablesSocket::open();
    if (!socket) return nullptr;
    return std::move(*socket);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Kernel, NftablesContract, MakeSocket);
INSTANTIATE_TYPED_TEST_SUITE_P(Kernel, SetContentsContract, MakeSocket);

}  // namespace
}  // namespace mkp::nft
