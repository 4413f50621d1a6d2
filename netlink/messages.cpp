#include "netlink/messages.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace mkp {
namespace {

nlmsghdr load_header(ByteSpan bytes) { return load_host<nlmsghdr>(bytes.data()); }

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

}  // namespace

std::optional<NetlinkMessage> MessageReader::next() {
  if (malformed_ || rest_.empty()) return std::nullopt;
  if (rest_.size() < sizeof(nlmsghdr)) {
    malformed_ = true;
    return std::nullopt;
  }
  const nlmsghdr header = load_header(rest_);
  if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > rest_.size()) {
    malformed_ = true;
    return std::nullopt;
  }
  const NetlinkMessage message{
      header.nlmsg_type, header.nlmsg_flags, header.nlmsg_seq, header.nlmsg_pid,
      rest_.subspan(sizeof(nlmsghdr), header.nlmsg_len - sizeof(nlmsghdr))};
  rest_ = rest_.subspan(std::min(padded(header.nlmsg_len), rest_.size()));
  return message;
}

std::optional<NetlinkError> parse_error(const NetlinkMessage& message) {
  // struct nlmsgerr: the negative errno, then the header of the message that it is about.
  constexpr std::size_t kFixed = sizeof(std::int32_t) + sizeof(nlmsghdr);
  if (message.payload.size() < kFixed) return std::nullopt;
  const auto negative = load_host<std::int32_t>(message.payload.data());
  const nlmsghdr about = load_header(message.payload.subspan(sizeof(std::int32_t)));
  if (negative > 0 || negative == std::numeric_limits<std::int32_t>::min()) return std::nullopt;
  NetlinkError error{about.nlmsg_seq, -negative, std::nullopt};

  if ((message.flags & NLM_F_ACK_TLVS) == 0) return error;
  std::size_t begin = kFixed;
  if ((message.flags & NLM_F_CAPPED) == 0) {
    // The whole of the other message comes before the attributes.
    if (about.nlmsg_len < sizeof(nlmsghdr)) return error;
    begin += padded(about.nlmsg_len - sizeof(nlmsghdr));
  }
  if (begin > message.payload.size()) return error;
  AttributeReader attributes(message.payload.subspan(begin));
  while (const Attribute* attribute = attributes.next()) {
    if (attribute->type == NLMSGERR_ATTR_OFFS && attribute->payload.size() == 4) {
      error.attribute_offset = load_host<std::uint32_t>(attribute->payload.data());
    }
  }
  return error;
}

std::size_t open_request(std::vector<std::uint8_t>& out, const NetfilterHeader& header) {
  static_assert(sizeof(nlmsghdr) + sizeof(nfgenmsg) == kNetfilterHeader);
  nlmsghdr netlink{};
  netlink.nlmsg_type = header.type;
  netlink.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | header.flags);
  netlink.nlmsg_seq = header.sequence;
  nfgenmsg generic{};
  generic.nfgen_family = header.family;
  generic.version = NFNETLINK_V0;
  generic.res_id = htons(header.resource);
  const std::size_t begin = out.size();
  out.resize(begin + kNetfilterHeader);
  store_host(out.data() + begin, netlink);
  store_host(out.data() + begin + sizeof(netlink), generic);
  return begin;
}

void close_request(std::vector<std::uint8_t>& out, std::size_t begin) {
  store_host(out.data() + begin, static_cast<std::uint32_t>(out.size() - begin));
}

}  // namespace mkp
