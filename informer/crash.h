#pragma once

#include <string_view>

namespace mkp {

// A bug was found that makes everything after it wrong: says what, and aborts.
[[noreturn]] void crash(std::string_view why);

}  // namespace mkp
