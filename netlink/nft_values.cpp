#include "netlink/nft_values.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "netlink/set_shape.h"

namespace mkp::nft {
namespace {

std::string address_text(IpFamily family, ByteSpan bytes) {
  // Not by way of to_text(IpAddress): what is IPv4-mapped here is an IPv6 address to the kernel.
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family == IpFamily::Ipv4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

std::string hexadecimal(ByteSpan bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0x0f];
  }
  return text;
}

std::string protocol_text(std::uint8_t protocol) {
  switch (protocol) {
    case IPPROTO_TCP:
      return "tcp";
    case IPPROTO_UDP:
      return "udp";
    case IPPROTO_SCTP:
      return "sctp";
    case IPPROTO_ICMP:
      return "icmp";
    case IPPROTO_ICMPV6:
      return "ipv6-icmp";
    default:
      return std::to_string(protocol);
  }
}

std::string value_text(Field field, ByteSpan bytes) {
  if (bytes.size() != size_of(field)) return hexadecimal(bytes);
  switch (field) {
    case Field::Ipv4Address:
      return address_text(IpFamily::Ipv4, bytes);
    case Field::Ipv6Address:
      return address_text(IpFamily::Ipv6, bytes);
    case Field::InetProto:
      return protocol_text(bytes[0]);
    case Field::InetService:
      return std::to_string(ntohs(load_host<std::uint16_t>(bytes.data())));
    case Field::Slot:
      return std::to_string(load_host<std::uint32_t>(bytes.data()));
  }
  return hexadecimal(bytes);
}

std::string value_text(const std::vector<Field>& fields, const Bytes& bytes) {
  ByteSpan rest = bytes.span();
  if (fields.empty() || rest.size() != size_of(fields)) return hexadecimal(rest);
  std::string text;
  for (const Field field : fields) {
    if (!text.empty()) text += " . ";
    text += value_text(field, rest.first(size_of(field)));
    rest = rest.subspan(std::min(rest.size(), (size_of(field) + 3) / 4 * 4));
  }
  return text;
}

std::string to_text(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::Accept:
      return "accept";
    case Verdict::Kind::Drop:
      return "drop";
    case Verdict::Kind::Return:
      return "return";
    case Verdict::Kind::Jump:
      return "jump " + verdict.chain;
    case Verdict::Kind::Goto:
      return "goto " + verdict.chain;
  }
  return {};
}

}  // namespace mkp::nft
