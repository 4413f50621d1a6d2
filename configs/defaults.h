#pragma once

#include <string_view>

#include "configs/config.h"

namespace mkp {

// The defaults of all fields, given what is written for the two that others follow: servers listen
// in the family of bindAddress, and in modes before nftables node ports are on all addresses. A
// text that is empty or wrong counts as not written.
Config defaults_for(std::string_view mode, std::string_view bind_address);

}  // namespace mkp
