#pragma once

#include <optional>
#include <vector>

#include "proxy/types.h"

namespace mkp {

// What one sync changed for UDP flows in one IP family, once the kernel has acknowledged it. What
// crosses from the sync thread to the loop thread.
struct UdpChanges {
  struct Change {
    Frontend frontend;
    // Where flows to it may have been led until now: those may be forgotten when it is no frontend
    // any more. Sorted and unique.
    std::vector<Endpoint> before;
    // The endpoints that go on with flows which they have: all that serve or are ready, whatever
    // policies and hints say of new flows. Empty: it refuses. Nothing: it is no frontend any more.
    // Sorted and unique.
    std::optional<std::vector<Endpoint>> after;
  };
  IpFamily family = IpFamily::Ipv4;
  std::vector<Change> frontends;
  // The addresses of this node that answer on node ports, sorted; nothing: unchanged.
  std::optional<std::vector<IpAddress>> node_port_ips;
  // After a resync: `frontends` names every frontend that there is, so that any other that was told
  // of before is none any more; and who knows where the rules have led flows meanwhile.
  bool complete = false;

  bool empty() const { return frontends.empty() && !node_port_ips && !complete; }
};

}  // namespace mkp
