#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/result.h"

namespace mkp::packets {

// Runs a program, found through PATH, in the calling thread's namespaces and waits until it ends,
// for 20 seconds at most. Yields what it wrote to stdout and stderr. A failure carries that too,
// and is Errc::Invalid when the program ended with another status than 0.
Result<std::string> run_program(const std::vector<std::string>& command,
                                std::string_view input = "");

}  // namespace mkp::packets
