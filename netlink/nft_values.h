#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/ruleset.h"

namespace mkp::nft {

// Values as nft writes them.

// "10.96.0.10", "tcp", "80", "3": by what the field holds. Bytes of another size come out in
// hexadecimal.
std::string value_text(Field field, ByteSpan bytes);

// "10.96.0.10 . tcp . 80": the fields of a key or of a datum. In hexadecimal when it is no such
// concatenation.
std::string value_text(const std::vector<Field>& fields, const Bytes& bytes);

// "10.96.0.10 . tcp . 80 . 192.0.2.0/25": an interval of such keys. A field that is the same at
// both ends stands there once, addresses are a prefix where they can, anything else is "80-90".
std::string interval_text(const std::vector<Field>& fields, const Bytes& first, const Bytes& last);

// "3h", "1m30s": seconds.
std::string duration_text(std::uint32_t seconds);

// "0x0a60000a".
std::string hexadecimal(ByteSpan bytes);

// "tcp", or its number.
std::string protocol_text(std::uint8_t protocol);

// "goto cluster-4", "accept".
std::string to_text(const Verdict& verdict);

}  // namespace mkp::nft
