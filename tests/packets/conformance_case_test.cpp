#include "tests/packets/conformance_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mkp::packets {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class PacketFlowFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PacketFlowFile, IsReadWhole) {
  const Result<std::vector<Case>> cases = load_cases(GetParam());
  ASSERT_TRUE(cases) << cases.error().what;
  EXPECT_THAT(*cases, Not(IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Of, PacketFlowFile,
                         testing::ValuesIn(packet_flow_files(MKP_CONFORMANCE_DIR)),
                         [](const auto& file) {
                           std::string name = file.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PacketFlowFiles, AreAllButTheOnesOfOtherCases) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : packet_flow_files(MKP_CONFORMANCE_DIR)) {
    names.push_back(file.stem().string());
  }
  EXPECT_THAT(names, IsSupersetOf({"clusterip", "same-flow", "traffic-policy"}));
  EXPECT_THAT(names, Not(Contains("topology")));
  EXPECT_THAT(names, Not(Contains("metrics")));
}

// One case; `more` are further keys of the part that they are named after.
struct More {
  std::string of_case{};
  std::string of_config{};
  std::string of_node{};
  std::string of_flow = "expect: reject, masquerade: false";
};

std::string case_with(const More& more) {
  return fmt::format(
      "- name: one\n"
      "  about: one case\n"
      "  source: nowhere\n"
      "  config: {{mode: any, clusterCIDR: 10.180.0.0/16{}}}\n"
      "  node: {{name: worker-1, ips: [192.168.0.1]{}}}\n"
      "  objects: \"\"\n"
      "  flows:\n"
      "  - {{from: node, to: 172.30.0.10, port: 80, proto: tcp, {}}}\n"
      "{}",
      more.of_config, more.of_node, more.of_flow, more.of_case);
}

std::string refusal_of(const std::string& yaml) {
  const Result<std::vector<Case>> cases = parse_cases(yaml);
  return cases ? "" : cases.error().what;
}

Case read(const More& more) {
  Result<std::vector<Case>> cases = parse_cases(case_with(more));
  EXPECT_TRUE(cases) << cases.error().what;
  return cases ? cases->front() : Case{};
}

TEST(ConformanceCase, WithNothingUnknownIsRead) { EXPECT_EQ(refusal_of(case_with({})), ""); }

TEST(ConformanceCase, RefusesUnknownKeysEverywhere) {
  EXPECT_THAT(refusal_of(case_with({.of_case = "  odd: 1\n"})), HasSubstr("unknown key odd"));
  EXPECT_THAT(refusal_of(case_with({.of_config = ", odd: 1"})), HasSubstr("unknown key odd"));
  EXPECT_THAT(refusal_of(case_with({.of_node = ", odd: 1"})), HasSubstr("unknown key odd"));
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: drop, masquerade: false, odd: 1"})),
              HasSubstr("unknown key odd"));
  EXPECT_THAT(refusal_of(case_with({.of_case = "  steps:\n  - {about: x, flows: [], odd: 1}\n"})),
              HasSubstr("unknown key odd"));
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: [\"10.180.1.5:80\"], masquerade: false, "
                                               "sticky: {timeoutSeconds: 1, odd: 1}"})),
              HasSubstr("unknown key odd"));
}

TEST(ConformanceCase, NamesTheLineOfAMistake) {
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: vanish, masquerade: false"})),
              HasSubstr("line 8"));
}

TEST(ConformanceCase, RefusesWordsItDoesNotKnow) {
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: vanish, masquerade: false"})),
              HasSubstr("unknown expectation"));
  EXPECT_THAT(refusal_of(case_with({.of_flow = "mode: ipvs, expect: drop, masquerade: false"})),
              HasSubstr("unknown mode ipvs"));
  EXPECT_THAT(refusal_of(case_with({.of_flow = "ctstate: new, expect: drop, masquerade: false"})),
              HasSubstr("unknown state"));
}

TEST(ConformanceCase, RefusesAFlowWithoutAnAnswerOnMasquerading) {
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: drop"})),
              HasSubstr("masquerade is missing"));
}

TEST(ConformanceCase, RefusesMasqueradingOfWhatIsNotTranslated) {
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: drop, masquerade: true"})),
              HasSubstr("only what is translated is masqueraded"));
}

TEST(ConformanceCase, RefusesAMasqueradeMapThatLeavesOutAnEndpoint) {
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: [\"10.180.1.5:80\", \"10.180.1.6:80\"], "
                                               "masquerade: {\"10.180.1.5:80\": true}"})),
              HasSubstr("leaves out an endpoint"));
}

TEST(ConformanceCase, RefusesASecondCaseOfThatName) {
  EXPECT_THAT(refusal_of(case_with({}) + case_with({})), HasSubstr("repeats a name"));
}

TEST(ConformanceCase, BeginsWithTheStepThatItsOwnFieldsMake) {
  const Case read_back =
      read({.of_case = "  steps:\n  - {about: later, restart: true, flows: []}\n",
            .of_config = ", serviceCIDRs: [172.30.0.0/16]"});
  ASSERT_EQ(read_back.steps.size(), 2U);
  EXPECT_EQ(read_back.steps[0].service_cidrs, std::vector<std::string>{"172.30.0.0/16"});
  EXPECT_EQ(read_back.steps[0].flows.size(), 1U);
  EXPECT_EQ(read_back.steps[1].about, "later");
  EXPECT_TRUE(read_back.steps[1].restart);
  EXPECT_EQ(read_back.steps[1].service_cidrs, std::nullopt);
}

TEST(ConformanceCase, NeedsTheClusterCidrOnlyWhereItTellsPods) {
  const std::string yaml = case_with({});
  std::string other = yaml;
  other.replace(other.find("clusterCIDR: 10.180.0.0/16"), 26,
                "detectLocalMode: BridgeInterface, bridgeInterface: pods");
  EXPECT_EQ(refusal_of(other), "");
  std::string neither = yaml;
  neither.replace(neither.find(", clusterCIDR: 10.180.0.0/16"), 28, "");
  EXPECT_THAT(refusal_of(neither), HasSubstr("clusterCIDR is missing"));
}

TEST(ConformanceCase, ReadsWhatAStepChangesOfTheNode) {
  const Case read_back =
      read({.of_case = "  steps:\n  - {about: x, node: {zone: east, podCIDRs: [10.180.1.0/24]}, "
                       "nodeAddresses: {add: [192.168.0.2], remove: [192.168.0.1]}, flows: []}\n",
            .of_node = ", podCIDRs: [10.180.0.0/24], ipv6: false"});
  EXPECT_EQ(read_back.node.pod_cidrs, std::vector<std::string>{"10.180.0.0/24"});
  EXPECT_FALSE(read_back.node.ipv6);
  const Step& step = read_back.steps.at(1);
  EXPECT_EQ(step.node.value_or(NodeChange{}).zone, "east");
  EXPECT_EQ(step.node.value_or(NodeChange{}).pod_cidrs, std::vector<std::string>{"10.180.1.0/24"});
  EXPECT_EQ(step.node_addresses.add.size(), 1U);
  EXPECT_EQ(step.node_addresses.remove.size(), 1U);
}

TEST(ConformanceCase, ReadsOtherSettingsAtARestartOnly) {
  const Case read_back =
      read({.of_case = "  steps:\n  - {about: x, restart: true, config: {clusterCIDR: \"\", "
                       "masqueradeAll: true}, flows: []}\n"});
  EXPECT_TRUE(read_back.steps.at(1).settings.value_or(ProxySettings{}).masquerade_all);
  EXPECT_THAT(
      refusal_of(case_with(
          {.of_case = "  steps:\n  - {about: x, config: {clusterCIDR: \"\"}, flows: []}\n"})),
      HasSubstr("is read at a start only"));
}

TEST(ConformanceCase, TakesOddObjectsAlongWithValidOnes) {
  const Case read_back = read({.of_case = "  unserved: true\n  oddObjects: \"kind: Odd\"\n"
                                          "  steps:\n  - {about: x, apply: \"kind: Fine\", "
                                          "applyOdd: \"kind: Odd\", flows: []}\n"});
  EXPECT_TRUE(read_back.unserved);
  EXPECT_EQ(read_back.steps.at(0).apply, "\n---\nkind: Odd");
  EXPECT_EQ(read_back.steps.at(1).apply, "kind: Fine\n---\nkind: Odd");
}

TEST(ConformanceCase, RefusesAMarkOnWhatIsNotTranslated) {
  EXPECT_THAT(refusal_of(case_with({.of_flow = "expect: pass, masquerade: false, mark: 0x4000"})),
              HasSubstr("is followed on what is translated only"));
  EXPECT_EQ(read({.of_flow = "expect: [\"10.180.1.5:80\"], masquerade: false, mark: 0x4000"})
                .steps.at(0)
                .flows.at(0)
                .mark,
            0x4000U);
}

TEST(ConformanceCase, ShowsAFlowWithItsExpectations) {
  const Case read_back =
      read({.of_flow = "expect: [\"10.180.1.5:80\", \"10.180.1.6:80\"], masquerade: "
                       "{\"10.180.1.5:80\": true, \"10.180.1.6:80\": false}"});
  EXPECT_EQ(to_text(read_back.steps.at(0).flows.at(0)),
            "node to 172.30.0.10:80/tcp (expected: 10.180.1.5:80 masqueraded or 10.180.1.6:80)");
}

}  // namespace
}  // namespace mkp::packets
