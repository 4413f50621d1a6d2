// An API server's answers in JSON: lists, streams of events, refusals.

#include "tests/fuzz/decode_fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return mkp::decode_fuzz_input(mkp::json_format(), data, size);
}
