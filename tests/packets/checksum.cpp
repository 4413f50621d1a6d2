#include "tests/packets/checksum.h"

#include <cstddef>

namespace mkp::packets {
namespace {

constexpr std::size_t kSctpChecksumOffset = 8;

std::uint64_t sum_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::uint64_t byte = bytes[at];
    sum += at % 2 == 0 ? byte << 8 : byte;
  }
  return sum;
}

std::uint16_t fold(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum & 0xffff);
}

}  // namespace

std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) { return fold(sum_of(bytes)); }

std::uint16_t transport_checksum(const IpAddress& from, const IpAddress& to, std::uint8_t protocol,
                                 std::span<const std::uint8_t> segment) {
  const std::uint64_t pseudo_header = sum_of(std::span(from.bytes).first(from.size())) +
                                      sum_of(std::span(to.bytes).first(to.size())) + protocol +
                                      segment.size();
  return fold(pseudo_header + sum_of(segment));
}

std::uint32_t sctp_checksum(std::span<const std::uint8_t> packet) {
  constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78;
  std::uint32_t crc = 0xffffffff;
  for (std::size_t at = 0; at < packet.size(); ++at) {
    const bool in_field = at >= kSctpChecksumOffset && at < kSctpChecksumOffset + 4;
    crc ^= in_field ? 0U : packet[at];
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0U);
    }
  }
  return ~crc;
}

}  // namespace mkp::packets
