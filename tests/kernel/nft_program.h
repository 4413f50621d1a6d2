#pragma once

#include <string>

// The nft program, nft 1.0.6 or later: the reader of our text, and of our rules.
namespace mkp::nft {

struct NftOutcome {
  int status = 0;      // 0 when it succeeded
  std::string output;  // of both streams
};

// `nft ARGUMENTS`, with that on its standard input.
NftOutcome run_nft(const std::string& arguments, const std::string& input = "");

// A new network namespace for this process, and for what it starts from now on.
void enter_new_network_namespace();

}  // namespace mkp::nft
