#include "runner/ip_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace mkp {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedStart{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

using Ipv4Bytes = std::array<std::uint8_t, 4>;
using Ipv6Bytes = std::array<std::uint8_t, 16>;

// The value of a digit in the given base, or nothing.
std::optional<unsigned> digit_of(char letter, unsigned base) {
  if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
  if (base == 16 && letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a' + 10);
  if (base == 16 && letter >= 'A' && letter <= 'F') return static_cast<unsigned>(letter - 'A' + 10);
  return std::nullopt;
}

// Takes a number of at least one digit and any number of leading zeros off the front of `text`.
std::optional<unsigned> take_number(std::string_view& text, unsigned base, unsigned highest) {
  unsigned value = 0;
  std::size_t used = 0;
  while (used < text.size()) {
    const std::optional<unsigned> digit = digit_of(text[used], base);
    if (!digit) break;
    value = value * base + *digit;
    if (value > highest) return std::nullopt;
    ++used;
  }
  if (used == 0) return std::nullopt;
  text.remove_prefix(used);
  return value;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

std::optional<Ipv4Bytes> parse_dotted(std::string_view text) {
  Ipv4Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && !take(text, ".")) return std::nullopt;
    const std::optional<unsigned> number = take_number(text, 10, 255);
    if (!number) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*number);
  }
  if (!text.empty()) return std::nullopt;
  return bytes;
}

// Appends the bytes of "a:b:c" to `bytes`; only the last of the groups may be a dotted IPv4
// address.
bool append_groups(std::string_view text, std::string& bytes) {
  for (;;) {
    if (text.find(':') == std::string_view::npos && text.find('.') != std::string_view::npos) {
      const std::optional<Ipv4Bytes> dotted = parse_dotted(text);
      if (!dotted) return false;
      bytes.append(dotted->begin(), dotted->end());
      return true;
    }
    const std::optional<unsigned> group = take_number(text, 16, 0xffff);
    if (!group) return false;
    bytes.push_back(static_cast<char>(*group >> 8));
    bytes.push_back(static_cast<char>(*group & 0xff));
    if (text.empty()) return true;
    if (!take(text, ":")) return false;
  }
}

std::optional<Ipv6Bytes> parse_groups(std::string_view text) {
  const std::size_t gap = text.find("::");
  std::string front;
  std::string back;
  if (gap == std::string_view::npos) {
    if (!append_groups(text, front) || front.size() != 16) return std::nullopt;
  } else {
    const std::string_view before = text.substr(0, gap);
    const std::string_view after = text.substr(gap + 2);
    // Dots end an address: none before the gap.
    if (before.find('.') != std::string_view::npos) return std::nullopt;
    if (!before.empty() && !append_groups(before, front)) return std::nullopt;
    if (!after.empty() && !append_groups(after, back)) return std::nullopt;
    // The gap stands for at least one group.
    if (front.size() + back.size() > 14) return std::nullopt;
  }
  Ipv6Bytes bytes{};
  std::transform(front.begin(), front.end(), bytes.begin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  std::transform(back.rbegin(), back.rend(), bytes.rbegin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  return bytes;
}

bool is_mapped(const Ipv6Bytes& bytes) {
  return std::equal(kMappedStart.begin(), kMappedStart.end(), bytes.begin());
}

IpAddress ipv4(std::span<const std::uint8_t, 4> bytes) {
  IpAddress address{IpFamily::Ipv4, {}};
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  return address;
}

IpAddress unmapped(const Ipv6Bytes& bytes) {
  if (is_mapped(bytes)) return ipv4(std::span(bytes).last<4>());
  return IpAddress{IpFamily::Ipv6, bytes};
}

// Kubernetes decides by whichever of '.' and ':' comes first.
bool reads_as_ipv4(std::string_view text) {
  const std::size_t mark = text.find_first_of(".:");
  return mark != std::string_view::npos && text[mark] == '.';
}

void clear_host_bits(std::span<std::uint8_t> bytes, unsigned length) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t before = std::min<std::size_t>(i * 8, length);
    const std::size_t kept = std::min<std::size_t>(length - before, 8);
    bytes[i] = static_cast<std::uint8_t>(bytes[i] & (0xff00U >> kept));
  }
}

// First group and length of the longest run of zero groups, the first of equals; a single group is
// no run.
struct ZeroRun {
  std::size_t first = 8;
  std::size_t length = 1;
};

ZeroRun longest_zero_run(const std::array<unsigned, 8>& groups) {
  ZeroRun longest;
  std::size_t length = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    length = groups[i] == 0 ? length + 1 : 0;
    if (length > longest.length) longest = ZeroRun{i + 1 - length, length};
  }
  if (longest.length == 1) longest.length = 0;
  return longest;
}

std::string groups_text(const Ipv6Bytes& bytes) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  const ZeroRun zeros = longest_zero_run(groups);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == zeros.first) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    fmt::format_to(std::back_inserter(text), "{:x}", groups[i]);
  }
  return text;
}

}  // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (reads_as_ipv4(text)) {
    const std::optional<Ipv4Bytes> bytes = parse_dotted(text);
    if (!bytes) return std::nullopt;
    return ipv4(*bytes);
  }
  const std::optional<Ipv6Bytes> bytes = parse_groups(text);
  if (!bytes) return std::nullopt;
  return unmapped(*bytes);
}

std::string_view to_text(IpFamily family) { return family == IpFamily::Ipv4 ? "IPv4" : "IPv6"; }

IpAddress loopback(IpFamily family) {
  IpAddress address{family, {}};
  if (family == IpFamily::Ipv4) address.bytes[0] = 127;
  address.bytes[address.size() - 1] = 1;
  return address;
}

bool is_loopback(const IpAddress& address) {
  return address.family == IpFamily::Ipv4 ? address.bytes[0] == 127
                                          : address == loopback(IpFamily::Ipv6);
}

bool is_unspecified(const IpAddress& address) { return address == IpAddress{address.family, {}}; }

bool is_for_many(const IpAddress& address) {
  if (address.family == IpFamily::Ipv6) return address.bytes[0] == 0xff;
  const bool broadcast = std::all_of(address.bytes.begin(), address.bytes.begin() + 4,
                                     [](std::uint8_t byte) { return byte == 0xff; });
  return broadcast || (address.bytes[0] & 0xf0) == 0xe0;
}

std::string to_text(const IpAddress& address) {
  if (address.family == IpFamily::Ipv6) return groups_text(address.bytes);
  return fmt::format("{}.{}.{}.{}", address.bytes[0], address.bytes[1], address.bytes[2],
                     address.bytes[3]);
}

IpPrefix prefix_of(const IpAddress& address, std::uint8_t length) {
  const auto bits = static_cast<std::uint8_t>(address.size() * 8);
  IpPrefix prefix{address, std::min(length, bits)};
  clear_host_bits(std::span(prefix.address.bytes).first(address.size()), prefix.length);
  return prefix;
}

std::optional<IpPrefix> parse_ip_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view address_text = text.substr(0, slash);
  std::string_view length_text = text.substr(slash + 1);
  const bool dotted = reads_as_ipv4(address_text);
  const std::optional<unsigned> length = take_number(length_text, 10, dotted ? 32 : 128);
  if (!length || !length_text.empty()) return std::nullopt;
  if (dotted) {
    const std::optional<Ipv4Bytes> bytes = parse_dotted(address_text);
    if (!bytes) return std::nullopt;
    return prefix_of(ipv4(*bytes), static_cast<std::uint8_t>(*length));
  }
  const std::optional<Ipv6Bytes> bytes = parse_groups(address_text);
  if (!bytes) return std::nullopt;
  // A prefix shorter than 96 bits reaches beyond the mapped addresses, so it stays IPv6.
  if (is_mapped(*bytes) && *length >= 96) {
    return prefix_of(unmapped(*bytes), static_cast<std::uint8_t>(*length - 96));
  }
  return prefix_of(IpAddress{IpFamily::Ipv6, *bytes}, static_cast<std::uint8_t>(*length));
}

std::string to_text(const IpPrefix& prefix) {
  return fmt::format("{}/{}", to_text(prefix.address), prefix.length);
}

bool contains(const IpPrefix& prefix, const IpAddress& address) {
  return prefix.address.family == address.family && prefix_of(address, prefix.length) == prefix;
}

std::vector<IpPrefix> without_nested(std::vector<IpPrefix> prefixes) {
  // Whatever lies within a prefix comes behind it: its address is the same or higher, and then its
  // length greater.
  std::sort(prefixes.begin(), prefixes.end());
  std::vector<IpPrefix> kept;
  for (const IpPrefix& prefix : prefixes) {
    const bool nested = !kept.empty() && contains(kept.back(), prefix.address);
    if (!nested) kept.push_back(prefix);
  }
  return kept;
}

}  // namespace mkp

std::size_t std::hash<mkp::IpAddress>::operator()(const mkp::IpAddress& address) const noexcept {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, address.bytes.data(), sizeof high);
  std::memcpy(&low, address.bytes.data() + sizeof high, sizeof low);
  // Multiplication spreads the few bytes in which the addresses of one cluster differ.
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t mixed = (high + static_cast<std::uint64_t>(address.family)) * kOdd;
  mixed = (mixed ^ (mixed >> 29) ^ low) * kOdd;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}
