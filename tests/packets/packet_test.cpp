#include "tests/packets/packet.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/packets/checksum.h"

namespace mkp::packets {
namespace {

using Bytes = std::vector<std::uint8_t>;

AddressPort at(std::string_view text) { return parse_address_port(text).value_or(AddressPort{}); }

Sighting seen_in(const Bytes& bytes) {
  const std::optional<Sighting> seen = decode(bytes);
  EXPECT_TRUE(seen);
  return seen.value_or(Sighting{});
}

class PacketTest : public testing::TestWithParam<Packet> {};

TEST_P(PacketTest, IsKnownAgainWithRightChecksums) {
  const Sighting expected{.kind = Sighting::Kind::Opening, .packet = GetParam()};
  EXPECT_EQ(decode(encode(GetParam())), expected);
}

TEST_P(PacketTest, ShowsAFlippedBitAsAWrongChecksum) {
  Bytes bytes = encode(GetParam());
  bytes.back() ^= 1;
  EXPECT_FALSE(seen_in(bytes).checksum_ok);
}

// Under the address sanitizer this proves that nothing is read behind the end.
TEST_P(PacketTest, MayBeCutShortAnywhere) {
  const Bytes whole = encode(GetParam());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::optional<Sighting> seen = decode(part);
    EXPECT_TRUE(!seen || !seen->checksum_ok) << size;
  }
}

const AddressPort kClient = at("203.0.113.7:40000");
const AddressPort kService = at("172.30.0.10:80");
const AddressPort kClientV6 = at("[2001:db8::7]:40000");
const AddressPort kServiceV6 = at("[fd30::10]:80");

INSTANTIATE_TEST_SUITE_P(Of, PacketTest,
                         testing::Values(Packet{Transport::Tcp, kClient, kService, 0x1234},
                                         Packet{Transport::Udp, kClient, kService, 0x1235},
                                         Packet{Transport::Sctp, kClient, kService, 0x1236},
                                         Packet{Transport::Tcp, kClientV6, kServiceV6, 0x1237},
                                         Packet{Transport::Udp, kClientV6, kServiceV6, 0x1238},
                                         Packet{Transport::Sctp, kClientV6, kServiceV6, 0x1239},
                                         Packet{Transport::Tcp, kClient, kService, 0x123a, true}));

// An ICMP "destination unreachable" around the first bytes of what it refuses.
Bytes icmp_unreachable(const Packet& refused, std::uint8_t code, std::size_t quoted) {
  Bytes bytes{0x45, 0, 0,   0, 0,   0, 0, 0,    64, 1, 0, 0, 192, 168,
              0,    1, 203, 0, 113, 7, 3, code, 0,  0, 0, 0, 0,   0};
  const Bytes quote = encode(refused);
  bytes.insert(bytes.end(), quote.begin(), quote.begin() + static_cast<std::ptrdiff_t>(quoted));
  const std::uint16_t checksum = internet_checksum(std::span(bytes).subspan(20));
  bytes[22] = static_cast<std::uint8_t>(checksum >> 8);
  bytes[23] = static_cast<std::uint8_t>(checksum & 0xff);
  return bytes;
}

TEST(Sighting, OfAnErrorNamesThePacketThatItRefuses) {
  const Packet refused{Transport::Tcp, kClient, kService, 0x1234};
  const Sighting expected{.kind = Sighting::Kind::Unreachable,
                          .packet = refused,
                          .error_receiver = kClient.ip,
                          .error_code = 3};
  EXPECT_EQ(decode(icmp_unreachable(refused, 3, 40)), expected);
}

TEST(Sighting, OfAnErrorNeedsNoMoreThanEightBytesOfTcp) {
  const Packet refused{Transport::Tcp, kClient, kService, 0x1234};
  EXPECT_EQ(seen_in(icmp_unreachable(refused, 3, 28)).packet, refused);
}

TEST(Sighting, OfAResetCarriesTheTagOfWhatItAnswers) {
  Bytes bytes = encode({Transport::Tcp, kService, kClient, 0});
  bytes[20 + 13] = 0x14;  // RST and ACK
  bytes[20 + 11] = 0x35;  // acknowledges 0x34 and the SYN
  const Sighting seen = seen_in(bytes);
  EXPECT_EQ(seen.kind, Sighting::Kind::Reset);
  EXPECT_EQ(seen.packet.tag, 0x34U);
}

TEST(Sighting, OfASentinelHasItsTag) {
  const Sighting seen = seen_in(encode_sentinel(kClient.ip, kService.ip, 77));
  EXPECT_EQ(seen.kind, Sighting::Kind::Sentinel);
  EXPECT_EQ(seen.packet.tag, 77U);
}

TEST(Sighting, IsNotMadeOfWhatTheKernelSendsByItself) {
  const Bytes igmp{0x46, 0, 0, 0,  0, 0,   0, 0, 1,    2, 0, 0, 0,    0, 0, 0,
                   224,  0, 0, 22, 0, 148, 4, 0, 0x22, 0, 0, 0, 0x01, 0, 0, 0};
  EXPECT_EQ(decode(igmp), std::nullopt);
}

TEST(Checksum, OfAKnownIpHeader) {
  const Bytes header{0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                     0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  EXPECT_EQ(internet_checksum(header), 0xb861);
}

TEST(Checksum, OfThirtyTwoZerosInSctpIsThatOfRfc3720) {
  const std::array<std::uint8_t, 32> zeros{};
  EXPECT_EQ(sctp_checksum(zeros), 0x8a9136aaU);
}

TEST(AddressPort, IsReadAndWrittenInBothFamilies) {
  EXPECT_EQ(to_text(at("10.180.1.5:8080")), "10.180.1.5:8080");
  EXPECT_EQ(to_text(at("[fd00::5]:8080")), "[fd00::5]:8080");
}

TEST(AddressPort, NeedsBothParts) {
  EXPECT_EQ(parse_address_port("10.180.1.5"), std::nullopt);
  EXPECT_EQ(parse_address_port("10.180.1.5:"), std::nullopt);
  EXPECT_EQ(parse_address_port("10.180.1.5:80a"), std::nullopt);
  EXPECT_EQ(parse_address_port("10.180.1.5:80000"), std::nullopt);
  EXPECT_EQ(parse_address_port(":80"), std::nullopt);
}

}  // namespace
}  // namespace mkp::packets
