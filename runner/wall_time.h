#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace mkp {

// The time of day in UTC: for what others read, never to measure or to wait by (see Clock).
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

WallTime wall_now();

// RFC 3339, as Go writes it: "2026-01-31T12:00:00.25Z", up to nanoseconds and without trailing
// zeros.
std::string to_text(WallTime time);

// Reads RFC 3339 with an optional fraction, of which nanoseconds count. Nothing for anything else,
// and for years before 1678 or after 2261.
std::optional<WallTime> parse_wall_time(std::string_view text);

double unix_seconds(WallTime time);

}  // namespace mkp
