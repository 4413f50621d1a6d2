#include "netlink/set_shape.h"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace mkp::nft {
namespace {

// nft's numbers of its data types (its enum datatypes), and how a concatenation packs them.
constexpr std::uint32_t kTypeInteger = 4;
constexpr std::uint32_t kTypeIpv4Address = 7;
constexpr std::uint32_t kTypeIpv6Address = 8;
constexpr std::uint32_t kTypeInetProto = 12;
constexpr std::uint32_t kTypeInetService = 13;
constexpr std::uint32_t kTypeBits = 6;
constexpr std::uint32_t kTypeMask = (1U << kTypeBits) - 1;

// Entries of the userdata: one byte type, one byte length, the payload (libnftnl's udata).
constexpr std::uint8_t kKeyByteOrder = 0;
constexpr std::uint8_t kDataByteOrder = 1;
constexpr std::uint8_t kKeyTypeof = 3;
constexpr std::uint8_t kDataTypeof = 4;
constexpr std::uint8_t kDataInterval = 6;
// Within an expression of `typeof`: what it is, and its own attributes.
constexpr std::uint8_t kTypeofExpression = 0;
constexpr std::uint8_t kTypeofAttributes = 1;
constexpr std::uint32_t kConcatenation = 13;
constexpr std::uint32_t kVerdict = 1;

using Userdata = std::vector<std::uint8_t>;

void put(Userdata& out, std::uint8_t type, std::span<const std::uint8_t> payload) {
  out.push_back(type);
  out.push_back(static_cast<std::uint8_t>(payload.size()));
  out.insert(out.end(), payload.begin(), payload.end());
}

// nft writes its numbers in host byte order.
void put_u32(Userdata& out, std::uint8_t type, std::uint32_t value) {
  std::array<std::uint8_t, 4> bytes{};
  store_host(bytes.data(), value);
  put(out, type, bytes);
}

std::uint32_t type_of(Field field) {
  switch (field) {
    case Field::Ipv4Address:
      return kTypeIpv4Address;
    case Field::Ipv6Address:
      return kTypeIpv6Address;
    case Field::InetProto:
      return kTypeInetProto;
    case Field::InetService:
      return kTypeInetService;
    case Field::Slot:
      return kTypeInteger;
  }
  return 0;
}

std::optional<Field> field_of(std::uint32_t type) {
  switch (type) {
    case kTypeIpv4Address:
      return Field::Ipv4Address;
    case kTypeIpv6Address:
      return Field::Ipv6Address;
    case kTypeInetProto:
      return Field::InetProto;
    case kTypeInetService:
      return Field::InetService;
    case kTypeInteger:
      return Field::Slot;
    default:
      return std::nullopt;
  }
}

std::uint32_t type_of(const std::vector<Field>& fields) {
  std::uint32_t type = 0;
  for (const Field field : fields) type = (type << kTypeBits) | type_of(field);
  return type;
}

// Nothing when a field is of a type that we have no word for.
std::optional<std::vector<Field>> fields_of(std::uint32_t type) {
  std::vector<Field> fields;
  for (; type != 0; type >>= kTypeBits) {
    const std::optional<Field> field = field_of(type & kTypeMask);
    if (!field) return std::nullopt;
    fields.insert(fields.begin(), *field);
  }
  if (fields.empty()) return std::nullopt;
  return fields;
}

// The byte order of a key or datum: 0 where it has none, as a whole concatenation, 1 the host's, 2
// the network's.
std::uint32_t byte_order_of(const std::vector<Field>& fields) {
  if (fields.size() != 1 || fields[0] == Field::InetProto) return 0;
  return fields[0] == Field::Slot ? 1 : 2;
}

Userdata expression(std::uint32_t kind, std::initializer_list<std::uint32_t> attributes) {
  Userdata inner;
  std::uint8_t type = 0;
  for (const std::uint32_t attribute : attributes) put_u32(inner, type++, attribute);
  Userdata out;
  put_u32(out, kTypeofExpression, kind);
  put(out, kTypeofAttributes, inner);
  return out;
}

// The expression that nft 1.0.6 notes for a field declared with `typeof`; captured from it, see
// tests/kernel/typeof_userdata_test.cpp.
Userdata typeof_expression(Field field) {
  constexpr std::uint32_t kPayload = 7;
  constexpr std::uint32_t kMeta = 9;
  constexpr std::uint32_t kNumgen = 23;
  switch (field) {
    case Field::Ipv4Address:
      return expression(kPayload, {12, 12});  // ip daddr
    case Field::Ipv6Address:
      return expression(kPayload, {13, 9});  // ip6 daddr
    case Field::InetProto:
      return expression(kMeta, {16});  // meta l4proto
    case Field::InetService:
      return expression(kPayload, {11, 2});  // th dport
    case Field::Slot:
      return expression(kNumgen, {1, 65536, 0});  // numgen random mod 65536
  }
  return {};
}

Userdata typeof_expression(const std::vector<Field>& fields) {
  if (fields.size() == 1) return typeof_expression(fields[0]);
  Userdata inner;
  std::uint8_t index = 0;
  for (const Field field : fields) put(inner, index++, typeof_expression(field));
  Userdata out;
  put_u32(out, kTypeofExpression, kConcatenation);
  put(out, kTypeofAttributes, inner);
  return out;
}

bool has_slot(const Set& set) { return std::ranges::find(set.key, Field::Slot) != set.key.end(); }

// For a concatenation of `type`s nft notes a concatenation of nothing.
void put_typeof(Userdata& out, std::uint8_t type, const std::vector<Field>& fields,
                bool by_typeof) {
  if (by_typeof) {
    put(out, type, typeof_expression(fields));
  } else if (fields.size() > 1) {
    put(out, type, expression(kConcatenation, {}));
  }
}

Userdata userdata_of(const Set& set) {
  Userdata out;
  put_u32(out, kKeyByteOrder, byte_order_of(set.key));
  if (set.kind != Set::Kind::Set) put_u32(out, kDataByteOrder, byte_order_of(set.data));
  put_typeof(out, kKeyTypeof, set.key, has_slot(set));
  if (set.kind == Set::Kind::DataMap) put_typeof(out, kDataTypeof, set.data, has_slot(set));
  if (set.kind == Set::Kind::VerdictMap && has_slot(set)) {
    put(out, kDataTypeof, expression(kVerdict, {}));
  }
  if (set.kind != Set::Kind::Set) put_u32(out, kDataInterval, 0);
  return out;
}

std::uint32_t flags_of(const Set& set) {
  std::uint32_t flags = set.kind == Set::Kind::Set ? 0U : static_cast<std::uint32_t>(NFT_SET_MAP);
  if (set.content == Set::Content::Intervals) flags |= NFT_SET_INTERVAL | NFT_SET_CONCAT;
  if (set.content == Set::Content::Remembered) flags |= NFT_SET_EVAL | NFT_SET_TIMEOUT;
  return flags;
}

Set::Content content_of(std::uint32_t flags) {
  const auto has = [&](std::uint32_t wanted) { return (flags & wanted) == wanted; };
  if (has(NFT_SET_INTERVAL | NFT_SET_CONCAT)) return Set::Content::Intervals;
  return has(NFT_SET_EVAL | NFT_SET_TIMEOUT) ? Set::Content::Remembered : Set::Content::Keys;
}

// NFTA_SET_DESC_CONCAT's payload.
std::vector<std::uint8_t> parse_field_sizes(ByteSpan list) {
  std::vector<std::uint8_t> sizes;
  AttributeReader reader(list);
  while (const Attribute* entry = reader.next()) {
    const auto field = AttributeTable<NFTA_SET_FIELD_MAX + 1>::read(entry->payload);
    const std::uint32_t size =
        field ? read_be32(field->payload(NFTA_SET_FIELD_LEN)).value_or(0) : 0;
    sizes.push_back(size <= Bytes::kMaxSize ? static_cast<std::uint8_t>(size) : std::uint8_t{0});
  }
  return sizes;
}

bool has_entry(std::span<const std::uint8_t> userdata, std::uint8_t type) {
  while (userdata.size() >= 2) {
    if (userdata[0] == type) return true;
    userdata = userdata.subspan(std::min<std::size_t>(userdata.size(), 2U + userdata[1]));
  }
  return false;
}

}  // namespace

std::size_t size_of(const std::vector<Field>& fields) {
  if (fields.size() == 1) return size_of(fields[0]);
  std::size_t size = 0;
  for (const Field field : fields) size += (size_of(field) + 3) / 4 * 4;
  return size;
}

bool can_declare(const Set& set) {
  if (set.foreign || (set.kind != Set::Kind::Set && set.content != Set::Content::Keys)) {
    return false;
  }
  return set.content != Set::Content::Intervals || set.key.size() > 1;
}

SetShape shape_of(const Set& set) {
  SetShape shape;
  shape.flags = flags_of(set);
  shape.key_type = type_of(set.key);
  shape.key_size = static_cast<std::uint32_t>(size_of(set.key));
  if (set.kind == Set::Kind::VerdictMap) shape.data_type = NFT_DATA_VERDICT;
  if (set.kind == Set::Kind::DataMap) {
    shape.data_type = type_of(set.data);
    shape.data_size = static_cast<std::uint32_t>(size_of(set.data));
  }
  shape.userdata = userdata_of(set);
  // Remembered: the size is left to the kernel. It makes room at once for as many keys as it is
  // told, a megabyte for kMaxRemembered, and 5 ms of work; told nothing, it begins small, and takes
  // that very limit when a rule first updates the set.
  if (set.content == Set::Content::Intervals) {
    for (const Field field : set.key) {
      shape.field_sizes.push_back(static_cast<std::uint8_t>(size_of(field)));
    }
  }
  return shape;
}

Set set_of_shape(std::string name, const SetShape& shape) {
  Set set;
  set.name = std::move(name);
  set.content = content_of(shape.flags);
  if ((shape.flags & NFT_SET_MAP) != 0) {
    set.kind = shape.data_type == NFT_DATA_VERDICT ? Set::Kind::VerdictMap : Set::Kind::DataMap;
  }
  const auto key = fields_of(shape.key_type);
  const auto data =
      set.kind == Set::Kind::DataMap ? fields_of(shape.data_type) : std::vector<Field>{};
  set.key = key.value_or(std::vector<Field>{});
  set.data = data.value_or(std::vector<Field>{});

  SetShape ours = shape_of(set);
  // Other releases of nft note more or less of it than 1.0.6. What counts is that a Slot can be
  // listed.
  const bool listable = !has_slot(set) || has_entry(shape.userdata, kKeyTypeof);
  ours.userdata = shape.userdata;
  // The kernel's own matter.
  if (set.kind == Set::Kind::VerdictMap) ours.data_size = shape.data_size;
  if (set.content != Set::Content::Intervals) ours.field_sizes = shape.field_sizes;
  const bool limited = shape.size == Set::kMaxRemembered;  // by the kernel, or by nft
  if (set.content == Set::Content::Remembered && limited) ours.size = shape.size;
  set.foreign = !key || !data || !listable || !can_declare(set) || ours != shape;
  return set;
}

SetShape parse_shape(ByteSpan attributes) {
  SetShape shape;
  const auto set = AttributeTable<NFTA_SET_MAX + 1>::read(attributes);
  if (!set) return shape;
  const auto number = [&](std::size_t type) { return read_be32(set->payload(type)).value_or(0); };
  shape.flags = number(NFTA_SET_FLAGS);
  shape.key_type = number(NFTA_SET_KEY_TYPE);
  shape.key_size = number(NFTA_SET_KEY_LEN);
  shape.data_type = number(NFTA_SET_DATA_TYPE);
  shape.data_size = number(NFTA_SET_DATA_LEN);
  const ByteSpan userdata = set->payload(NFTA_SET_USERDATA);
  shape.userdata.assign(userdata.begin(), userdata.end());
  using Description = AttributeTable<NFTA_SET_DESC_MAX + 1>;
  if (const auto description = Description::read(set->payload(NFTA_SET_DESC))) {
    shape.size = read_be32(description->payload(NFTA_SET_DESC_SIZE)).value_or(0);
    shape.field_sizes = parse_field_sizes(description->payload(NFTA_SET_DESC_CONCAT));
  }
  return shape;
}

}  // namespace mkp::nft
