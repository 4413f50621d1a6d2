#pragma once

#include <map>
#include <string>
#include <vector>

#include "proxy/types.h"

namespace mkp {

// What this node forwards for one Service port in one IP family. A value in normal form: lists are
// sorted and unique, so that equal means the same rules. No chain, handle or socket in here.
struct ServicePort {
  // The addresses that clients of the cluster dial. Empty when an older Service owns them all.
  std::vector<Frontend> cluster_frontends;
  // Where new connections go. Empty: they are rejected.
  std::vector<Endpoint> cluster_endpoints;
  // Endpoint addresses that may turn out to be the client itself: a connection to such an address
  // from itself must be masqueraded, or the answer would never pass this node.
  std::vector<IpAddress> hairpin;

  bool operator==(const ServicePort&) const = default;
};

// What this node should forward in one IP family, in Kubernetes terms.
using RuleModel = std::map<ServicePortName, ServicePort>;

struct RuleDiff {
  struct Change {
    ServicePort before;  // as it was applied; everything empty when the port is new
    ServicePort after;   // as it should be; everything empty when the port is gone
  };
  std::map<ServicePortName, Change> changes;

  bool empty() const { return changes.empty(); }
};

// What turns `applied` into `desired`, both holding the touched Services only: the cost is the
// change's, not the cluster's. Nothing else decides the order of the rules made from it.
RuleDiff diff(const RuleModel& applied, const RuleModel& desired);

// One line a change. Tests compare this text, and so do people reading debug logs.
std::string to_text(const RuleDiff& diff);

}  // namespace mkp
