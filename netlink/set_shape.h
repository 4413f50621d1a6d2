#pragma once

#include <cstdint>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/ruleset.h"

namespace mkp::nft {

// What the kernel and the nft program are told of a set: sizes for the kernel, types and userdata
// for nft, which the kernel only keeps.
struct SetShape {
  std::uint32_t flags = 0;  // NFT_SET_*
  // nft's numbers of data types, six bits a field, the first one highest.
  std::uint32_t key_type = 0;
  std::uint32_t key_size = 0;   // bytes
  std::uint32_t data_type = 0;  // of a map; NFT_DATA_VERDICT in a verdict map
  std::uint32_t data_size = 0;  // of a DataMap
  // nft's notes to itself: byte orders, and the expressions of `typeof`. Without the latter nft
  // lists a Slot as an integer, and cannot load what it has listed.
  std::vector<std::uint8_t> userdata;
  std::uint32_t size = 0;  // the most elements; 0 for any number
  // Bytes of each field of the key, without padding: the kernel must know where intervals begin.
  std::vector<std::uint8_t> field_sizes;
  bool operator==(const SetShape&) const = default;
};

// Whether there is such a set: not a foreign one, no map of intervals, no interval of a single
// field.
bool can_declare(const Set& set);

// How nft 1.0.6 declares such a set; it must be one that can be declared.
SetShape shape_of(const Set& set);

// The set that has this shape. One that we never declare comes back with `foreign` set and with
// those fields that could be told.
Set set_of_shape(std::string name, const SetShape& shape);

// What the kernel says of a set, NFT_MSG_NEWSET's attributes. What they leave out, or say in a
// malformed way, stays 0.
SetShape parse_shape(ByteSpan attributes);

// Bytes of a key or of a datum with these fields: each padded to four when there are several.
std::size_t size_of(const std::vector<Field>& fields);

}  // namespace mkp::nft
