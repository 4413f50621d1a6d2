#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/ip_address.h"

namespace mkp::packets {

struct AddressPort {
  IpAddress ip;
  std::uint16_t port = 0;
  std::strong_ordering operator<=>(const AddressPort&) const = default;
};

std::optional<AddressPort> parse_address_port(std::string_view text);
std::string to_text(const AddressPort& address);  // "10.0.0.1:80", "[fd00::1]:80"

// The values are the protocol numbers of IP.
enum class Transport : std::uint8_t { Tcp = 6, Udp = 17, Sctp = 132 };

std::string_view to_text(Transport transport);  // "tcp", "udp", "sctp"

// A packet that opens a connection: a TCP SYN, a UDP datagram or an SCTP INIT. The tag travels
// where no translation changes it (sequence number, payload, initiate tag), so that a packet is
// known again wherever it comes out. It must not be 0.
struct Packet {
  Transport transport = Transport::Tcp;
  AddressPort source{};
  AddressPort destination{};
  std::uint32_t tag = 0;
  // TCP only: a SYN/ACK that answers nothing, which connection tracking calls INVALID.
  bool out_of_state = false;
  bool operator==(const Packet&) const = default;
};

// From the IP header on, with right checksums.
std::vector<std::uint8_t> encode(const Packet& packet);

// A packet of a protocol that no Service can name: what is sent after a probe, and arrives after
// everything that the probe caused.
inline constexpr std::uint8_t kSentinelProtocol = 253;  // RFC 3692: for experiments
std::vector<std::uint8_t> encode_sentinel(const IpAddress& from, const IpAddress& to,
                                          std::uint32_t tag);

// What a packet turned out to be.
struct Sighting {
  enum class Kind : std::uint8_t {
    Opening,      // a Packet, perhaps translated
    Unreachable,  // an ICMP or ICMPv6 "destination unreachable"; `packet` is the one that it quotes
    Reset,        // a TCP RST; `packet` holds its addresses, and the tag of what it answers
    Sentinel
  };
  Kind kind = Kind::Opening;
  Packet packet{};
  IpAddress error_receiver{};   // Unreachable: whom the error was sent to
  std::uint8_t error_code = 0;  // Unreachable: the ICMP code
  bool checksum_ok = true;
  bool operator==(const Sighting&) const = default;
};

// Nothing for whatever a probe neither is nor causes, such as the kernel's own multicast reports,
// and for what is cut short.
std::optional<Sighting> decode(std::span<const std::uint8_t> packet);

// The same for what a raw IPv6 socket yields: no header, but who sent what to whom.
std::optional<Sighting> decode_payload(std::uint8_t protocol, const IpAddress& from,
                                       const IpAddress& to, std::span<const std::uint8_t> payload);

}  // namespace mkp::packets
