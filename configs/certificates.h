#pragma once

#include <string_view>

#include "runner/result.h"

namespace mkp {

// Whether a client can show these: PEM of a certificate, perhaps followed by those that vouch for
// it, and of its private key, which no passphrase may protect.
Result<> check_key_pair(std::string_view certificate, std::string_view key);

// Whether these are certificates in PEM to go by: one at least. What is in other blocks, or around
// them, is passed over.
Result<> check_roots(std::string_view certificates);

}  // namespace mkp
