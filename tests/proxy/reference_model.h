#pragma once

#include <string>
#include <vector>

#include "configs/config.h"
#include "tests/proxy/small_cluster.h"

namespace mkp {

// What every frontend of a cluster should lead to, worked out again in the slow, plain way:
// straight from the objects, all of it each time, without a line of proxy/'s own selection. One
// line for each frontend and for each Service port with affinity, as live_text() writes them;
// sorted.
std::vector<std::string> expected_lines(const SmallCluster& cluster, IpFamily family);

}  // namespace mkp
