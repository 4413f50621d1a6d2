#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "netlink/attributes.h"

namespace mkp {

// One netlink message out of a datagram.
struct NetlinkMessage {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t port = 0;  // whom it answers
  ByteSpan payload;        // behind struct nlmsghdr
};

// Takes a datagram apart; never reads outside of it. Ends at the first message that is cut short.
class MessageReader {
 public:
  explicit MessageReader(ByteSpan datagram) : rest_(datagram) {}
  std::optional<NetlinkMessage> next();
  // Whether next() has met bytes that are no message.
  bool malformed() const { return malformed_; }

 private:
  ByteSpan rest_;
  bool malformed_ = false;
};

// What NLMSG_ERROR says.
struct NetlinkError {
  std::uint32_t sequence = 0;  // of the message that it is about
  int err = 0;                 // positive errno; 0 is an acknowledgement
  // Where in that message the offending attribute begins, in bytes from its struct nlmsghdr; newer
  // kernels say so for some failures.
  std::optional<std::uint32_t> attribute_offset;
};

// Nothing when the message is too short for one.
std::optional<NetlinkError> parse_error(const NetlinkMessage& message);

// What a request to nfnetlink begins with: struct nlmsghdr and struct nfgenmsg.
struct NetfilterHeader {
  std::uint16_t type = 0;   // the subsystem in the high byte, the message in the low one
  std::uint16_t flags = 0;  // beside NLM_F_REQUEST
  std::uint32_t sequence = 0;
  std::uint8_t family = 0;  // 0: none in particular
  std::uint16_t resource = 0;
};
constexpr std::size_t kNetfilterHeader = 20;  // bytes

// Opens a request at the end of `out`; attributes are to be appended. Returns where it begins.
std::size_t open_request(std::vector<std::uint8_t>& out, const NetfilterHeader& header);
// Sets the length of the request that begins there and goes to the end of `out`.
void close_request(std::vector<std::uint8_t>& out, std::size_t begin);

}  // namespace mkp
