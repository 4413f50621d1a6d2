#pragma once

#include <cstdint>
#include <optional>

#include "netlink/attributes.h"
#include "netlink/ruleset.h"

namespace mkp::nft {

// The kernel's number of a verdict, as in NFTA_VERDICT_CODE.
std::uint32_t verdict_code(Verdict::Kind kind);

// NFTA_DATA_VERDICT's payload. Nothing for verdicts that we never use (queue, continue, break ...).
std::optional<Verdict> parse_verdict(ByteSpan attributes);

void put_verdict(AttributeWriter& out, const Verdict& verdict);

// The ICMP or ICMPv6 code of "port unreachable".
std::uint8_t port_unreachable_code(IpFamily family);

// NFPROTO_IPV4 or NFPROTO_IPV6.
std::uint8_t family_number(IpFamily family);

}  // namespace mkp::nft
