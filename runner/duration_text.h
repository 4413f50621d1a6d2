#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runner/clock.h"

namespace mkp {

// Reads a duration in Go's syntax, as Kubernetes writes them: decimal numbers with units ns, us
// (also with a micro sign), ms, s, m or h, one after the other: "10ms", "1m30s", "-1.5h", "0".
// Nothing when it is something else or does not fit into 63 bits of nanoseconds. What is finer than
// a nanosecond is cut off.
std::optional<Duration> parse_duration(std::string_view text);

// As Go prints it: "10ms", "1m30s", "0s".
std::string to_text(Duration duration);

}  // namespace mkp
