#pragma once

#include <string>

namespace mkp {

// A certificate that nobody but itself vouches for, and its key, in PEM: another one each time.
struct PemPair {
  std::string certificate;
  std::string key;
};

PemPair make_pem_pair(const std::string& common_name);

}  // namespace mkp
