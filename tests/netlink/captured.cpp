#include "tests/netlink/captured.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace mkp::nft {

std::vector<std::uint8_t> captured(const std::string& name) {
  std::ifstream file(std::string(MKP_CORPUS) + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no captured bytes " + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result<Ruleset> parse_dump(IpFamily family, std::string_view table, ByteSpan bytes) {
  RulesetDump dump(family, table);
  MessageReader messages(bytes);
  while (const std::optional<NetlinkMessage> message = messages.next()) {
    const Result<> taken = dump.take(*message);
    if (!taken) return fail(taken.error(), "dump");
  }
  if (messages.malformed()) return fail(Errc::Invalid, "a message is cut short");
  return std::move(dump).finish(7);
}

}  // namespace mkp::nft
