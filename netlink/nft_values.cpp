#include "netlink/nft_values.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <optional>

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

namespace {

// The length of the prefix that the interval is. Nothing when it is none.
std::optional<std::size_t> prefix_length(ByteSpan low, ByteSpan high) {
  std::size_t length = 0;
  bool ended = false;
  for (std::size_t bit = 0; bit < low.size() * 8; ++bit) {
    const bool begins = ((low[bit / 8] >> (7 - bit % 8)) & 1) != 0;
    const bool ends = ((high[bit / 8] >> (7 - bit % 8)) & 1) != 0;
    if (begins == ends && !ended) {
      ++length;
    } else if (!begins && ends) {
      ended = true;
    } else {
      return std::nullopt;
    }
  }
  return length;
}

std::string field_interval_text(Field field, ByteSpan low, ByteSpan high) {
  if (std::ranges::equal(low, high)) return value_text(field, low);
  const bool address = field == Field::Ipv4Address || field == Field::Ipv6Address;
  const std::optional<std::size_t> length =
      address ? prefix_length(low, high) : std::optional<std::size_t>();
  if (length) return value_text(field, low) + "/" + std::to_string(*length);
  return value_text(field, low) + "-" + value_text(field, high);
}

}  // namespace

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

std::string interval_text(const std::vector<Field>& fields, const Bytes& first, const Bytes& last) {
  ByteSpan low = first.span();
  ByteSpan high = last.span();
  if (fields.empty() || low.size() != size_of(fields) || high.size() != low.size()) {
    return hexadecimal(low) + "-" + hexadecimal(high);
  }
  std::string text;
  for (const Field field : fields) {
    if (!text.empty()) text += " . ";
    text += field_interval_text(field, low.first(size_of(field)), high.first(size_of(field)));
    const std::size_t padded = std::min(low.size(), (size_of(field) + 3) / 4 * 4);
    low = low.subspan(padded);
    high = high.subspan(padded);
  }
  return text;
}

std::string duration_text(std::uint32_t seconds) {
  struct Unit {
    std::uint32_t seconds;
    char name;
  };
  constexpr std::array<Unit, 4> kUnits{{{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}}};
  if (seconds == 0) return "0s";
  std::string text;
  for (const Unit& unit : kUnits) {
    if (seconds >= unit.seconds) text += std::to_string(seconds / unit.seconds) + unit.name;
    seconds %= unit.seconds;
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
