#pragma once

#include <optional>

#include "netlink/attributes.h"
#include "netlink/ruleset.h"
#include "runner/result.h"

namespace mkp::nft {

enum class ElementParts { All, KeyOnly };  // of an interval, both ends are its key

// Appends one NFTA_LIST_ELEM. Comment and names must have been checked for their lengths.
void put_element(AttributeWriter& out, const Element& element, ElementParts parts);

// NFTA_LIST_ELEM's payload. Nothing for an element that ruleset.h has no words for: one with flags
// (the end of an interval, a catch-all), a timeout, a counter, an object, or another verdict.
// Invalid when the bytes are no element at all.
Result<std::optional<Element>> parse_element(ByteSpan attributes);

}  // namespace mkp::nft
