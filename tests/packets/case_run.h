#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/packets/cluster_directory.h"
#include "tests/packets/conformance_case.h"

namespace mkp::packets {

// Which flows of a case count: given the flow, and the Service port that it goes to, if any.
using FlowFilter =
    std::function<bool(const Flow&, const std::optional<ClusterDirectory::ServicePort>&)>;

struct CaseRun {
  std::string program;  // called with --config, --manifests and --once
  Mode mode = Mode::Nftables;
  FlowFilter filter = [](const Flow&, const auto&) { return true; };
};

// Runs a case in a network namespace of its own and yields everything that was not as expected, a
// line each, troubles of the run itself included. A run in which no flow counts is such a trouble.
std::vector<std::string> run_case(const Case& tested, const CaseRun& run);

}  // namespace mkp::packets
