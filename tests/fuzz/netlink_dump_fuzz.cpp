#include <cstddef>
#include <cstdint>
#include <optional>

#include "netlink/messages.h"
#include "netlink/nft_text.h"
#include "netlink/ruleset_dump.h"

// Whatever a datagram says of nf_tables: the parsers and the printer must take it, or refuse it,
// without reading outside of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mkp;
  const ByteSpan bytes(data, size);
  for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
    nft::RulesetDump dump(family, "sample");
    MessageReader messages(bytes);
    while (const std::optional<NetlinkMessage> message = messages.next()) {
      (void)parse_error(*message);
      (void)nft::parse_generation(*message);
      if (!dump.take(*message)) break;
    }
    (void)nft::to_text(std::move(dump).finish(1));
  }
  return 0;
}
