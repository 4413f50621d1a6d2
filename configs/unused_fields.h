#pragma once

#include <string>
#include <vector>

#include "configs/config.h"

namespace mkp {

// The paths ("conntrack.min") of fields that are set to something else than their default although
// nothing uses them yet. To be named once at start, so that nobody relies on them.
std::vector<std::string> unused_fields(const Config& config);

}  // namespace mkp
