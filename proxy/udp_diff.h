#pragma once

#include <vector>

#include "proxy/backend.h"
#include "proxy/rule_model.h"
#include "proxy/udp_changes.h"

namespace mkp {

// What an applied diff means for UDP flows.
UdpChanges udp_changes(IpFamily family, const RuleDiff& diff);

// The same after a resync: everything is as new, and of what is gone the kernel's rules alone told.
UdpChanges udp_changes(IpFamily family, const RuleModel& model, const NodeModel& node,
                       std::vector<Plan::GoneFrontend> gone);

}  // namespace mkp
