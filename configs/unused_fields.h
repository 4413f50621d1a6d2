#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"

namespace mkp {

// Whether the program goes by the field of this path ("conntrack.min").
bool is_used_field(std::string_view path);

// The paths of fields that are set to something else than their default although
// nothing uses them yet. To be named once at start, so that nobody relies on them. A field of the
// iptables mode that says what its twin of the nftables mode says is not among them.
std::vector<std::string> unused_fields(const Config& config);

}  // namespace mkp
