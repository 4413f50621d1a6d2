#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>

#include <optional>
#include <string>

#include "netlink/expressions.h"
#include "netlink/verdicts.h"

namespace mkp::nft {
namespace {

// Registers of data; the verdict register is none of them.
std::optional<Register> read_register(ByteSpan payload) {
  const std::optional<std::uint32_t> number = read_be32(payload);
  if (!number) return std::nullopt;
  if (*number >= NFT_REG_1 && *number <= NFT_REG_4) {
    return static_cast<Register>((*number - NFT_REG_1) * 4);
  }
  if (*number >= NFT_REG32_00 && *number <= NFT_REG32_15) {
    return static_cast<Register>(*number - NFT_REG32_00);
  }
  return std::nullopt;
}

// NFTA_DATA_VALUE within `payload`.
std::optional<Bytes> read_value(ByteSpan payload) {
  const auto data = AttributeTable<NFTA_DATA_MAX + 1>::read(payload);
  if (!data || !data->has(NFTA_DATA_VALUE)) return std::nullopt;
  const ByteSpan value = data->payload(NFTA_DATA_VALUE);
  if (value.size() > Bytes::kMaxSize) return std::nullopt;
  return Bytes(value);
}

bool is_number(ByteSpan payload, std::uint32_t wanted) { return read_be32(payload) == wanted; }
// Left out, or the default that the kernel writes out.
template <std::size_t kTypes>
bool is_unset(const AttributeTable<kTypes>& attributes, std::size_t type) {
  return !attributes.has(type) || is_number(attributes.payload(type), 0);
}

std::optional<Expression> parse_payload(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_PAYLOAD_MAX + 1>::read(bytes);
  if (!attributes || attributes->has(NFTA_PAYLOAD_SREG)) return std::nullopt;
  const auto to = read_register(attributes->payload(NFTA_PAYLOAD_DREG));
  const auto base = read_be32(attributes->payload(NFTA_PAYLOAD_BASE));
  const auto offset = read_be32(attributes->payload(NFTA_PAYLOAD_OFFSET));
  const auto length = read_be32(attributes->payload(NFTA_PAYLOAD_LEN));
  if (!to || !base || !offset || !length) return std::nullopt;
  if (*base == NFT_PAYLOAD_NETWORK_HEADER) {
    return PayloadLoad{PayloadLoad::Base::Network, *offset, *length, *to};
  }
  if (*base == NFT_PAYLOAD_TRANSPORT_HEADER) {
    return PayloadLoad{PayloadLoad::Base::Transport, *offset, *length, *to};
  }
  return std::nullopt;
}

std::optional<MetaKey> read_meta_key(ByteSpan payload) {
  const auto key = read_be32(payload);
  if (key == NFT_META_L4PROTO) return MetaKey::L4Proto;
  if (key == NFT_META_MARK) return MetaKey::Mark;
  if (key == NFT_META_IIFNAME) return MetaKey::IifName;
  return std::nullopt;
}

std::optional<Expression> parse_meta(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_META_MAX + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  const auto key = read_meta_key(attributes->payload(NFTA_META_KEY));
  const auto to = read_register(attributes->payload(NFTA_META_DREG));
  const auto from = read_register(attributes->payload(NFTA_META_SREG));
  if (!key || to.has_value() == from.has_value()) return std::nullopt;
  if (to) return MetaLoad{*key, *to};
  return MetaSet{*key, *from};
}

std::optional<Expression> parse_ct(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_CT_MAX + 1>::read(bytes);
  if (!attributes || attributes->has(NFTA_CT_DIRECTION)) return std::nullopt;
  const auto to = read_register(attributes->payload(NFTA_CT_DREG));
  const auto key = read_be32(attributes->payload(NFTA_CT_KEY));
  if (!to) return std::nullopt;
  if (key == NFT_CT_STATE) return CtLoad{CtKey::State, *to};
  if (key == NFT_CT_STATUS) return CtLoad{CtKey::Status, *to};
  return std::nullopt;
}

std::optional<Expression> parse_fib(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_FIB_MAX + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  const auto to = read_register(attributes->payload(NFTA_FIB_DREG));
  const auto flags = read_be32(attributes->payload(NFTA_FIB_FLAGS));
  if (!to || !is_number(attributes->payload(NFTA_FIB_RESULT), NFT_FIB_RESULT_ADDRTYPE)) {
    return std::nullopt;
  }
  if (flags == NFTA_FIB_F_SADDR) return FibLoad{FibLoad::Address::Source, *to};
  if (flags == NFTA_FIB_F_DADDR) return FibLoad{FibLoad::Address::Destination, *to};
  return std::nullopt;
}

std::optional<Expression> parse_bitwise(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_BITWISE_DATA + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  const auto from = read_register(attributes->payload(NFTA_BITWISE_SREG));
  const auto to = read_register(attributes->payload(NFTA_BITWISE_DREG));
  const auto mask = read_value(attributes->payload(NFTA_BITWISE_MASK));
  const auto exclusive_or = read_value(attributes->payload(NFTA_BITWISE_XOR));
  if (!from || !to || !mask || !exclusive_or) return std::nullopt;
  // Kernels before 5.6 know no operation but this one.
  if (!is_unset(*attributes, NFTA_BITWISE_OP)) return std::nullopt;
  return Bitwise{*from, *to, *mask, *exclusive_or};
}

std::optional<Expression> parse_compare(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_CMP_MAX + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  const auto from = read_register(attributes->payload(NFTA_CMP_SREG));
  const auto op = read_be32(attributes->payload(NFTA_CMP_OP));
  const auto value = read_value(attributes->payload(NFTA_CMP_DATA));
  if (!from || !value) return std::nullopt;
  if (op == NFT_CMP_EQ) return Compare{Compare::Op::Equal, *from, *value};
  if (op == NFT_CMP_NEQ) return Compare{Compare::Op::NotEqual, *from, *value};
  return std::nullopt;
}

std::optional<Expression> parse_numgen(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_NG_MAX + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  const auto to = read_register(attributes->payload(NFTA_NG_DREG));
  const auto modulus = read_be32(attributes->payload(NFTA_NG_MODULUS));
  if (!to || !modulus || !is_number(attributes->payload(NFTA_NG_TYPE), NFT_NG_RANDOM) ||
      !is_unset(*attributes, NFTA_NG_OFFSET)) {
    return std::nullopt;
  }
  return Numgen{*modulus, *to};
}

std::optional<Expression> parse_lookup(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_LOOKUP_MAX + 1>::read(bytes);
  if (!attributes || !is_unset(*attributes, NFTA_LOOKUP_FLAGS)) return std::nullopt;
  const auto set = read_name(attributes->payload(NFTA_LOOKUP_SET));
  const auto from = read_register(attributes->payload(NFTA_LOOKUP_SREG));
  if (!set || !from) return std::nullopt;
  Lookup lookup{std::string(*set), *from};
  if (!attributes->has(NFTA_LOOKUP_DREG)) return lookup;
  if (is_number(attributes->payload(NFTA_LOOKUP_DREG), NFT_REG_VERDICT)) {
    lookup.use = Lookup::Use::Verdict;
    return lookup;
  }
  const auto to = read_register(attributes->payload(NFTA_LOOKUP_DREG));
  if (!to) return std::nullopt;
  lookup.use = Lookup::Use::Data;
  lookup.to = *to;
  return lookup;
}

std::optional<Expression> parse_immediate(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_IMMEDIATE_MAX + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  if (const auto to = read_register(attributes->payload(NFTA_IMMEDIATE_DREG))) {
    const auto value = read_value(attributes->payload(NFTA_IMMEDIATE_DATA));
    if (!value) return std::nullopt;
    return ImmediateData{*to, *value};
  }
  if (!is_number(attributes->payload(NFTA_IMMEDIATE_DREG), NFT_REG_VERDICT)) return std::nullopt;
  const auto data =
      AttributeTable<NFTA_DATA_MAX + 1>::read(attributes->payload(NFTA_IMMEDIATE_DATA));
  if (!data || !data->has(NFTA_DATA_VERDICT)) return std::nullopt;
  std::optional<Verdict> verdict = parse_verdict(data->payload(NFTA_DATA_VERDICT));
  if (!verdict) return std::nullopt;
  return ImmediateVerdict{std::move(*verdict)};
}

// Whole seconds from milliseconds.
std::optional<std::uint32_t> read_seconds(ByteSpan payload) {
  constexpr std::uint64_t kMilliseconds = 1000;
  if (payload.size() != 8) return std::nullopt;
  const std::uint64_t high = read_be32(payload.first(4)).value_or(0);
  const std::uint64_t time = (high << 32) | read_be32(payload.last(4)).value_or(0);
  const std::uint64_t seconds = time / kMilliseconds;
  if (time % kMilliseconds != 0 || seconds > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(seconds);
}

std::optional<Expression> parse_dynset(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_DYNSET_MAX + 1>::read(bytes);
  if (!attributes || !is_unset(*attributes, NFTA_DYNSET_FLAGS) ||
      !is_number(attributes->payload(NFTA_DYNSET_OP), NFT_DYNSET_OP_UPDATE)) {
    return std::nullopt;
  }
  for (const std::size_t unknown :
       {NFTA_DYNSET_SREG_DATA, NFTA_DYNSET_EXPR, NFTA_DYNSET_EXPRESSIONS}) {
    if (attributes->has(unknown)) return std::nullopt;
  }
  const auto set = read_name(attributes->payload(NFTA_DYNSET_SET_NAME));
  const auto key = read_register(attributes->payload(NFTA_DYNSET_SREG_KEY));
  const auto timeout = read_seconds(attributes->payload(NFTA_DYNSET_TIMEOUT));
  if (!set || !key || !timeout) return std::nullopt;
  return SetUpdate{std::string(*set), *key, *timeout};
}

std::optional<Expression> parse_nat(ByteSpan bytes) {
  constexpr std::uint32_t kImplied = NF_NAT_RANGE_MAP_IPS | NF_NAT_RANGE_PROTO_SPECIFIED;
  const auto attributes = AttributeTable<NFTA_NAT_MAX + 1>::read(bytes);
  if (!attributes) return std::nullopt;
  const auto family = read_be32(attributes->payload(NFTA_NAT_FAMILY));
  const auto address = read_register(attributes->payload(NFTA_NAT_REG_ADDR_MIN));
  const auto port = read_register(attributes->payload(NFTA_NAT_REG_PROTO_MIN));
  if (!address || !port || !is_number(attributes->payload(NFTA_NAT_TYPE), NFT_NAT_DNAT) ||
      !is_number(attributes->payload(NFTA_NAT_FLAGS), kImplied) ||
      read_register(attributes->payload(NFTA_NAT_REG_ADDR_MAX)) != address ||
      read_register(attributes->payload(NFTA_NAT_REG_PROTO_MAX)) != port) {
    return std::nullopt;
  }
  if (family == NFPROTO_IPV4) return Dnat{IpFamily::Ipv4, *address, *port};
  if (family == NFPROTO_IPV6) return Dnat{IpFamily::Ipv6, *address, *port};
  return std::nullopt;
}

std::optional<Expression> parse_masquerade(ByteSpan bytes) {
  const auto attributes = AttributeTable<NFTA_MASQ_MAX + 1>::read(bytes);
  if (!attributes || attributes->has(NFTA_MASQ_REG_PROTO_MIN)) return std::nullopt;
  if (is_unset(*attributes, NFTA_MASQ_FLAGS)) return Masquerade{false};
  if (is_number(attributes->payload(NFTA_MASQ_FLAGS), NF_NAT_RANGE_PROTO_RANDOM_FULLY)) {
    return Masquerade{true};
  }
  return std::nullopt;
}

std::optional<Expression> parse_reject(ByteSpan bytes, IpFamily family) {
  const auto attributes = AttributeTable<NFTA_REJECT_MAX + 1>::read(bytes);
  if (!attributes || !is_number(attributes->payload(NFTA_REJECT_TYPE), NFT_REJECT_ICMP_UNREACH) ||
      read_u8(attributes->payload(NFTA_REJECT_ICMP_CODE)) != port_unreachable_code(family)) {
    return std::nullopt;
  }
  return Reject{};
}

std::optional<Expression> parse_known(std::string_view name, ByteSpan attributes, IpFamily family) {
  if (name == "payload") return parse_payload(attributes);
  if (name == "meta") return parse_meta(attributes);
  if (name == "ct") return parse_ct(attributes);
  if (name == "fib") return parse_fib(attributes);
  if (name == "bitwise") return parse_bitwise(attributes);
  if (name == "cmp") return parse_compare(attributes);
  if (name == "numgen") return parse_numgen(attributes);
  if (name == "lookup") return parse_lookup(attributes);
  if (name == "immediate") return parse_immediate(attributes);
  if (name == "dynset") return parse_dynset(attributes);
  if (name == "nat") return parse_nat(attributes);
  if (name == "masq") return parse_masquerade(attributes);
  if (name == "reject") return parse_reject(attributes, family);
  return std::nullopt;
}

}  // namespace

Expression parse_expression(std::string_view name, ByteSpan attributes, IpFamily family) {
  if (std::optional<Expression> known = parse_known(name, attributes, family)) {
    return std::move(*known);
  }
  return UnknownExpression{std::string(name), {attributes.begin(), attributes.end()}};
}

bool does_nothing(std::string_view name, ByteSpan attributes) {
  if (name != "byteorder") return false;
  const auto table = AttributeTable<NFTA_BYTEORDER_MAX + 1>::read(attributes);
  if (!table) return false;
  const auto from = read_be32(table->payload(NFTA_BYTEORDER_SREG));
  const auto length = read_be32(table->payload(NFTA_BYTEORDER_LEN));
  const auto word = read_be32(table->payload(NFTA_BYTEORDER_SIZE));
  return from && length && word && from == read_be32(table->payload(NFTA_BYTEORDER_DREG)) &&
         *length < *word;
}

}  // namespace mkp::nft
