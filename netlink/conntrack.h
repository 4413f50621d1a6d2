#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runner/ip_address.h"
#include "runner/result.h"

namespace mkp {

namespace asio = boost::asio;

// One end of a connection. Port in host byte order.
struct FlowEnd {
  IpAddress ip;
  std::uint16_t port = 0;
  auto operator<=>(const FlowEnd&) const = default;
};

// A UDP flow as connection tracking remembers it. A flow that nothing translated has the same two
// ends in both directions.
struct UdpFlow {
  FlowEnd source;        // as the first packet came
  FlowEnd destination;   // what the client dialled
  FlowEnd reply_source;  // who answers: after destination NAT, the endpoint
  FlowEnd reply_destination;
  std::uint32_t id = 0;  // the kernel's name for this very entry (CTA_ID)
  auto operator<=>(const UdpFlow&) const = default;
};

// Connection tracking of one network namespace, zone 0: the seam towards the kernel. Belongs to the
// loop thread and never blocks it: between two portions other tasks get their turn. The kernel and
// FakeConntrack pass the same contract suite.
class Conntrack {
 public:
  virtual ~Conntrack() = default;

  using Visit = std::function<void(const UdpFlow&)>;
  // Shows every UDP flow of that family, one after the other; keeps none. A flow that comes or goes
  // meanwhile may be shown or not. When the kernel could not show them all (it tells so:
  // NLM_F_DUMP_INTR, or a receive buffer that overran) it is asked again, up to five times in all,
  // and then this is Expired; some flows have then been shown more than once.
  virtual asio::awaitable<Result<>> visit_udp(IpFamily family, Visit visit) = 0;

  // Forgets these very entries: one that is gone, or has been replaced by another with the same
  // ends, is passed over. (The kernel makes the id from the entry's ends and its place in memory: a
  // successor at that very place has the same id, and goes too.) Says how many were forgotten. When
  // the kernel refuses some, the others are forgotten nevertheless, and then this fails.
  virtual asio::awaitable<Result<std::size_t>> forget(std::vector<UdpFlow> flows) = 0;
};

}  // namespace mkp
