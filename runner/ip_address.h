#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mkp {

enum class IpFamily : std::uint8_t { Ipv4, Ipv6 };
std::string_view to_text(IpFamily family);  // "IPv4", "IPv6"

// An address in its one form: what is written as IPv4-mapped IPv6 is IPv4 here, so that equal means
// the same packets. Ordered by family, then as a number.
struct IpAddress {
  IpFamily family = IpFamily::Ipv4;
  // Network byte order. IPv4 uses the first four bytes; the rest is zero.
  std::array<std::uint8_t, 16> bytes{};

  // 4 or 16.
  std::size_t size() const { return family == IpFamily::Ipv4 ? 4 : 16; }
  std::strong_ordering operator<=>(const IpAddress&) const = default;
};

// Reads an address as Kubernetes always has: leading zeros are accepted and decimal (010.0.0.1 is
// 10.0.0.1), an IPv4-mapped address is IPv4. Zones, brackets and surrounding blanks are refused.
std::optional<IpAddress> parse_ip_address(std::string_view text);

// Dotted decimal without leading zeros; or lower-case IPv6 with its longest run of zeros compressed
// (RFC 5952).
std::string to_text(const IpAddress& address);

IpAddress loopback(IpFamily family);  // 127.0.0.1, ::1
// Within 127.0.0.0/8, or ::1.
bool is_loopback(const IpAddress& address);
// 0.0.0.0, ::
bool is_unspecified(const IpAddress& address);
// Within 224.0.0.0/4 or ff00::/8; or 255.255.255.255.
bool is_for_many(const IpAddress& address);

// The addresses that share the first `length` bits. The host bits of `address` are zero.
struct IpPrefix {
  IpAddress address;
  std::uint8_t length = 0;

  std::strong_ordering operator<=>(const IpPrefix&) const = default;
};

// The prefix of that length around `address`: clears the host bits. A length over the family's bits
// counts as all of them.
IpPrefix prefix_of(const IpAddress& address, std::uint8_t length);

// "10.1.2.3/16" is 10.1.0.0/16: host bits are cleared. A prefix within ::ffff:0:0/96 is IPv4, 96
// bits shorter. The mask must be a decimal length; blanks are the caller's to trim.
std::optional<IpPrefix> parse_ip_prefix(std::string_view text);

std::string to_text(const IpPrefix& prefix);

// False when the families differ.
bool contains(const IpPrefix& prefix, const IpAddress& address);

// The same addresses, but each prefix once and none that lies within another; sorted.
std::vector<IpPrefix> without_nested(std::vector<IpPrefix> prefixes);

}  // namespace mkp

template <>
struct std::hash<mkp::IpAddress> {
  std::size_t operator()(const mkp::IpAddress& address) const noexcept;
};
