#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/config.h"
#include "proxy/backend.h"
#include "proxy/cluster_state.h"
#include "proxy/frontend_claims.h"
#include "proxy/health_targets.h"
#include "proxy/rule_model.h"
#include "proxy/udp_changes.h"

namespace mkp {

// What a sync did, for logs, tests and benchmarks.
struct SyncReport {
  std::size_t transactions = 0;
  std::size_t resyncs = 0;
  PlanSize size;
  Duration compute{};  // model, diff and plan
  Duration kernel{};   // dumps and transactions

  SyncReport& operator+=(const SyncReport& other);
};

// How a sync, or a cleanup, went in one family: what health and metrics are made of.
struct FamilyOutcome {
  enum class Kind : std::uint8_t { Partial, Full, Cleanup };

  IpFamily family = IpFamily::Ipv4;
  Kind kind = Kind::Partial;
  bool succeeded = false;
  Duration took{};
  SyncReport report;                    // of a success
  NoLocalEndpoints no_local_endpoints;  // as of then
  std::vector<HealthTargetChange> health_targets;
};

// One IP family's half of syncProxyRules: which rules each Service should have, and what of that
// the kernel has acknowledged. The families share nothing but the objects, so that one that fails
// does not stop the other.
class FamilyProxier {
 public:
  // Everything but the family is borrowed for life.
  FamilyProxier(IpFamily family, Backend& backend, const Config& config, const Clock& clock)
      : family_(family),
        backend_(backend),
        config_(config),
        clock_(clock),
        health_targets_(family) {}

  // Makes the rules of the touched Services true; of all Services when the backend is in doubt. On
  // failure the base stays as it was, and the next call takes up these Services again.
  Result<SyncReport> sync(const ClusterState& cluster, const std::set<ServiceName>& touched);

  // Whether the next sync looks at the kernel's rules as a whole.
  bool in_doubt() const { return backend_.in_doubt(); }
  // Whether chains are waiting for cleanup().
  bool cleanup_due() const { return !in_doubt() && backend_.plan_cleanup() != nullptr; }

  // Removes what earlier syncs left without a user.
  Result<SyncReport> cleanup();

  // What a sync would do from what the kernel has now, as Plan::to_text() says; nothing is applied.
  struct Preview {
    std::string text;
    PlanSize size;
  };
  Result<Preview> preview(const ClusterState& cluster, const std::set<ServiceName>& touched);

  // Services of which something cannot be served in this family, as the log has said.
  std::size_t services_with_problems() const { return reported_.size(); }

  // What syncs have changed for UDP flows since this was last asked for, in their order.
  std::vector<UdpChanges> take_udp_changes() { return std::exchange(udp_changes_, {}); }

  // How the syncs and cleanups since this was last asked for went, in their order.
  std::vector<FamilyOutcome> take_outcomes() { return std::exchange(outcomes_, {}); }

  // Among what the kernel has acknowledged.
  const NoLocalEndpoints& no_local_endpoints() const { return no_local_endpoints_; }

  // What the kernel has acknowledged.
  const RuleModel& applied() const { return applied_; }

 private:
  std::set<ServiceName> everything(const ClusterState& cluster) const;
  RuleModel desired(const ClusterState& cluster, const std::set<ServiceName>& touched);
  void report(const ServiceName& name, std::vector<std::string> problems);
  const NodeModel& desired_node(const ClusterState& cluster);
  RuleModel applied_rules_of(const std::set<ServiceName>& touched, const RuleModel& wanted) const;
  Result<SyncReport> sync_rules(const ClusterState& cluster, const std::set<ServiceName>& touched);
  Result<SyncReport> remove_idle_chains();
  FamilyOutcome& note_outcome(FamilyOutcome::Kind kind, TimePoint started,
                              const Result<SyncReport>& report);
  Result<SyncReport> sync_touched(const ClusterState& cluster,
                                  const std::set<ServiceName>& touched);
  void acknowledge(const RuleDiff& changes);
  Result<SyncReport> resync(const ClusterState& cluster);
  Result<SyncReport> apply(Plan& plan, TimePoint started);

  IpFamily family_;
  Backend& backend_;
  const Config& config_;
  const Clock& clock_;
  RuleModel applied_;
  NodeModel applied_node_;
  NoLocalEndpoints no_local_endpoints_;
  std::vector<UdpChanges> udp_changes_;
  HealthTargets health_targets_;
  std::vector<FamilyOutcome> outcomes_;
  NodeModel desired_node_;
  std::uint64_t node_revision_ = 0;  // of the facts that desired_node_ was made from
  std::vector<std::string> reported_of_node_;
  FrontendClaims claims_;
  // Touched by changes that the kernel has not acknowledged yet.
  std::set<ServiceName> unacknowledged_;
  // What has been logged of each Service, so that it is said once.
  std::map<ServiceName, std::vector<std::string>> reported_;
};

}  // namespace mkp
