#pragma once

#include "netlink/nftables.h"
#include "runner/result.h"

namespace mkp::nft {

// Whether this kernel has all that our rules are made of, found out by transactions that make a
// table and delete it again, so that nothing stays. Denied when we may not ask (CAP_NET_ADMIN);
// otherwise the error says in words what is missing and which kernel option brings it.
Result<> check_kernel(Nftables& nftables, IpFamily family);

}  // namespace mkp::nft
