#pragma once

#include <cstdint>
#include <span>

#include "runner/ip_address.h"

namespace mkp::packets {

// The Internet checksum (RFC 1071) of a header or message, ready to be stored; 0 when `bytes` holds
// a right one already.
std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes);

// The same over `segment` and the pseudo header that TCP, UDP and ICMPv6 put before it.
std::uint16_t transport_checksum(const IpAddress& from, const IpAddress& to, std::uint8_t protocol,
                                 std::span<const std::uint8_t> segment);

// CRC32c (RFC 9260, appendix A) of an SCTP packet whose checksum field counts as zero. The field
// holds it with the least significant byte first.
std::uint32_t sctp_checksum(std::span<const std::uint8_t> packet);

}  // namespace mkp::packets
