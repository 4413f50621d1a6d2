// Which endpoints a node uses, and why it does not use the others.
#include "proxy/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <sstream>

#include "tests/proxy/rule_literals.h"

namespace mkp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

// Endpoint B is 10.180.0.2:80. "B n2 ready z=za h=n1": on node n2, with a hint for zone za and one
// for node n1. Without a word for a condition it is false.
EndpointInfo written(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  EndpointInfo info;
  info.endpoint = endpoint("10.180.0." + std::to_string(word[0] - 'A' + 1) + ":80");
  info.ready = info.serving = false;
  while (words >> word) {
    if (word == "ready") {
      info.ready = true;
    } else if (word == "serving") {
      info.serving = true;
    } else if (word == "terminating") {
      info.terminating = true;
    } else if (word.starts_with("z=")) {
      info.zone_hints.push_back(word.substr(2));
    } else if (word.starts_with("h=")) {
      info.node_hints.push_back(word.substr(2));
    } else {
      info.node_name = word;
    }
  }
  return info;
}

std::vector<EndpointInfo> written(const Texts& texts) {
  std::vector<EndpointInfo> infos;
  infos.reserve(texts.size());
  for (const std::string& text : texts) infos.push_back(written(text));
  return infos;
}

char letter(const Endpoint& endpoint) { return static_cast<char>('A' + endpoint.ip.bytes[3] - 1); }

// "A: used; B: not ready"
std::string reasons(const std::vector<EndpointInfo>& infos,
                    const std::vector<Selection>& selections) {
  std::string text;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    text += (i == 0 ? "" : "; ") + std::string(1, letter(infos[i].endpoint)) + ": ";
    text += to_text(selections.at(i));
  }
  return text;
}

// A node in zone za.
NodeInfo node_in_za() {
  NodeInfo node;
  node.name = "n1";
  node.zone = "za";
  return node;
}

std::string cluster_reasons(const Texts& texts, const NodeInfo& node = node_in_za()) {
  return reasons(written(texts), cluster_selection(written(texts), node));
}
std::string local_reasons(const Texts& texts) {
  return reasons(written(texts), local_selection(written(texts), node_in_za()));
}
TopologyMode mode_of(const Texts& texts, const NodeInfo& node = node_in_za()) {
  return topology_mode(written(texts), node);
}

// --- why an endpoint is used or not ---

TEST(ClusterSelectionTest, UsesReadyEndpointsAndSaysWhyNotTheOthers) {
  EXPECT_EQ(cluster_reasons({"A n1 ready serving", "B n2 serving", "C n2",
                             "D n2 serving terminating", "E n2 terminating"}),
            "A: used; B: not ready; C: not ready; D: terminating, and others are ready; "
            "E: terminating and no longer serving");
}

TEST(ClusterSelectionTest, WithoutAReadyOneUsesThoseThatStillServeWhileTheyTerminate) {
  EXPECT_EQ(cluster_reasons({"A n2 serving terminating", "B n2 terminating", "C n2 serving"}),
            "A: used although it terminates, as none is ready; B: terminating and no longer "
            "serving; C: not ready");
}

TEST(ClusterSelectionTest, UsesAReadyEndpointWhateverElseIsTrueOfIt) {
  EXPECT_EQ(cluster_reasons({"A n2 ready terminating", "B n2 serving terminating"}),
            "A: used; B: terminating, and others are ready");
}

TEST(ClusterSelectionTest, SaysWhichHintKeepsAnEndpointFromBeingUsed) {
  EXPECT_EQ(cluster_reasons({"A n2 ready z=za", "B n2 ready z=zb"}),
            "A: used; B: for another zone");
  EXPECT_EQ(cluster_reasons({"A n1 ready h=n1", "B n2 ready h=n2"}),
            "A: used; B: on or for another node");
}

TEST(ClusterSelectionTest, SaysOfOneThatIsNotReadyThatAndNotWhatItsHintIs) {
  EXPECT_EQ(cluster_reasons({"A n2 ready z=za", "B n2 z=zb", "C n2 serving terminating z=zb"}),
            "A: used; B: not ready; C: terminating, and others are ready");
}

TEST(ClusterSelectionTest, HasAnAnswerForNoEndpoints) { EXPECT_EQ(cluster_reasons({}), ""); }

TEST(LocalSelectionTest, UsesOnlyWhatIsOnThisNodeAndKnowsNoHints) {
  EXPECT_EQ(local_reasons({"A n1 ready z=zb h=n2", "B n2 ready z=za h=n1", "C ready"}),
            "A: used; B: on or for another node; C: on or for another node");
}

TEST(LocalSelectionTest, FallsBackToTerminatingOnesHereWhateverIsReadyElsewhere) {
  EXPECT_EQ(local_reasons({"A n1 serving terminating", "B n2 ready", "C n1 terminating"}),
            "A: used although it terminates, as none is ready; B: on or for another node; "
            "C: terminating and no longer serving");
}

TEST(LocalSelectionTest, LeavesTerminatingOnesAloneWhenOneHereIsReady) {
  EXPECT_EQ(local_reasons({"A n1 serving terminating", "B n1 ready", "C n1 serving"}),
            "A: terminating, and others are ready; B: used; C: not ready");
}

TEST(LocalSelectionTest, HasNothingOnANodeWithoutAName) {
  const std::vector<EndpointInfo> infos = written(Texts{"A n1 ready", "B ready"});
  EXPECT_EQ(reasons(infos, local_selection(infos, NodeInfo{})),
            "A: on or for another node; B: on or for another node");
}

// --- hints ---

TEST(TopologyModeTest, NodesGoBeforeZones) {
  EXPECT_EQ(mode_of({"A n1 ready h=n1 z=za", "B n2 ready h=n2 z=za"}), TopologyMode::SameNode);
}

TEST(TopologyModeTest, NodeHintsThatDoNotNameUsLeaveItToTheZones) {
  EXPECT_EQ(mode_of({"A n2 ready h=n2 z=za", "B n3 ready h=n3 z=zb"}), TopologyMode::SameZone);
}

TEST(TopologyModeTest, ANodeHintMissingOnceLeavesItToTheZones) {
  EXPECT_EQ(mode_of({"A n1 ready h=n1 z=za", "B n2 ready z=za"}), TopologyMode::SameZone);
}

TEST(TopologyModeTest, AZoneHintMissingOnceMakesAllOfThemVoid) {
  EXPECT_EQ(mode_of({"A n1 ready z=za", "B n2 ready"}), TopologyMode::Anywhere);
}

TEST(TopologyModeTest, HintsForOthersAloneAreVoid) {
  EXPECT_EQ(mode_of({"A n2 ready z=zb", "B n2 ready z=zc"}), TopologyMode::Anywhere);
  EXPECT_EQ(mode_of({"A n2 ready h=n2"}), TopologyMode::Anywhere);
}

TEST(TopologyModeTest, OneOfManyHintsIsEnough) {
  EXPECT_EQ(mode_of({"A n2 ready z=zc z=zb z=za"}), TopologyMode::SameZone);
}

TEST(TopologyModeTest, OnlyReadyEndpointsHaveASay) {
  EXPECT_EQ(mode_of({"A n2 ready z=za", "B n2 serving terminating", "C n2"}),
            TopologyMode::SameZone);
  EXPECT_EQ(mode_of({"A n2 ready z=zb", "B n2 z=za"}), TopologyMode::Anywhere);
  EXPECT_EQ(mode_of({"A n2 serving terminating z=za"}), TopologyMode::Anywhere);
  EXPECT_EQ(mode_of({}), TopologyMode::Anywhere);
}

TEST(TopologyModeTest, ANodeWithoutAZoneOrANameIsNamedByNoHint) {
  EXPECT_EQ(mode_of({"A n2 ready z= h=", "B n2 ready z=za h="}, NodeInfo{}),
            TopologyMode::Anywhere);
}

// --- both lists together ---

// "C AB; L -; some", or "nobody" where no node has one.
std::string sets_text(const EndpointSets& sets) {
  const auto list = [](const std::optional<std::vector<Endpoint>>& endpoints) {
    std::string letters;
    if (!endpoints) return std::string("unused");
    for (const Endpoint& one : *endpoints) letters += letter(one);
    return letters.empty() ? "-" : letters;
  };
  return "C " + list(sets.cluster) + "; L " + list(sets.local) + (sets.any ? "" : "; nobody");
}

constexpr EndpointPolicy kCluster{.uses_cluster = true, .uses_local = false};
constexpr EndpointPolicy kLocal{.uses_cluster = false, .uses_local = true};
constexpr EndpointPolicy kBoth{.uses_cluster = true, .uses_local = true};

struct Example {
  std::string name;
  EndpointPolicy policy;
  Texts endpoints;
  std::string sets;
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

class EndpointSetsTest : public testing::TestWithParam<Example> {};

TEST_P(EndpointSetsTest, AreThese) {
  const std::vector<EndpointInfo> infos = written(GetParam().endpoints);
  EXPECT_EQ(sets_text(select_endpoints(GetParam().policy, infos, node_in_za())), GetParam().sets);
}

const std::vector<Example> kExamples = {
    {"PolicyCluster", kCluster, {"A n1 ready", "B n2 ready"}, "C AB; L unused"},
    {"PolicyLocal", kLocal, {"A n1 ready", "B n2 ready"}, "C unused; L A"},
    {"PolicyLocalAndNobodyHere", kLocal, {"B n2 ready"}, "C unused; L -"},
    {"LocalFallsBackAlone", kBoth, {"A n1 serving terminating", "B n2 ready"}, "C B; L A"},
    {"BothFallBack", kBoth, {"A n1 serving terminating", "B n2 serving terminating"}, "C AB; L A"},
    {"NotReadyWithPolicyCluster", kCluster, {"A n1 serving"}, "C -; L unused; nobody"},
    {"NotReadyWithPolicyLocal", kLocal, {"A n1 serving"}, "C unused; L -; nobody"},
    {"NotReadyWithBoth", kBoth, {"A n1 serving"}, "C -; L -; nobody"},
    {"HintsForOurZone", kCluster, {"A n2 ready z=za", "B n2 ready z=zb"}, "C A; L unused"},
    {"HintsForAnotherZoneOnly", kCluster, {"A n2 ready z=zb", "B n2 ready z=zb"}, "C AB; L unused"},
    {"AHintIsMissing", kCluster, {"A n2 ready z=za", "B n2 ready"}, "C AB; L unused"},
    {"HintsForOurNode",
     kCluster,
     {"A n1 ready h=n1 z=za", "B n2 ready h=n2 z=za"},
     "C A; L unused"},
    {"HintsForOtherNodesThenOurZone",
     kCluster,
     {"A n2 ready h=n2 z=za", "B n3 ready h=n3 z=zb"},
     "C A; L unused"},
    {"TheFallbackKnowsNoHints",
     kCluster,
     {"A n2 serving terminating z=za", "B n2 serving terminating z=zb"},
     "C AB; L unused"},
    {"LocalKnowsNoHints", kBoth, {"A n1 ready z=zb", "B n2 ready z=za"}, "C B; L A"},
    {"NoEndpoints", kBoth, {}, "C -; L -; nobody"},
    {"TerminatingElsewhereIsSomebody", kLocal, {"B n2 serving terminating"}, "C unused; L -"},
    {"NoLongerServingIsNobody", kBoth, {"A n1 terminating"}, "C -; L -; nobody"},
    {"ListsAreSortedAndUnique",
     kCluster,
     {"C n2 ready", "A n1 ready", "C n2 ready"},
     "C AC; L unused"},
};

INSTANTIATE_TEST_SUITE_P(Examples, EndpointSetsTest, testing::ValuesIn(kExamples),
                         [](const auto& one) { return one.param.name; });

TEST(ConditionsTest, LeaveTheSetsAsTheyAreWhereTheyDoNotCount) {
  const auto sets = [](const Texts& texts) {
    return select_endpoints(kBoth, written(texts), node_in_za());
  };
  // What is ready may terminate; what is not may serve, or be about to end.
  EXPECT_EQ(sets({"A n1 ready serving", "B n2"}),
            sets({"A n1 ready terminating", "B n2 serving terminating"}));
  EXPECT_EQ(sets({"A n1 ready", "B n2 serving"}), sets({"A n1 ready", "B n2 terminating"}));
}

// --- this node ---

TEST(NodeInfoTest, AnEndpointIsLocalWhenItNamesThisNode) {
  EXPECT_TRUE(is_local(written("A n1"), node_in_za()));
  EXPECT_FALSE(is_local(written("A n10"), node_in_za()));
  EXPECT_FALSE(is_local(written("A"), node_in_za()));
  EXPECT_FALSE(is_local(written("A"), NodeInfo{}));
}

TEST(NodeInfoTest, ItsOwnAddressIsTheFirstOfTheFamily) {
  NodeInfo node;
  node.ips = {ip("fd00::1"), ip("192.168.0.10"), ip("192.168.0.11"), ip("fd00::2")};
  EXPECT_EQ(node_ip(node, IpFamily::Ipv4), ip("192.168.0.10"));
  EXPECT_EQ(node_ip(node, IpFamily::Ipv6), ip("fd00::1"));
}

TEST(NodeInfoTest, WithoutOneItIsLoopback) {
  NodeInfo node;
  node.ips = {ip("192.168.0.10")};
  EXPECT_EQ(node_ip(node, IpFamily::Ipv6), ip("::1"));
  EXPECT_EQ(node_ip({}, IpFamily::Ipv4), ip("127.0.0.1"));
}

// --- endpoints that may be their own client ---

std::vector<IpAddress> hairpins(const Texts& texts, const EndpointPolicy& policy,
                                const NodeInfo& node) {
  const std::vector<EndpointInfo> infos = written(texts);
  return hairpin_addresses(infos, select_endpoints(policy, infos, node), node);
}

TEST(HairpinTest, AnEndpointMayBeTheClientWhenItIsHereOrNobodySaysWhere) {
  EXPECT_THAT(hairpins({"A n1 ready", "B ready", "C n2 ready"}, kCluster, node_in_za()),
              ElementsAre(ip("10.180.0.1"), ip("10.180.0.2")));
}

TEST(HairpinTest, AnEndpointMayBeTheClientWithinThisNodesPodCidrsWhateverTheSliceSays) {
  NodeInfo node = node_in_za();
  node.pod_cidrs = {prefix("fd00:180::/64"), prefix("10.180.0.2/31")};
  EXPECT_THAT(hairpins({"A n2 ready", "B n2 ready", "C n2 ready", "D n2 ready"}, kCluster, node),
              ElementsAre(ip("10.180.0.2"), ip("10.180.0.3")));
}

TEST(HairpinTest, AnEndpointThatIsNotUsedIsNoClientOfItsOwn) {
  EXPECT_THAT(
      hairpins({"A n1 serving", "B n1 ready z=zb", "C n2 ready z=za"}, kCluster, node_in_za()),
      IsEmpty());
}

TEST(HairpinTest, AnEndpointOfEitherListMayBeTheClient) {
  EXPECT_THAT(hairpins({"A n1 serving terminating", "B ready"}, kBoth, node_in_za()),
              ElementsAre(ip("10.180.0.1"), ip("10.180.0.2")));
}

TEST(HairpinTest, TwoPortsOfOnePodAreOneAddress) {
  std::vector<EndpointInfo> infos = written(Texts{"A n1 ready", "A n1 ready"});
  infos[1].endpoint.port = 81;
  const NodeInfo node = node_in_za();
  EXPECT_THAT(hairpin_addresses(infos, select_endpoints(kCluster, infos, node), node),
              ElementsAre(ip("10.180.0.1")));
}

}  // namespace
}  // namespace mkp
