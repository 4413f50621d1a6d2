#pragma once

#include <cstdint>
#include <vector>

#include "proxy/rule_model.h"

namespace mkp {

// What shows in the rules of one family, whatever its Services.
struct NftSettings {
  IpFamily family = IpFamily::Ipv4;
  std::uint32_t masquerade_mark = 1U << 14;  // one bit; no other bit of a packet's mark is touched
  bool masquerade_all = false;
  // Pods keep their address on the way to a cluster IP, and reach every endpoint by a frontend of
  // policy Local. When they cannot be told, nobody is masqueraded on the way to a cluster IP.
  LocalPods local_pods;
  bool node_ports_anywhere = false;
  std::vector<IpPrefix> service_cidrs;

  bool operator==(const NftSettings&) const = default;
};

// The same settings on a node of which that is known.
inline NftSettings with_node(NftSettings settings, const NodeModel& node) {
  settings.local_pods = node.local_pods;
  settings.node_ports_anywhere = node.node_ports_anywhere;
  settings.service_cidrs = node.service_cidrs;
  return settings;
}

}  // namespace mkp
