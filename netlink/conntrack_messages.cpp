#include "netlink/conntrack_messages.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "netlink/verdicts.h"

namespace mkp {
namespace {

using Bytes = std::vector<std::uint8_t>;

// "The filter's tuple names the protocol". The kernel keeps these bits out of its exported headers.
constexpr std::uint32_t kFilterByProtocol = 1U << 3;

constexpr std::array<std::uint8_t, 12> kMappedStart{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::size_t open_flow_request(Bytes& out, int conntrack_message, std::uint16_t flags,
                              IpFamily family, std::uint32_t sequence) {
  return open_request(
      out, {.type = static_cast<std::uint16_t>((NFNL_SUBSYS_CTNETLINK << 8) | conntrack_message),
            .flags = flags,
            .sequence = sequence,
            .family = nft::family_number(family)});
}

void put_u8(AttributeWriter& attributes, std::uint16_t type, std::uint8_t value) {
  attributes.put(type, std::span(&value, 1));
}

void put_be16(AttributeWriter& attributes, std::uint16_t type, std::uint16_t value) {
  std::array<std::uint8_t, 2> bytes{};
  store_host(bytes.data(), htons(value));
  attributes.put(type, bytes);
}

void put_address(AttributeWriter& attributes, std::uint16_t v4, std::uint16_t v6,
                 const IpAddress& ip) {
  attributes.put(ip.family == IpFamily::Ipv4 ? v4 : v6, std::span(ip.bytes).first(ip.size()));
}

void put_tuple(AttributeWriter& attributes, std::uint16_t type, const FlowEnd& from,
               const FlowEnd& to) {
  const std::size_t tuple = attributes.open(type);
  const std::size_t ip = attributes.open(CTA_TUPLE_IP);
  put_address(attributes, CTA_IP_V4_SRC, CTA_IP_V6_SRC, from.ip);
  put_address(attributes, CTA_IP_V4_DST, CTA_IP_V6_DST, to.ip);
  attributes.close(ip);
  const std::size_t protocol = attributes.open(CTA_TUPLE_PROTO);
  put_u8(attributes, CTA_PROTO_NUM, IPPROTO_UDP);
  put_be16(attributes, CTA_PROTO_SRC_PORT, from.port);
  put_be16(attributes, CTA_PROTO_DST_PORT, to.port);
  attributes.close(protocol);
  attributes.close(tuple);
}

std::optional<std::uint16_t> read_be16(ByteSpan payload) {
  if (payload.size() != 2) return std::nullopt;
  return ntohs(load_host<std::uint16_t>(payload.data()));
}

std::optional<IpAddress> read_address(IpFamily family, ByteSpan payload) {
  IpAddress address{family, {}};
  if (payload.size() != address.size()) return std::nullopt;
  std::ranges::copy(payload, address.bytes.begin());
  const bool mapped = family == IpFamily::Ipv6 &&
                      std::equal(kMappedStart.begin(), kMappedStart.end(), address.bytes.begin());
  if (mapped) return std::nullopt;
  return address;
}

// Both ends as one direction's packets name them.
struct Tuple {
  FlowEnd source;
  FlowEnd destination;
};

std::optional<Tuple> read_udp_tuple(IpFamily family, ByteSpan payload) {
  const auto tuple = AttributeTable<CTA_TUPLE_MAX + 1>::read(payload);
  // Named only where it is another than 0.
  if (!tuple || tuple->has(CTA_TUPLE_ZONE)) return std::nullopt;
  const auto ip = AttributeTable<CTA_IP_MAX + 1>::read(tuple->payload(CTA_TUPLE_IP));
  const auto protocol = AttributeTable<CTA_PROTO_MAX + 1>::read(tuple->payload(CTA_TUPLE_PROTO));
  if (!ip || !protocol) return std::nullopt;
  if (read_u8(protocol->payload(CTA_PROTO_NUM)) != std::uint8_t{IPPROTO_UDP}) return std::nullopt;

  const bool v4 = family == IpFamily::Ipv4;
  const auto source_ip = read_address(family, ip->payload(v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC));
  const auto destination_ip = read_address(family, ip->payload(v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST));
  const auto source_port = read_be16(protocol->payload(CTA_PROTO_SRC_PORT));
  const auto destination_port = read_be16(protocol->payload(CTA_PROTO_DST_PORT));
  if (!source_ip || !destination_ip || !source_port || !destination_port) return std::nullopt;
  return Tuple{{*source_ip, *source_port}, {*destination_ip, *destination_port}};
}

std::optional<IpFamily> family_of(std::uint8_t number) {
  if (number == AF_INET) return IpFamily::Ipv4;
  if (number == AF_INET6) return IpFamily::Ipv6;
  return std::nullopt;
}

}  // namespace

std::vector<std::uint8_t> list_flows_message(IpFamily family, ConntrackFilter filter,
                                             std::uint32_t sequence) {
  Bytes message;
  const std::size_t begin =
      open_flow_request(message, IPCTNL_MSG_CT_GET, NLM_F_DUMP, family, sequence);
  if (filter == ConntrackFilter::Udp) {
    AttributeWriter attributes(message);
    const std::size_t tuple = attributes.open(CTA_TUPLE_ORIG);
    const std::size_t protocol = attributes.open(CTA_TUPLE_PROTO);
    put_u8(attributes, CTA_PROTO_NUM, IPPROTO_UDP);
    attributes.close(protocol);
    attributes.close(tuple);
    const std::size_t flags = attributes.open(CTA_FILTER);
    // In host byte order, unlike everything else.
    std::array<std::uint8_t, 4> bits{};
    store_host(bits.data(), kFilterByProtocol);
    attributes.put(CTA_FILTER_ORIG_FLAGS, bits);
    attributes.put(CTA_FILTER_REPLY_FLAGS, std::array<std::uint8_t, 4>{});
    attributes.close(flags);
  }
  close_request(message, begin);
  return message;
}

void append_forget_message(std::vector<std::uint8_t>& out, const UdpFlow& flow,
                           std::uint32_t sequence) {
  const std::size_t begin =
      open_flow_request(out, IPCTNL_MSG_CT_DELETE, NLM_F_ACK, flow.source.ip.family, sequence);
  AttributeWriter attributes(out);
  put_tuple(attributes, CTA_TUPLE_ORIG, flow.source, flow.destination);
  attributes.put_be32(CTA_ID, flow.id);
  close_request(out, begin);
}

std::optional<UdpFlow> parse_udp_flow(const NetlinkMessage& message) {
  constexpr std::uint16_t kFlow = (NFNL_SUBSYS_CTNETLINK << 8) | IPCTNL_MSG_CT_NEW;
  if (message.type != kFlow || message.payload.size() < sizeof(nfgenmsg)) return std::nullopt;
  const auto generic = load_host<nfgenmsg>(message.payload.data());
  const std::optional<IpFamily> family = family_of(generic.nfgen_family);
  if (!family) return std::nullopt;
  const auto flow = AttributeTable<CTA_MAX + 1>::read(message.payload.subspan(sizeof(nfgenmsg)));
  // The zone is named only where it is another than 0.
  if (!flow || flow->has(CTA_ZONE)) return std::nullopt;

  const std::optional<Tuple> original = read_udp_tuple(*family, flow->payload(CTA_TUPLE_ORIG));
  const std::optional<Tuple> reply = read_udp_tuple(*family, flow->payload(CTA_TUPLE_REPLY));
  const std::optional<std::uint32_t> id = read_be32(flow->payload(CTA_ID));
  if (!original || !reply || !id) return std::nullopt;
  return UdpFlow{original->source, original->destination, reply->source, reply->destination, *id};
}

int ending_errno(const NetlinkMessage& message) {
  constexpr std::int32_t kLargest = 4095;  // the kernel's MAX_ERRNO
  if (message.payload.size() < sizeof(std::int32_t)) return 0;
  const auto negative = load_host<std::int32_t>(message.payload.data());
  return negative < 0 && negative >= -kLargest ? -negative : 0;
}

std::optional<int> FlowListing::take(ByteSpan datagram) {
  MessageReader messages(datagram);
  for (;;) {
    const std::optional<NetlinkMessage> message = messages.next();
    // The list's end may have been among what cannot be read: not to be waited for.
    if (!message) return messages.malformed() ? std::optional(EBADMSG) : std::nullopt;
    std::optional<int> end = take(*message);
    if (end) return end;
  }
}

std::optional<int> FlowListing::take(const NetlinkMessage& message) {
  if ((message.flags & NLM_F_DUMP_INTR) != 0) interrupted_ = true;
  if (message.type == NLMSG_DONE || message.type == NLMSG_ERROR) {
    const int err = ending_errno(message);
    return err == 0 && interrupted_ ? EINTR : err;
  }
  if (const std::optional<UdpFlow> flow = parse_udp_flow(message)) visit_(*flow);
  return std::nullopt;
}

}  // namespace mkp
