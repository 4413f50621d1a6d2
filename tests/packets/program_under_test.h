#pragma once

#include <stdlib.h>

#include <string>

namespace mkp::packets {

// The built program, or the one that the environment names in MKP_PROXY.
inline std::string program_under_test() {
  const char* other = ::getenv("MKP_PROXY");
  return other == nullptr ? MKP_PROXY_PROGRAM : other;
}

}  // namespace mkp::packets
