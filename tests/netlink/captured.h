#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netlink/ruleset_dump.h"
#include "runner/result.h"

// What kernel 6.18 listed of tables that nft 1.0.6 had made, as runs of netlink messages. They are
// the seeds of the fuzzer, too.
namespace mkp::nft {

// Of tests/fuzz/corpus.
std::vector<std::uint8_t> captured(const std::string& name);

// Everything that these bytes say about one table.
Result<Ruleset> parse_dump(IpFamily family, std::string_view table, ByteSpan bytes);

}  // namespace mkp::nft
