#include "informer/crash.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace mkp {

void crash(std::string_view why) {
  // Not through the logger: it may hold the line back, and this is the last one.
  fmt::print(stderr, "fatal: {}\n", why);
  std::abort();
}

}  // namespace mkp
