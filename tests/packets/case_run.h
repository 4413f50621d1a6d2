#pragma once

#include <string>
#include <vector>

#include "tests/packets/conformance_case.h"
#include "tests/packets/proxy_under_test.h"

namespace mkp::packets {

struct CaseRun {
  std::string program;
  Mode mode = Mode::Nftables;
  Following following = Following::RunOnce;
};

bool applies(const Case& tested, Mode mode);

// Runs a case in a network namespace of its own and yields everything that was not as expected, a
// line each, troubles of the run itself included. A run in which no flow counts is such a trouble.
std::vector<std::string> run_case(const Case& tested, const CaseRun& run);

}  // namespace mkp::packets
