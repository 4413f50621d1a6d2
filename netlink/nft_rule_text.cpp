#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netlink/nft_text.h"
#include "netlink/nft_values.h"

namespace mkp::nft {
namespace {

// How the values of a load are written.
enum class ValueType {
  Address,
  Protocol,
  Port,
  Mark,
  Name,
  CtState,
  CtStatus,
  FibType,
  Number,
  Raw
};

struct Flag {
  std::uint32_t bit;
  const char* name;
};
constexpr std::array<Flag, 5> kCtStates{
    {{1, "invalid"}, {2, "established"}, {4, "related"}, {8, "new"}, {64, "untracked"}}};
constexpr std::array<Flag, 7> kCtStatuses{{{1, "expected"},
                                           {2, "seen-reply"},
                                           {4, "assured"},
                                           {8, "confirmed"},
                                           {16, "snat"},
                                           {32, "dnat"},
                                           {512, "dying"}}};
constexpr std::array kFibTypes{"unspec",    "unicast",   "local",       "broadcast", "anycast",
                               "multicast", "blackhole", "unreachable", "prohibit"};

// What a register holds: the nft expression that put it there.
struct Loaded {
  std::string text;
  std::size_t units = 1;  // of four bytes
  ValueType type = ValueType::Raw;
  // Not part of the text yet, as nft writes some of them as a prefix or as a set of flags.
  std::optional<Bitwise> bitwise = std::nullopt;
  // What ImmediateData put there.
  std::optional<Bytes> constant = std::nullopt;
};

std::uint32_t number_of(const Bytes& bytes) {
  return bytes.size() == 4 ? load_host<std::uint32_t>(bytes.span().data()) : 0;
}

bool is_all(const Bytes& bytes, std::uint8_t value) {
  return std::ranges::all_of(bytes.span(), [&](std::uint8_t byte) { return byte == value; });
}

bool is_complement(const Bytes& one, const Bytes& other) {
  return std::ranges::equal(one.span(), other.span(), [](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(~a) == b;
  });
}

bool share_bits(const Bytes& one, const Bytes& other) {
  return !std::ranges::equal(one.span(), other.span(),
                             [](std::uint8_t a, std::uint8_t b) { return (a & b) == 0; });
}

// one | other, which have the same size.
Bytes either(const Bytes& one, const Bytes& other) {
  std::vector<std::uint8_t> bytes(one.size());
  std::ranges::transform(one.span(), other.span(), bytes.begin(), std::bit_or<>{});
  return Bytes(bytes);
}

template <std::size_t kCount>
std::string flags_text(const std::array<Flag, kCount>& flags, const Bytes& value) {
  std::uint32_t left = number_of(value);
  std::string text;
  for (const Flag& flag : flags) {
    if ((left & flag.bit) == 0) continue;
    left &= ~flag.bit;
    text += (text.empty() ? "" : ",") + std::string(flag.name);
  }
  if (left != 0 || text.empty()) return fmt::format("0x{:08x}", number_of(value));
  return text;
}

// An interface's name is compared with its NUL, or, for all that begin so, without.
std::string name_text(const Bytes& value) {
  const ByteSpan bytes = value.span();
  const auto nul = std::ranges::find(bytes, std::uint8_t{0});
  const std::string name(bytes.begin(), nul);
  return '"' + name + (nul == bytes.end() ? "*\"" : "\"");
}

std::string address_text(const Bytes& value) {
  const std::size_t size = value.size();
  return value_text(size == 16 ? Field::Ipv6Address : Field::Ipv4Address, value.span());
}

std::string value_text(ValueType type, const Bytes& value) {
  switch (type) {
    case ValueType::Address:
      return address_text(value);
    case ValueType::Protocol:
      return value_text(Field::InetProto, value.span());
    case ValueType::Port:
      return value_text(Field::InetService, value.span());
    case ValueType::Mark:
      return fmt::format("0x{:08x}", number_of(value));
    case ValueType::Name:
      return name_text(value);
    case ValueType::CtState:
      return flags_text(kCtStates, value);
    case ValueType::CtStatus:
      return flags_text(kCtStatuses, value);
    case ValueType::FibType:
      if (value.size() == 4 && number_of(value) < kFibTypes.size()) {
        return kFibTypes[number_of(value)];
      }
      return std::to_string(number_of(value));
    case ValueType::Number:
      return value_text(Field::Slot, value.span());
    case ValueType::Raw:
      return hexadecimal(value.span());
  }
  return {};
}

// "10.180.0.2:8080", "[fd00::7]:8080"
std::string endpoint_text(const Bytes& address, const Bytes& port) {
  const std::string number = value_text(Field::InetService, port.span());
  const std::string host = address_text(address);
  return address.size() == 16 ? "[" + host + "]:" + number : host + ":" + number;
}

// The length of a prefix whose mask this is.
std::optional<std::size_t> prefix_length(const Bytes& mask) {
  std::size_t length = 0;
  bool ended = false;
  for (const std::uint8_t byte : mask.span()) {
    for (int bit = 7; bit >= 0; --bit) {
      const bool set = ((byte >> bit) & 1) != 0;
      if (set && ended) return std::nullopt;
      if (set) ++length;
      ended = !set;
    }
  }
  return length;
}

// With the bitwise operation, if any: "meta mark | 0x00004000".
std::string computed_text(const Loaded& loaded) {
  if (!loaded.bitwise) return loaded.text;
  const Bytes& mask = loaded.bitwise->mask;
  const Bytes& exclusive_or = loaded.bitwise->exclusive_or;
  const std::string flipped = value_text(loaded.type, exclusive_or);
  if (is_all(mask, 0xff)) return loaded.text + " ^ " + flipped;
  if (is_all(exclusive_or, 0)) return loaded.text + " & " + value_text(loaded.type, mask);
  // Bits that are cleared and then flipped are set: nft says so.
  if (is_complement(mask, exclusive_or)) return loaded.text + " | " + flipped;
  if (!share_bits(mask, exclusive_or)) {
    const Bytes kept = either(mask, exclusive_or);
    return loaded.text + " & " + value_text(loaded.type, kept) + " | " + flipped;
  }
  return loaded.text + " & " + value_text(loaded.type, mask) + " ^ " + flipped;
}

std::string compare_text(const Loaded& loaded, const Compare& compare, IpFamily family) {
  const bool equal = compare.op == Compare::Op::Equal;
  const std::string relation = equal ? " " : " != ";
  const bool masked = loaded.bitwise && is_all(loaded.bitwise->exclusive_or, 0);
  if (loaded.type == ValueType::Address) {
    const std::size_t whole = family == IpFamily::Ipv4 ? 4 : 16;
    const auto length = masked ? prefix_length(loaded.bitwise->mask)
                               : std::optional<std::size_t>(compare.value.size() * 8);
    if (length && compare.value.size() <= whole && (masked || !loaded.bitwise)) {
      // nft loads no more of an address than a prefix of whole bytes needs.
      std::array<std::uint8_t, 16> address{};
      std::ranges::copy(compare.value.span(), address.begin());
      const std::string text = address_text(Bytes(ByteSpan(address).first(whole)));
      const std::string suffix = *length == whole * 8 ? "" : "/" + std::to_string(*length);
      return loaded.text + relation + text + suffix;
    }
  }
  const bool flags = loaded.type == ValueType::CtState || loaded.type == ValueType::CtStatus;
  if (flags && masked && !equal && is_all(compare.value, 0)) {
    return loaded.text + " " + value_text(loaded.type, loaded.bitwise->mask);
  }
  const std::string value = value_text(loaded.type, compare.value);
  if (loaded.bitwise) return computed_text(loaded) + (equal ? " == " : " != ") + value;
  return loaded.text + relation + value;
}

Loaded payload_text(const PayloadLoad& load, IpFamily family) {
  const bool ipv4 = family == IpFamily::Ipv4;
  const std::string ip = family_text(family);
  const std::uint32_t source = ipv4 ? 12 : 8;
  const std::uint32_t destination = ipv4 ? 16 : 24;
  const std::uint32_t size = ipv4 ? 4 : 16;
  const std::size_t units = (load.length + 3) / 4;
  if (load.base == PayloadLoad::Base::Network && load.length <= size) {
    if (load.offset == source) return {ip + " saddr", units, ValueType::Address};
    if (load.offset == destination) return {ip + " daddr", units, ValueType::Address};
  }
  if (load.base == PayloadLoad::Base::Transport && load.length == 2) {
    if (load.offset == 0) return {"th sport", units, ValueType::Port};
    if (load.offset == 2) return {"th dport", units, ValueType::Port};
  }
  const char* const base = load.base == PayloadLoad::Base::Network ? "nh" : "th";
  return {fmt::format("@{},{},{}", base, load.offset * 8, load.length * 8), units, ValueType::Raw};
}

Loaded meta_text(MetaKey key) {
  switch (key) {
    case MetaKey::L4Proto:
      return {"meta l4proto", 1, ValueType::Protocol};
    case MetaKey::Mark:
      return {"meta mark", 1, ValueType::Mark};
    case MetaKey::IifName:
      return {"iifname", 4, ValueType::Name};
  }
  return {};
}

// Follows what a rule's expressions put into registers, and writes a statement for each that does
// something with them.
class Writer {
 public:
  explicit Writer(IpFamily family) : family_(family) {}

  void operator()(const PayloadLoad& load) { set(load.to, payload_text(load, family_)); }
  void operator()(const MetaLoad& load) { set(load.to, meta_text(load.key)); }
  void operator()(const MetaSet& meta) {
    say(meta_text(meta.key).text + " set " + computed_text(take(meta.from)));
  }
  void operator()(const CtLoad& load) {
    const bool state = load.key == CtKey::State;
    set(load.to,
        {state ? "ct state" : "ct status", 1, state ? ValueType::CtState : ValueType::CtStatus});
  }
  void operator()(const FibLoad& load) {
    const bool source = load.address == FibLoad::Address::Source;
    set(load.to, {source ? "fib saddr type" : "fib daddr type", 1, ValueType::FibType});
  }
  void operator()(const Bitwise& bitwise) {
    Loaded loaded = take(bitwise.from);
    if (loaded.bitwise) loaded.text = computed_text(loaded);
    loaded.bitwise = bitwise;
    set(bitwise.to, std::move(loaded));
  }
  void operator()(const Compare& compare) {
    say(compare_text(take(compare.from), compare, family_));
  }
  void operator()(const Numgen& numgen) {
    set(numgen.to, {fmt::format("numgen random mod {}", numgen.modulus), 1, ValueType::Number});
  }
  void operator()(const Lookup& lookup) {
    const std::string key = take_concatenation(lookup.from);
    switch (lookup.use) {
      case Lookup::Use::Match:
        return say(key + " @" + lookup.set);
      case Lookup::Use::Verdict:
        return say(key + " vmap @" + lookup.set);
      case Lookup::Use::Data:
        return set(lookup.to, {key + " map @" + lookup.set, 1, ValueType::Raw});
    }
  }
  void operator()(const ImmediateVerdict& immediate) { say(to_text(immediate.verdict)); }
  void operator()(const ImmediateData& immediate) {
    const std::size_t units = (immediate.value.size() + 3) / 4;
    set(immediate.to, {hexadecimal(immediate.value.span()), units, ValueType::Raw, std::nullopt,
                       immediate.value});
  }
  void operator()(const SetUpdate& update) {
    std::string key = take_concatenation(update.key);
    if (update.timeout != 0) key += " timeout " + duration_text(update.timeout);
    say(fmt::format("update @{} {{ {} }}", update.set, key));
  }
  void operator()(const Dnat& dnat) {
    const Loaded address = take(dnat.address);
    if (address.constant) {
      const Loaded port = take(dnat.port);
      return say("dnat to " + endpoint_text(*address.constant, port.constant.value_or(Bytes{})));
    }
    // The map gives address and port at once, so the one expression names both.
    say(fmt::format("dnat {} to {}", family_text(dnat.family), computed_text(address)));
  }
  void operator()(const Masquerade& masquerade) {
    say(masquerade.fully_random ? "masquerade fully-random" : "masquerade");
  }
  void operator()(const Reject&) { say("reject"); }
  void operator()(const UnknownExpression& unknown) {
    say(fmt::format("[{} {}]", unknown.name, hexadecimal(unknown.attributes)));
  }

  std::string text() && { return std::move(text_); }

 private:
  void say(const std::string& statement) { text_ += (text_.empty() ? "" : " ") + statement; }
  void set(Register at, Loaded loaded) {
    if (at < registers_.size()) registers_[at] = std::move(loaded);
  }
  Loaded take(Register from) {
    Loaded nothing{"[nothing]", 1, ValueType::Raw};
    if (from >= registers_.size()) return nothing;
    return std::exchange(registers_[from], std::nullopt).value_or(std::move(nothing));
  }
  // What lies in neighbouring registers is one key.
  std::string take_concatenation(Register from) {
    std::string text;
    std::size_t at = from;
    do {
      const Loaded loaded = take(static_cast<Register>(at));
      text += (text.empty() ? "" : " . ") + computed_text(loaded);
      at += std::max<std::size_t>(loaded.units, 1);
    } while (at < registers_.size() && registers_[at]);
    return text;
  }

  IpFamily family_;
  std::array<std::optional<Loaded>, 16> registers_;
  std::string text_;
};

}  // namespace

std::string to_text(const Rule& rule, IpFamily family) {
  Writer writer(family);
  for (const Expression& expression : rule.expressions) std::visit(writer, expression);
  return std::move(writer).text();
}

}  // namespace mkp::nft
