#pragma once

#include <filesystem>

#include "runner/ip_address.h"

namespace mkp {

// Whether this network namespace speaks that family at all. IPv6 is off without its kernel module,
// and where the administrator has disabled it on all interfaces. `proc` is where procfs is mounted.
bool family_enabled(IpFamily family, const std::filesystem::path& proc = "/proc");

}  // namespace mkp
