#include "netlink/conntrack_messages.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/netlink/conntrack_flows.h"

namespace mkp {
namespace {

using Bytes = std::vector<std::uint8_t>;

// What kernel 6.18 listed: a UDP flow that a dnat rule translated, another in zone 7, a TCP
// connection, and a UDP flow over IPv6.
constexpr std::string_view kTranslated =
    "a400000000012200010000003511000002000000340001801400018008000100cb00710908000200ac1e000a1c0002"
    "80050001001100000006000200a02900000600030000350000340002801400018008000100c0a8000108000200cb00"
    "71091c00028005000100110000000600020014e9000006000300a029000008000300000001a8080008000000000008"
    "000c002f8ae54f08000b0000000001080007000000001d";
constexpr std::string_view kInAnotherZone =
    "ac00000000012200010000003511000002000000340001801400018008000100cb00710908000200c0a800011c0002"
    "80050001001100000006000200a02a00000600030000630000340002801400018008000100c0a8000108000200cb00"
    "71091c0002800500010011000000060002000063000006000300a02a00000600120000070000080003000000018808"
    "0008000000000008000c0073844c8f08000b0000000001080007000000001d";
constexpr std::string_view kTcp =
    "d400000000012200010000003511000002000000340001801400018008000100cb00710908000200c0a800011c0002"
    "80050001000600000006000200a02b00000600030000500000340002801400018008000100c0a8000108000200cb00"
    "71091c0002800500010006000000060002000050000006000300a02b0000080003000000018e080008000000000008"
    "000c009e820e5108000b0000000001080007000006977f300004802c0001800500010003000000050002000a000000"
    "050003000a00000006000400230000000600050023000000";
constexpr std::string_view kIpv6 =
    "d40000000001220001000000351100000a0000004c0001802c0001801400030020010db80077000000000000000000"
    "0714000400fd9600000000000000000000006700011c000280050001001100000006000200a0340000060003000035"
    "00004c0002802c00018014000300fd2000000000000000000000000000111400040020010db8007700000000000000"
    "0000071c00028005000100110000000600020014e9000006000300a034000008000300000001a80800080000000000"
    "08000c00d8906ca508000b0000000001080007000000001d";

Bytes bytes_of(std::string_view hex) {
  Bytes bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

std::string hex_of(const Bytes& bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::optional<UdpFlow> parse(const Bytes& bytes) {
  MessageReader messages(bytes);
  const std::optional<NetlinkMessage> message = messages.next();
  return message ? parse_udp_flow(*message) : std::nullopt;
}

std::string text_of(std::string_view hex) {
  const std::optional<UdpFlow> flow = parse(bytes_of(hex));
  return flow ? to_text(*flow) : "none";
}

TEST(ConntrackMessagesTest, ReadsBothEndsOfAFlow) {
  EXPECT_EQ(text_of(kTranslated),
            "203.0.113.9:41001 to 172.30.0.10:53, answered by 192.168.0.1:5353");
}

TEST(ConntrackMessagesTest, ReadsAnIpv6Flow) {
  EXPECT_EQ(text_of(kIpv6),
            "[2001:db8:77::7]:41012 to [fd96::67:1]:53, answered by [fd20::11]:5353");
}

TEST(ConntrackMessagesTest, ReadsTheIdOfAFlow) {
  EXPECT_EQ(parse(bytes_of(kTranslated)).value_or(UdpFlow{}).id, 0x2f8ae54fU);
}

TEST(ConntrackMessagesTest, PassesOverOtherProtocols) { EXPECT_EQ(text_of(kTcp), "none"); }

TEST(ConntrackMessagesTest, PassesOverOtherZones) { EXPECT_EQ(text_of(kInAnotherZone), "none"); }

TEST(ConntrackMessagesTest, PassesOverOtherMessages) {
  Bytes bytes = bytes_of(kTranslated);
  bytes[5] = 0x02;  // of the subsystem that keeps expectations
  EXPECT_FALSE(parse(bytes));
}

TEST(ConntrackMessagesTest, PassesOverOtherFamilies) {
  Bytes bytes = bytes_of(kTranslated);
  bytes[16] = 7;  // AF_BRIDGE
  EXPECT_FALSE(parse(bytes));
}

TEST(ConntrackMessagesTest, PassesOverAnIpv4MappedAddressInAnIpv6Header) {
  Bytes bytes = bytes_of(kIpv6);
  const Bytes mapped = bytes_of("00000000000000000000ffff0a000001");
  std::ranges::copy(mapped, bytes.begin() + 32);  // the client
  EXPECT_FALSE(parse(bytes));
}

TEST(ConntrackMessagesTest, SurvivesAMessageThatIsCutShortAnywhere) {
  const Bytes whole = bytes_of(kTranslated);
  const std::size_t header = 16;
  const NetlinkMessage message = MessageReader(whole).next().value_or(NetlinkMessage{});
  for (std::size_t size = 0; size + header < whole.size(); ++size) {
    // A copy of its own size, so that AddressSanitizer sees a step beyond it.
    const Bytes cut(message.payload.begin(),
                    message.payload.begin() + static_cast<std::ptrdiff_t>(size));
    NetlinkMessage shorter = message;
    shorter.payload = cut;
    const std::optional<UdpFlow> flow = parse_udp_flow(shorter);
    EXPECT_TRUE(!flow || *flow == parse(whole)) << size;
  }
}

TEST(ConntrackMessagesTest, SurvivesEveryByteBeingAnother) {
  const Bytes whole = bytes_of(kIpv6);
  std::size_t parsed = 0;
  for (std::size_t at = 16; at < whole.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7f, 0xff}) {
      Bytes changed = whole;
      changed[at] = static_cast<std::uint8_t>(value);
      if (parse(changed)) ++parsed;
    }
  }
  // Addresses, ports, the id and what we do not read may be anything.
  EXPECT_GT(parsed, 100U);
}

TEST(ConntrackMessagesTest, AsksForUdpOnlyWhereTheKernelCan) {
  EXPECT_EQ(hex_of(list_flows_message(IpFamily::Ipv4, ConntrackFilter::Udp, 1)),
            "38000000"
            "0101"
            "0103"
            "01000000"
            "00000000"  // GET, REQUEST | DUMP
            "02000000"
            "10000180"
            "0c000280"
            "0500010011000000"
            "14001980"
            "0800010008000000"
            "0800020000000000");
}

TEST(ConntrackMessagesTest, AsksForAllProtocolsOfAFamilyOtherwise) {
  EXPECT_EQ(hex_of(list_flows_message(IpFamily::Ipv6, ConntrackFilter::None, 2)),
            "14000000"
            "0101"
            "0103"
            "02000000"
            "00000000"
            "0a000000");
}

TEST(ConntrackMessagesTest, NamesAFlowToForgetAsTheKernelDoes) {
  const Bytes listed = bytes_of(kTranslated);
  Bytes message;
  append_forget_message(message, parse(listed).value_or(UdpFlow{}), 3);
  const std::string tuple(kTranslated.substr(40, 104));
  EXPECT_EQ(hex_of(message),
            "50000000"
            "0201"
            "0500"
            "03000000"
            "00000000"  // DELETE, REQUEST | ACK
            "02000000" +
                tuple + "08000c002f8ae54f");
}

// --- a list, datagram by datagram ---

constexpr std::string_view kEnd = "1400000003000200010000003511000000000000";

class FlowListingTest : public testing::Test {
 protected:
  std::optional<int> take(const Bytes& datagram) { return listing_.take(datagram); }

  std::vector<UdpFlow> shown_;
  const Conntrack::Visit visit_ = [this](const UdpFlow& flow) { shown_.push_back(flow); };
  FlowListing listing_{visit_};
};

TEST_F(FlowListingTest, ShowsTheFlowsOfEachDatagramUntilTheEnd) {
  EXPECT_EQ(take(bytes_of(std::string(kTranslated) + std::string(kTcp))), std::nullopt);
  EXPECT_EQ(take(bytes_of(kIpv6)), std::nullopt);
  EXPECT_EQ(take(bytes_of(kEnd)), 0);
  EXPECT_EQ(shown_.size(), 2U);
}

TEST_F(FlowListingTest, TellsThatTheListChangedMeanwhile) {
  Bytes interrupted = bytes_of(kTranslated);
  interrupted[6] |= NLM_F_DUMP_INTR;
  EXPECT_EQ(take(interrupted), std::nullopt);
  EXPECT_EQ(take(bytes_of(kEnd)), EINTR);
}

TEST_F(FlowListingTest, TellsHowTheKernelFailed) {
  Bytes denied = bytes_of(kEnd);
  denied[16] = 0xff;  // -EPERM
  denied[17] = denied[18] = denied[19] = 0xff;
  EXPECT_EQ(take(denied), EPERM);
}

TEST_F(FlowListingTest, DoesNotWaitForAnEndThatCannotBeRead) {
  EXPECT_EQ(take(bytes_of(std::string(kTranslated) + "ffffffff")), EBADMSG);
  EXPECT_EQ(shown_.size(), 1U);
}

}  // namespace
}  // namespace mkp
