#include "tests/packets/case_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace mkp::packets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCase = R"(
- name: two-endpoints-then-none
  about: "a case whose program is a script"
  source: nowhere
  config: {mode: any, clusterCIDR: "10.64.0.0/12"}
  node: {name: worker-1, ips: [10.20.0.11]}
  objects: |
    kind: Service
    metadata: {namespace: shop, name: web}
    spec: {clusterIP: 10.96.0.10, ports: [{name: http, port: 80}]}
  flows:
    - {from: 10.64.1.50, to: 10.96.0.10, port: 80, proto: tcp, expect: ["10.64.1.5:8080", "10.64.2.5:8080"], masquerade: false}
    - {from: 192.0.2.7, to: 10.96.0.10, port: 80, proto: tcp, expect: ["10.64.1.5:8080", "10.64.2.5:8080"], masquerade: true}
    - {from: 10.64.1.50, to: 10.96.0.10, port: 81, proto: udp, expect: reject, masquerade: false}
    - {from: 10.64.1.50, to: 10.96.0.10, port: 82, proto: udp, expect: drop, masquerade: false}
    - {from: 10.64.1.50, to: 192.0.2.7, port: 80, proto: sctp, expect: pass, masquerade: false}
    - {from: 10.64.1.50, to: 192.0.2.7, port: 80, proto: sctp, mode: iptables, expect: drop, masquerade: false}
  steps:
    - about: "the service goes"
      delete: |
        kind: Service
        metadata: {namespace: shop, name: web}
      flows:
        - {from: 10.64.1.50, to: 10.96.0.10, port: 80, proto: tcp, expect: pass, masquerade: false}
)";

// Forwards for the Service of the case above while its manifest is there. It is called as `script
// --config C --manifests D --once`.
constexpr const char* kScript = R"(#!/bin/sh
test "$1 $3 $5" = "--config --manifests --once" || exit 3
test -e "$2" || exit 4
nft add table ip by-hand && nft delete table ip by-hand || exit 5
test -e "$4/Service_shop_web.yaml" || exit 0
exec nft -f - <<END
table ip by-hand {
  chain dispatch {
    type nat hook prerouting priority -100
    ip daddr 10.96.0.10 tcp dport 80 dnat ip to numgen random mod 2 map { 0 : 10.64.1.5 . 8080, 1 : 10.64.2.5 . 8080 }
  }
  chain masquerading {
    type nat hook postrouting priority 100
    ct status dnat ip saddr != 10.64.0.0/12 masquerade fully-random
  }
  chain check {
    type filter hook forward priority 0
    ip daddr 10.96.0.10 udp dport 81 reject
    ip daddr 10.96.0.10 udp dport 82 drop
  }
}
END
)";

class CaseRunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(script_) << kScript;
    std::filesystem::permissions(script_, std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::filesystem::remove(script_); }

  // The case with one piece of its text exchanged for another.
  std::vector<std::string> run_with(std::string_view replaced, std::string_view replacement) const {
    std::string yaml = kCase;
    const std::size_t found = yaml.find(replaced);
    EXPECT_NE(found, std::string::npos);
    yaml.replace(found, replaced.size(), replacement);
    const Result<std::vector<Case>> cases = parse_cases(yaml);
    EXPECT_TRUE(cases) << cases.error().what;
    return run_case(cases->at(0), {.program = script_.string(), .mode = Mode::Nftables});
  }

  const std::filesystem::path script_ =
      std::filesystem::temp_directory_path() / fmt::format("proxy-by-hand.{}", ::getpid());
};

TEST_F(CaseRunTest, IsContentWithTheCaseAsItStands) { EXPECT_THAT(run_with("", ""), IsEmpty()); }

TEST_F(CaseRunTest, ReportsAWrongEndpoint) {
  EXPECT_THAT(
      run_with("\"10.64.2.5:8080\"], masquerade: false", "\"10.64.2.6:8080\"], masquerade: false"),
      ElementsAre(
          AllOf(HasSubstr("start: 10.64.1.50 to 10.96.0.10:80/tcp"), HasSubstr("10.64.2.5:8080"))));
}

TEST_F(CaseRunTest, ReportsAnEndpointTooMuch) {
  EXPECT_THAT(run_with("[\"10.64.1.5:8080\", \"10.64.2.5:8080\"], masquerade: false",
                       "[\"10.64.1.5:8080\"], masquerade: false"),
              ElementsAre("start: 10.64.1.50 to 10.96.0.10:80/tcp (expected: 10.64.1.5:8080): "
                          "10.64.2.5:8080"));
}

TEST_F(CaseRunTest, ReportsWrongMasquerading) {
  EXPECT_THAT(
      run_with("masquerade: true", "masquerade: false"),
      ElementsAre(AllOf(HasSubstr("192.0.2.7 to 10.96.0.10:80/tcp"), HasSubstr(" masqueraded"))));
  EXPECT_THAT(run_with("masquerade: false", "masquerade: true"), ElementsAre(HasSubstr("start")));
}

TEST_F(CaseRunTest, ReportsAWrongVerdictOfEachKind) {
  EXPECT_THAT(run_with("expect: reject", "expect: drop"),
              ElementsAre("start: 10.64.1.50 to 10.96.0.10:81/udp (expected: drop): reject"));
  EXPECT_THAT(run_with("expect: drop", "expect: reject"),
              ElementsAre("start: 10.64.1.50 to 10.96.0.10:82/udp (expected: reject): drop"));
  EXPECT_THAT(run_with("expect: pass", "expect: drop"),
              ElementsAre("start: 10.64.1.50 to 192.0.2.7:80/sctp (expected: drop): pass"));
}

TEST_F(CaseRunTest, ReportsWhatALaterStepGetsWrong) {
  EXPECT_THAT(run_with("tcp, expect: pass", "tcp, expect: reject"),
              ElementsAre("the service goes: 10.64.1.50 to 10.96.0.10:80/tcp (expected: reject): "
                          "pass"));
}

TEST_F(CaseRunTest, ReportsAProgramThatFails) {
  const Result<std::vector<Case>> cases = parse_cases(kCase);
  ASSERT_TRUE(cases) << cases.error().what;
  EXPECT_THAT(run_case(cases->at(0), {.program = "/bin/false", .mode = Mode::Nftables}),
              ElementsAre(HasSubstr("/bin/false failed")));
}

TEST_F(CaseRunTest, ReportsACaseWithoutAFlowForTheMode) {
  const Result<std::vector<Case>> cases = parse_cases(kCase);
  ASSERT_TRUE(cases) << cases.error().what;
  Case empty = cases->at(0);
  for (Step& step : empty.steps) step.flows.clear();
  EXPECT_THAT(run_case(empty, {.program = script_.string(), .mode = Mode::Nftables}),
              ElementsAre("no flow to check"));
}

// Goes on, and loads its rules anew whenever the manifests are others. The sentinel's cluster IPs
// are the only ones that its tables say are in use.
constexpr const char* kDaemonScript = R"~(#!/bin/bash
before=
while :; do
  now=$(cat "$4"/Service_*)
  test "$now" = "$before" && continue
  before=$now
  sentinel=$(sed -n 's/^  clusterIPs: .\(.*\), "\(.*\)".$/\1 \2/p' "$4/Service_tests_sentinel.yaml")
  web='ip daddr 10.96.0.10 tcp dport 80 dnat ip to numgen random mod 2 map { 0 : 10.64.1.5 . 8080, 1 : 10.64.2.5 . 8080 }'
  test -e "$4/Service_shop_web.yaml" || web=
  nft -f - <<END
table ip mini-kube-proxy
delete table ip mini-kube-proxy
table ip mini-kube-proxy {
  set cluster-ips {
    type ipv4_addr
    elements = { ${sentinel% *} }
  }
  chain dispatch {
    type nat hook prerouting priority -100
    $web
  }
  chain masquerading {
    type nat hook postrouting priority 100
    ct status dnat ip saddr != 10.64.0.0/12 masquerade fully-random
  }
  chain check {
    type filter hook forward priority 0
    ip daddr 10.96.0.10 udp dport 81 reject
    ip daddr 10.96.0.10 udp dport 82 drop
  }
}
table ip6 mini-kube-proxy
delete table ip6 mini-kube-proxy
table ip6 mini-kube-proxy {
  set cluster-ips {
    type ipv6_addr
    elements = { ${sentinel#* } }
  }
}
END
done
)~";

class KeptRunningTest : public CaseRunTest {
 protected:
  std::vector<std::string> run(const std::string& yaml, const char* script) const {
    std::ofstream(script_) << script;
    const Result<std::vector<Case>> cases = parse_cases(yaml);
    EXPECT_TRUE(cases) << cases.error().what;
    return run_case(
        cases->at(0),
        {.program = script_.string(), .mode = Mode::Nftables, .following = Following::KeptRunning});
  }
};

TEST_F(KeptRunningTest, WaitsUntilTheProgramHasTakenEachStep) {
  EXPECT_THAT(run(kCase, kDaemonScript), IsEmpty());
}

TEST_F(KeptRunningTest, ReportsWhatALaterStepGetsWrong) {
  std::string yaml = kCase;
  const std::string_view right = "tcp, expect: pass";
  yaml.replace(yaml.rfind(right), right.size(), "tcp, expect: drop");
  EXPECT_THAT(run(yaml, kDaemonScript),
              ElementsAre("the service goes: 10.64.1.50 to 10.96.0.10:80/tcp (expected: drop): "
                          "pass"));
}

TEST_F(KeptRunningTest, ReportsAProgramThatEnds) {
  EXPECT_THAT(run(kCase, "#!/bin/sh\necho no such flag\n"),
              ElementsAre("start: the program ended: no such flag\n"));
}

}  // namespace
}  // namespace mkp::packets
