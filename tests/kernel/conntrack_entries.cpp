#include "tests/kernel/conntrack_entries.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "netlink/attributes.h"
#include "tests/kernel/nft_program.h"

namespace mkp {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Entries that make one send.
constexpr std::size_t kPortion = 1'000;
constexpr std::uint32_t kTimeout = 600;  // in seconds

struct Kind {
  std::uint8_t protocol = IPPROTO_UDP;
  std::optional<std::uint16_t> zone;
};

void put_be16(AttributeWriter& attributes, std::uint16_t type, std::uint16_t value) {
  std::array<std::uint8_t, 2> bytes{};
  store_host(bytes.data(), htons(value));
  attributes.put(type, bytes);
}

void put_tuple(AttributeWriter& attributes, std::uint16_t type, std::uint8_t protocol,
               const FlowEnd& from, const FlowEnd& to) {
  const bool v4 = from.ip.family == IpFamily::Ipv4;
  const std::size_t tuple = attributes.open(type);
  const std::size_t ip = attributes.open(CTA_TUPLE_IP);
  attributes.put(v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC,
                 std::span(from.ip.bytes).first(from.ip.size()));
  attributes.put(v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, std::span(to.ip.bytes).first(to.ip.size()));
  attributes.close(ip);
  const std::size_t proto = attributes.open(CTA_TUPLE_PROTO);
  attributes.put(CTA_PROTO_NUM, std::span(&protocol, 1));
  put_be16(attributes, CTA_PROTO_SRC_PORT, from.port);
  put_be16(attributes, CTA_PROTO_DST_PORT, to.port);
  attributes.close(proto);
  attributes.close(tuple);
}

void append(Bytes& out, int verb, std::uint16_t flags, const UdpFlow& flow, const Kind& kind) {
  const std::size_t begin = out.size();
  nlmsghdr header{};
  header.nlmsg_type = static_cast<std::uint16_t>((NFNL_SUBSYS_CTNETLINK << 8) | verb);
  header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  nfgenmsg generic{};
  generic.nfgen_family = flow.source.ip.family == IpFamily::Ipv4 ? AF_INET : AF_INET6;
  out.resize(begin + sizeof(header) + sizeof(generic));
  store_host(out.data() + begin + sizeof(header), generic);
  AttributeWriter attributes(out);
  put_tuple(attributes, CTA_TUPLE_ORIG, kind.protocol, flow.source, flow.destination);
  put_tuple(attributes, CTA_TUPLE_REPLY, kind.protocol, flow.reply_source, flow.reply_destination);
  attributes.put_be32(CTA_TIMEOUT, kTimeout);
  if (kind.zone) put_be16(attributes, CTA_ZONE, *kind.zone);
  header.nlmsg_len = static_cast<std::uint32_t>(out.size() - begin);
  store_host(out.data() + begin, header);
}

void append_new(Bytes& out, const UdpFlow& flow, const Kind& kind = {}) {
  append(out, IPCTNL_MSG_CT_NEW, NLM_F_CREATE | NLM_F_EXCL, flow, kind);
}

}  // namespace

KernelTable::KernelTable(std::unique_ptr<Conntrack> conntrack)
    : conntrack_(std::move(conntrack)), socket_([] {
        nft::enter_new_network_namespace();
        return NetlinkSocket::open(NETLINK_NETFILTER).value();
      }()) {}

void KernelTable::add(const std::vector<UdpFlow>& flows) {
  for (std::size_t begin = 0; begin < flows.size(); begin += kPortion) {
    Bytes messages;
    for (std::size_t i = begin; i < std::min(begin + kPortion, flows.size()); ++i) {
      append_new(messages, flows[i]);
    }
    send(messages);
  }
}

void KernelTable::add_tcp(const UdpFlow& ends) {
  Bytes message;
  append_new(message, ends, {IPPROTO_TCP, std::nullopt});
  send(message);
}

void KernelTable::add_in_zone(const UdpFlow& flow, std::uint16_t zone) {
  Bytes message;
  append_new(message, flow, {IPPROTO_UDP, zone});
  send(message);
}

void KernelTable::remove(const UdpFlow& flow) {
  Bytes message;
  append(message, IPCTNL_MSG_CT_DELETE, 0, flow, {});
  send(message);
}

// An id is made from the entry's place in memory, and the place that was left last is taken first:
// others take it, and more of them than the allocator keeps at hand.
void KernelTable::replace(const UdpFlow& flow) {
  remove(flow);
  Bytes messages;
  UdpFlow filler = flow;
  for (std::uint16_t port = 60'000; port < 60'100; ++port) {
    filler.source.port = port;
    filler.reply_destination.port = port;
    append_new(messages, filler);
  }
  append_new(messages, flow);
  send(messages);
}

void KernelTable::send(const std::vector<std::uint8_t>& messages) {
  const Result<std::vector<NetlinkError>> refused = socket_.send_batch(messages);
  if (!refused) ADD_FAILURE() << refused.error().what;
  if (refused && !refused->empty()) ADD_FAILURE() << "errno " << refused->front().err;
}

}  // namespace mkp
