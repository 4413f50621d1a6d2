#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <ostream>

#include "tests/packets/case_run.h"

namespace mkp::packets {
namespace {

enum class Flows { All, ToClusterIpsWithoutLocalPolicy };

struct Listed {
  std::string_view file;
  std::string_view name;
  Flows flows = Flows::All;
};

void PrintTo(const Listed& listed, std::ostream* out) { *out << listed.file << " " << listed.name; }

// What the proxy can do so far. The rest of the cases wait for the rest of Service semantics.
constexpr Listed kListed[] = {
    {"clusterip.yaml", "clusterip-one-endpoint"},
    {"clusterip.yaml", "clusterip-hairpin-two-endpoints"},
    {"clusterip.yaml", "clusterip-udp-to-tcp-only-port"},
    {"clusterip.yaml", "clusterip-port-of-another-service"},
    {"clusterip.yaml", "clusterip-from-node-and-outside-masqueraded"},
    {"clusterip.yaml", "pod-to-pod-untouched"},
    {"no-endpoints.yaml", "no-endpoints-slice-lacks-the-port"},
    {"ipv6-dualstack.yaml", "dualstack-service-with-one-family-of-endpoints"},
    {"ipv6-dualstack.yaml", "dualstack-clusterips-and-nodeport",
     Flows::ToClusterIpsWithoutLocalPolicy},
    {"masquerade.yaml", "masq-masqall-cluster-cluster", Flows::ToClusterIpsWithoutLocalPolicy},
    {"masquerade.yaml", "masq-masqall-nodetect-cluster-cluster",
     Flows::ToClusterIpsWithoutLocalPolicy},
};

bool goes_to_cluster_ip_without_local_policy(
    const Flow&, const std::optional<ClusterDirectory::ServicePort>& service_port) {
  return service_port && service_port->by_cluster_ip && !service_port->has_local_policy;
}

std::string program_under_test() {
  const char* other = ::getenv("MKP_PROXY");
  return other == nullptr ? MKP_PROXY_PROGRAM : other;
}

class Conformance : public testing::TestWithParam<Listed> {};

TEST_P(Conformance, HoldsFor) {
  const Result<std::vector<Case>> cases =
      load_cases(std::string(MKP_CONFORMANCE_DIR "/") + std::string(GetParam().file));
  ASSERT_TRUE(cases) << cases.error().what;
  const auto tested = std::find_if(cases->begin(), cases->end(),
                                   [](const Case& one) { return one.name == GetParam().name; });
  ASSERT_NE(tested, cases->end());
  CaseRun run{.program = program_under_test()};
  if (GetParam().flows == Flows::ToClusterIpsWithoutLocalPolicy) {
    run.filter = goes_to_cluster_ip_without_local_policy;
  }
  EXPECT_EQ(run_case(*tested, run), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Nftables, Conformance, testing::ValuesIn(kListed), [](const auto& named) {
  std::string name(named.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace mkp::packets
