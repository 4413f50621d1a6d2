#include "proxy/family_proxier.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/udp_diff.h"

namespace mkp {
namespace {

// The Service ports of one Service within a model that holds many.
std::pair<RuleModel::const_iterator, RuleModel::const_iterator> ports_of(
    const RuleModel& model, const ServiceName& service) {
  const auto first = model.lower_bound(ServicePortName{service, "", Protocol::Tcp});
  auto last = first;
  while (last != model.end() && last->first.service == service) ++last;
  return {first, last};
}

}  // namespace

SyncReport& SyncReport::operator+=(const SyncReport& other) {
  transactions += other.transactions;
  resyncs += other.resyncs;
  size += other.size;
  compute += other.compute;
  kernel += other.kernel;
  return *this;
}

FamilyOutcome& FamilyProxier::note_outcome(FamilyOutcome::Kind kind, TimePoint started,
                                           const Result<SyncReport>& report) {
  FamilyOutcome outcome;
  outcome.family = family_;
  outcome.kind = kind;
  outcome.succeeded = report.has_value();
  outcome.took = clock_.now() - started;
  outcome.no_local_endpoints = no_local_endpoints_;
  if (report) outcome.report = *report;
  return outcomes_.emplace_back(std::move(outcome));
}

Result<SyncReport> FamilyProxier::sync(const ClusterState& cluster,
                                       const std::set<ServiceName>& touched) {
  using Kind = FamilyOutcome::Kind;
  const TimePoint started = clock_.now();
  const bool doubted = in_doubt();
  health_targets_.note(touched);
  Result<SyncReport> report = sync_rules(cluster, touched);
  const bool full = doubted || (report && report->resyncs > 0);
  FamilyOutcome& outcome = note_outcome(full ? Kind::Full : Kind::Partial, started, report);
  if (report) outcome.health_targets = health_targets_.update(cluster);
  return report;
}

Result<SyncReport> FamilyProxier::sync_rules(const ClusterState& cluster,
                                             const std::set<ServiceName>& touched) {
  unacknowledged_.insert(touched.begin(), touched.end());
  // Without a change there is no transaction that would meet what somebody else did.
  if (unacknowledged_.empty()) {
    if (const Result<> looked = backend_.look(); !looked) {
      return fail(looked.error(), std::string(to_text(family_)));
    }
  }
  Result<SyncReport> report = backend_.in_doubt()
                                  ? resync(cluster)
                                  : sync_touched(cluster, std::set<ServiceName>(unacknowledged_));
  // Somebody else changed something meanwhile: look at what is there now, and go on from that.
  if (!report && report.error().code == Errc::Expired) report = resync(cluster);
  return report;
}

RuleModel FamilyProxier::applied_rules_of(const std::set<ServiceName>& touched,
                                          const RuleModel& wanted) const {
  RuleModel rules;
  const auto take = [&](const ServiceName& name) {
    const auto [first, last] = ports_of(applied_, name);
    rules.insert(first, last);
  };
  for (const ServiceName& name : touched) take(name);
  for (const auto& [name, port] : wanted) take(name.service);
  return rules;
}

const NodeModel& FamilyProxier::desired_node(const ClusterState& cluster) {
  if (std::exchange(node_revision_, cluster.node_revision()) == cluster.node_revision()) {
    return desired_node_;
  }
  NodeRead read = node_model(config_, cluster.node(), family_);
  desired_node_ = std::move(read.model);
  if (read.problems != reported_of_node_) {
    for (const std::string& problem : read.problems) spdlog::warn("{}", problem);
    reported_of_node_ = std::move(read.problems);
  }
  return desired_node_;
}

void FamilyProxier::acknowledge(const RuleDiff& changes) {
  for (const auto& [name, change] : changes.changes) {
    no_local_endpoints_.subtract(change.before);
    no_local_endpoints_.add(change.after);
    if (change.after.empty()) {
      applied_.erase(name);
    } else {
      applied_.insert_or_assign(name, change.after);
    }
  }
}

Result<SyncReport> FamilyProxier::sync_touched(const ClusterState& cluster,
                                               const std::set<ServiceName>& touched) {
  const TimePoint started = clock_.now();
  const RuleModel wanted = desired(cluster, touched);
  RuleDiff changes = diff(applied_rules_of(touched, wanted), wanted);
  const NodeModel& node = desired_node(cluster);
  if (node != applied_node_) changes.node = node;
  if (changes.empty()) {
    unacknowledged_.clear();
    return SyncReport{};
  }
  const std::unique_ptr<Plan> plan = backend_.plan(changes);
  Result<SyncReport> report = apply(*plan, started);
  if (!report) return report;
  udp_changes_.push_back(udp_changes(family_, changes));
  acknowledge(changes);
  applied_node_ = node;
  unacknowledged_.clear();
  return report;
}

Result<SyncReport> FamilyProxier::resync(const ClusterState& cluster) {
  const TimePoint started = clock_.now();
  RuleModel wanted = desired(cluster, everything(cluster));
  const NodeModel& node = desired_node(cluster);
  const TimePoint read = clock_.now();
  const Result<std::unique_ptr<Plan>> plan = backend_.plan_resync(wanted, node);
  if (!plan) return fail(plan.error(), std::string(to_text(family_)));
  std::vector<Plan::GoneFrontend> gone = (*plan)->gone_frontends();
  Result<SyncReport> report = apply(**plan, read);
  if (!report) return report;
  report->compute += read - started;
  report->resyncs = 1;
  udp_changes_.push_back(udp_changes(family_, wanted, node, std::move(gone)));
  no_local_endpoints_ = {};
  for (const auto& [name, port] : wanted) no_local_endpoints_.add(port);
  applied_ = std::move(wanted);
  applied_node_ = node;
  unacknowledged_.clear();
  return report;
}

Result<SyncReport> FamilyProxier::apply(Plan& plan, TimePoint started) {
  SyncReport report;
  report.size = plan.size();
  report.transactions = report.size.empty() ? 0 : 1;
  const TimePoint planned = clock_.now();
  if (Result<> applied = plan.apply(); !applied) {
    return fail(applied.error(), std::string(to_text(family_)));
  }
  report.compute = planned - started;
  report.kernel = clock_.now() - planned;
  return report;
}

Result<SyncReport> FamilyProxier::cleanup() {
  const TimePoint started = clock_.now();
  Result<SyncReport> report = remove_idle_chains();
  note_outcome(FamilyOutcome::Kind::Cleanup, started, report);
  return report;
}

Result<SyncReport> FamilyProxier::remove_idle_chains() {
  if (backend_.in_doubt()) return SyncReport{};  // the resync to come sees to it
  const TimePoint started = clock_.now();
  const std::unique_ptr<Plan> plan = backend_.plan_cleanup();
  if (!plan) return SyncReport{};
  return apply(*plan, started);
}

Result<FamilyProxier::Preview> FamilyProxier::preview(const ClusterState& cluster,
                                                      const std::set<ServiceName>& touched) {
  unacknowledged_.insert(touched.begin(), touched.end());
  const Result<std::unique_ptr<Plan>> plan =
      backend_.plan_resync(desired(cluster, everything(cluster)), desired_node(cluster));
  if (!plan) return fail(plan.error(), std::string(to_text(family_)));
  return Preview{(*plan)->to_text(), (*plan)->size()};
}

// Also those that are gone by now: their claims are still to be withdrawn.
std::set<ServiceName> FamilyProxier::everything(const ClusterState& cluster) const {
  std::set<ServiceName> all = cluster.names();
  all.insert(unacknowledged_.begin(), unacknowledged_.end());
  return all;
}

// Claims first, all of them, then the rules: who loses or wins a frontend by the claim of a touched
// Service is touched as well.
RuleModel FamilyProxier::desired(const ClusterState& cluster,
                                 const std::set<ServiceName>& touched) {
  std::set<ServiceName> affected;
  std::map<ServiceName, ServiceRules> rules;
  for (const ServiceName& name : touched) {
    ServiceRules own = cluster.rules_of(name, family_);
    affected.merge(claims_.claim(name, own.creation_timestamp, own.ports));
    rules.emplace(name, std::move(own));
  }
  for (const ServiceName& name : affected) {
    if (!rules.contains(name)) rules.emplace(name, cluster.rules_of(name, family_));
  }
  unacknowledged_.merge(affected);
  RuleModel model;
  for (auto& [name, own] : rules) {
    std::vector<std::string> lost = claims_.keep_owned(own.ports);
    std::move(lost.begin(), lost.end(), std::back_inserter(own.problems));
    report(name, std::move(own.problems));
    model.merge(own.ports);
  }
  return model;
}

void FamilyProxier::report(const ServiceName& name, std::vector<std::string> problems) {
  const auto before = reported_.find(name);
  if (before == reported_.end() ? problems.empty() : before->second == problems) return;
  for (const std::string& problem : problems) spdlog::warn("{}", problem);
  if (problems.empty()) {
    reported_.erase(before);
  } else {
    reported_.insert_or_assign(name, std::move(problems));
  }
}

}  // namespace mkp
