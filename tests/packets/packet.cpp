#include "tests/packets/packet.h"

#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "tests/packets/checksum.h"

namespace mkp::packets {
namespace {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

constexpr std::size_t kIpv4HeaderSize = 20;
constexpr std::size_t kIpv6HeaderSize = 40;
constexpr std::size_t kTcpHeaderSize = 20;
constexpr std::size_t kUdpHeaderSize = 8;
constexpr std::size_t kIcmpHeaderSize = 8;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kRst = 0x04;
constexpr std::uint8_t kAck = 0x10;
constexpr std::uint8_t kIcmpUnreachable = 3;
constexpr std::uint8_t kIcmpv6Unreachable = 1;
constexpr std::uint8_t kSctpInit = 1;

void put8(Bytes& out, unsigned value) { out.push_back(static_cast<std::uint8_t>(value)); }

void put16(Bytes& out, unsigned value) {
  put8(out, (value >> 8) & 0xff);
  put8(out, value & 0xff);
}

void put32(Bytes& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xffff);
}

void put_address(Bytes& out, const IpAddress& address) {
  const View bytes = std::span(address.bytes).first(address.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void set16(Bytes& out, std::size_t at, std::uint16_t value) {
  out[at] = static_cast<std::uint8_t>(value >> 8);
  out[at + 1] = static_cast<std::uint8_t>(value & 0xff);
}

std::uint16_t get16(View in, std::size_t at) {
  return static_cast<std::uint16_t>((in[at] << 8) | in[at + 1]);
}

std::uint32_t get32(View in, std::size_t at) {
  return (std::uint32_t{get16(in, at)} << 16) | get16(in, at + 2);
}

IpAddress get_address(View in, std::size_t at, IpFamily family) {
  IpAddress address{family, {}};
  const View bytes = in.subspan(at, address.size());
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  return address;
}

Bytes ip_packet(const IpAddress& from, const IpAddress& to, std::uint8_t protocol, View payload) {
  Bytes out;
  if (from.family == IpFamily::Ipv4) {
    put16(out, 0x4500);
    put16(out, static_cast<unsigned>(kIpv4HeaderSize + payload.size()));
    put32(out, 0x00004000);  // no identification, don't fragment
    put8(out, kHopLimit);
    put8(out, protocol);
    put16(out, 0);
    put_address(out, from);
    put_address(out, to);
    set16(out, 10, internet_checksum(out));
  } else {
    put32(out, 0x60000000);
    put16(out, static_cast<unsigned>(payload.size()));
    put8(out, protocol);
    put8(out, kHopLimit);
    put_address(out, from);
    put_address(out, to);
  }
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Bytes tcp_segment(const Packet& packet) {
  Bytes out;
  put16(out, packet.source.port);
  put16(out, packet.destination.port);
  put32(out, packet.tag);
  put32(out, packet.out_of_state ? packet.tag : 0);
  put8(out, 0x50);  // five words of header
  put8(out, packet.out_of_state ? kSyn | kAck : kSyn);
  put16(out, 64240);  // window
  put32(out, 0);      // checksum, urgent pointer
  set16(out, 16, transport_checksum(packet.source.ip, packet.destination.ip, IPPROTO_TCP, out));
  return out;
}

Bytes udp_datagram(const Packet& packet) {
  Bytes out;
  put16(out, packet.source.port);
  put16(out, packet.destination.port);
  put16(out, kUdpHeaderSize + sizeof packet.tag);
  put16(out, 0);
  put32(out, packet.tag);
  const std::uint16_t checksum =
      transport_checksum(packet.source.ip, packet.destination.ip, IPPROTO_UDP, out);
  set16(out, 6, checksum == 0 ? 0xffff : checksum);  // 0 would mean that there is none
  return out;
}

Bytes sctp_init(const Packet& packet) {
  Bytes out;
  put16(out, packet.source.port);
  put16(out, packet.destination.port);
  put32(out, 0);  // verification tag: 0 in an INIT
  put32(out, 0);  // checksum
  put8(out, kSctpInit);
  put8(out, 0);
  put16(out, 20);          // chunk length
  put32(out, packet.tag);  // initiate tag
  put32(out, 65536);       // receiver window
  put16(out, 10);          // outbound streams
  put16(out, 10);          // inbound streams
  put32(out, packet.tag);  // initial TSN
  const std::uint32_t crc = sctp_checksum(out);
  for (std::size_t byte = 0; byte < 4; ++byte) {
    out[8 + byte] = static_cast<std::uint8_t>((crc >> (8 * byte)) & 0xff);
  }
  return out;
}

struct IpHeader {
  std::uint8_t protocol = 0;
  IpAddress from;
  IpAddress to;
  View payload;
};

// `payload` ends where `in` does: what an ICMP error quotes may be cut short.
std::optional<IpHeader> parse_ip(View in) {
  if (in.empty()) return std::nullopt;
  if (in[0] >> 4 == 4) {
    const std::size_t header_size = static_cast<std::size_t>(in[0] & 0x0f) * 4;
    if (header_size < kIpv4HeaderSize || in.size() < header_size) return std::nullopt;
    return IpHeader{in[9], get_address(in, 12, IpFamily::Ipv4), get_address(in, 16, IpFamily::Ipv4),
                    in.subspan(header_size)};
  }
  if (in[0] >> 4 != 6 || in.size() < kIpv6HeaderSize) return std::nullopt;
  return IpHeader{in[6], get_address(in, 8, IpFamily::Ipv6), get_address(in, 24, IpFamily::Ipv6),
                  in.subspan(kIpv6HeaderSize)};
}

Packet addressed(Transport transport, const IpHeader& ip) {
  return {transport, {ip.from, get16(ip.payload, 0)}, {ip.to, get16(ip.payload, 2)}, 0, false};
}

std::optional<Sighting> parse_tcp(const IpHeader& ip) {
  const View in = ip.payload;
  if (in.size() < 8) return std::nullopt;
  Sighting seen{.packet = addressed(Transport::Tcp, ip)};
  seen.packet.tag = get32(in, 4);
  if (in.size() < kTcpHeaderSize) return seen;  // quoted by an error
  const std::uint8_t flags = in[13];
  seen.packet.out_of_state = (flags & (kSyn | kAck)) == (kSyn | kAck);
  if ((flags & kRst) != 0) {
    seen.kind = Sighting::Kind::Reset;
    if ((flags & kAck) != 0) seen.packet.tag = get32(in, 8) - 1;
  }
  return seen;
}

std::optional<Sighting> parse_udp(const IpHeader& ip) {
  if (ip.payload.size() < kUdpHeaderSize + 4) return std::nullopt;
  Sighting seen{.packet = addressed(Transport::Udp, ip)};
  seen.packet.tag = get32(ip.payload, kUdpHeaderSize);
  return seen;
}

std::optional<Sighting> parse_sctp(const IpHeader& ip) {
  if (ip.payload.size() < 20 || ip.payload[12] != kSctpInit) return std::nullopt;
  Sighting seen{.packet = addressed(Transport::Sctp, ip)};
  seen.packet.tag = get32(ip.payload, 16);
  return seen;
}

std::optional<Sighting> parse_transport(const IpHeader& ip) {
  switch (ip.protocol) {
    case IPPROTO_TCP:
      return parse_tcp(ip);
    case IPPROTO_UDP:
      return parse_udp(ip);
    case IPPROTO_SCTP:
      return parse_sctp(ip);
    default:
      return std::nullopt;
  }
}

std::optional<Sighting> parse_unreachable(const IpHeader& ip) {
  const std::uint8_t type = ip.protocol == IPPROTO_ICMP ? kIcmpUnreachable : kIcmpv6Unreachable;
  if (ip.payload.size() < kIcmpHeaderSize || ip.payload[0] != type) return std::nullopt;
  const std::optional<IpHeader> quoted = parse_ip(ip.payload.subspan(kIcmpHeaderSize));
  if (!quoted) return std::nullopt;
  std::optional<Sighting> seen = parse_transport(*quoted);
  if (!seen) return std::nullopt;
  seen->kind = Sighting::Kind::Unreachable;
  seen->error_receiver = ip.to;
  seen->error_code = ip.payload[1];
  return seen;
}

bool has_right_checksum(const IpHeader& ip) {
  if (ip.protocol == IPPROTO_ICMP) return internet_checksum(ip.payload) == 0;
  if (ip.protocol != IPPROTO_SCTP) {
    return transport_checksum(ip.from, ip.to, ip.protocol, ip.payload) == 0;
  }
  std::uint32_t stored = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    stored |= std::uint32_t{ip.payload[8 + byte]} << (8 * byte);
  }
  return stored == sctp_checksum(ip.payload);
}

std::optional<Sighting> parse_payload(const IpHeader& ip) {
  if (ip.protocol == kSentinelProtocol) {
    if (ip.payload.size() < 4) return std::nullopt;
    return Sighting{.kind = Sighting::Kind::Sentinel, .packet = {.tag = get32(ip.payload, 0)}};
  }
  const bool icmp = ip.protocol == IPPROTO_ICMP || ip.protocol == IPPROTO_ICMPV6;
  std::optional<Sighting> seen = icmp ? parse_unreachable(ip) : parse_transport(ip);
  if (seen) seen->checksum_ok = has_right_checksum(ip);
  return seen;
}

}  // namespace

std::optional<AddressPort> parse_address_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::optional<IpAddress> ip = parse_ip_address(host);
  std::uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (!ip || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return AddressPort{*ip, port};
}

std::string to_text(const AddressPort& address) {
  const std::string host = mkp::to_text(address.ip);
  const std::string port = std::to_string(address.port);
  return address.ip.family == IpFamily::Ipv4 ? host + ":" + port : "[" + host + "]:" + port;
}

std::string_view to_text(Transport transport) {
  switch (transport) {
    case Transport::Tcp:
      return "tcp";
    case Transport::Udp:
      return "udp";
    case Transport::Sctp:
      return "sctp";
  }
  return "";
}

std::vector<std::uint8_t> encode(const Packet& packet) {
  const Bytes segment = packet.transport == Transport::Tcp   ? tcp_segment(packet)
                        : packet.transport == Transport::Udp ? udp_datagram(packet)
                                                             : sctp_init(packet);
  return ip_packet(packet.source.ip, packet.destination.ip,
                   static_cast<std::uint8_t>(packet.transport), segment);
}

std::vector<std::uint8_t> encode_sentinel(const IpAddress& from, const IpAddress& to,
                                          std::uint32_t tag) {
  Bytes payload;
  put32(payload, tag);
  return ip_packet(from, to, kSentinelProtocol, payload);
}

std::optional<Sighting> decode(std::span<const std::uint8_t> packet) {
  const std::optional<IpHeader> ip = parse_ip(packet);
  if (!ip) return std::nullopt;
  return parse_payload(*ip);
}

std::optional<Sighting> decode_payload(std::uint8_t protocol, const IpAddress& from,
                                       const IpAddress& to, std::span<const std::uint8_t> payload) {
  return parse_payload({protocol, from, to, payload});
}

}  // namespace mkp::packets
