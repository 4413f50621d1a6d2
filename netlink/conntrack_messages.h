#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "netlink/attributes.h"
#include "netlink/conntrack.h"
#include "netlink/messages.h"

namespace mkp {

// Whether the kernel is asked to leave out what is not UDP (CTA_FILTER, Linux 5.8). Kernels that do
// not know of it show every protocol all the same.
enum class ConntrackFilter : std::uint8_t { None, Udp };

// A request for every flow of one family.
std::vector<std::uint8_t> list_flows_message(IpFamily family, ConntrackFilter filter,
                                             std::uint32_t sequence);

// Appends the request to forget this very entry: the kernel compares source, destination and id,
// and says ENOENT when it has no such entry.
void append_forget_message(std::vector<std::uint8_t>& out, const UdpFlow& flow,
                           std::uint32_t sequence);

// The flow that an answer to list_flows_message() describes. Nothing when it is none of UDP in zone
// 0, or cannot be read; also when it has an IPv4-mapped address in an IPv6 header, which is no
// frontend's.
std::optional<UdpFlow> parse_udp_flow(const NetlinkMessage& message);

// What an NLMSG_DONE or NLMSG_ERROR begins with: 0, or a positive errno.
int ending_errno(const NetlinkMessage& message);

// The answers to one list_flows_message(), datagram by datagram.
class FlowListing {
 public:
  // `visit` is borrowed.
  explicit FlowListing(const Conntrack::Visit& visit) : visit_(visit) {}

  // Shows the flows of the next datagram. Returns the errno with which the list has ended; 0 when
  // it is complete, EINTR when it changed meanwhile, EBADMSG when it cannot be read; nothing when
  // there is more to come.
  std::optional<int> take(ByteSpan datagram);

 private:
  std::optional<int> take(const NetlinkMessage& message);

  const Conntrack::Visit& visit_;
  bool interrupted_ = false;
};

}  // namespace mkp
