#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "tests/packets/case_run.h"
#include "tests/packets/program_under_test.h"

namespace mkp::packets {
namespace {

// A case of a packet-flow file, or why the file cannot be read.
struct Filed {
  std::string file;
  Result<Case> tested;
};

void PrintTo(const Filed& filed, std::ostream* out) {
  *out << filed.file << " " << (filed.tested ? filed.tested->name : filed.tested.error().what);
}

std::vector<Filed> cases_for_nftables() {
  std::vector<Filed> filed;
  for (const std::filesystem::path& path : packet_flow_files(MKP_CONFORMANCE_DIR)) {
    const std::string file = path.stem().string();
    const Result<std::vector<Case>> cases = load_cases(path);
    if (!cases) {
      filed.push_back({file, tl::unexpected(cases.error())});
      continue;
    }
    for (const Case& one : *cases) {
      if (applies(one, Mode::Nftables)) filed.push_back({file, one});
    }
  }
  return filed;
}

// A single step is the same for a process that ends after it and for one that goes on.
std::vector<Filed> cases_with_steps() {
  std::vector<Filed> filed = cases_for_nftables();
  std::erase_if(filed, [](const Filed& one) { return one.tested && one.tested->steps.size() < 2; });
  return filed;
}

std::string test_name(const testing::TestParamInfo<Filed>& info) {
  std::string name = info.param.file;
  if (info.param.tested) name += "__" + info.param.tested->name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; },
      '_');
  return name;
}

std::vector<std::string> mismatches(const Result<Case>& tested, Following following) {
  if (!tested) return {tested.error().what};
  return run_case(
      *tested, {.program = program_under_test(), .mode = Mode::Nftables, .following = following});
}

class Conformance : public testing::TestWithParam<Filed> {};

TEST_P(Conformance, HoldsForARunAtEachStep) {
  EXPECT_EQ(mismatches(GetParam().tested, Following::RunOnce), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Nftables, Conformance, testing::ValuesIn(cases_for_nftables()), test_name);

// Changes made to live rules come to the same as a fresh start.
class ConformanceInSteps : public testing::TestWithParam<Filed> {};

TEST_P(ConformanceInSteps, HoldsForADaemonThatIsKeptRunning) {
  EXPECT_EQ(mismatches(GetParam().tested, Following::KeptRunning), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Nftables, ConformanceInSteps, testing::ValuesIn(cases_with_steps()),
                         test_name);

}  // namespace
}  // namespace mkp::packets
