#include "tests/packets/case_run.h"

#include <fmt/format.h>

#include "tests/packets/flow_check.h"
#include "tests/packets/program.h"
#include "tests/packets/simulated_node.h"

namespace mkp::packets {
namespace {

Result<> change_objects(ClusterDirectory& cluster, const Step& step) {
  if (step.service_cidrs) {
    Result<> set = cluster.set_service_cidrs(*step.service_cidrs);
    if (!set) return set;
  }
  Result<> applied = cluster.apply(step.apply);
  if (!applied) return applied;
  return cluster.remove(step.remove);
}

// The program keeps nothing between two syncs but what is in the kernel, so each is a restart as
// well.
Result<> sync(const ClusterDirectory& cluster, const std::string& program) {
  const Result<std::string> said =
      run_program({program, "--config", cluster.config().string(), "--manifests",
                   cluster.manifests().string(), "--once"});
  if (!said) return tl::unexpected(said.error());
  return {};
}

class Run {
 public:
  Run(const CaseRun& settings, SimulatedNode& node, ClusterDirectory& cluster)
      : settings_(settings), cluster_(cluster), check_(node, settings.mode) {}

  Result<> step(const Step& step) {
    Result<> changed = change_objects(cluster_, step);
    if (!changed) return changed;
    Result<> synced = sync(cluster_, settings_.program);
    if (!synced) return synced;
    for (const Flow& flow : step.flows) {
      if (flow.mode.value_or(settings_.mode) != settings_.mode) continue;
      const std::optional<ClusterDirectory::ServicePort> service_port =
          cluster_.find(flow.to, flow.transport);
      if (!settings_.filter(flow, service_port)) continue;
      ++flows_;
      const Result<std::optional<std::string>> wrong =
          check_.mismatch(flow, service_port ? service_port->name : "");
      if (!wrong) return fail(wrong.error(), to_text(flow));
      if (const std::optional<std::string>& instead = *wrong) {
        mismatches_.push_back(fmt::format("{}: {}: {}", step.about, to_text(flow), *instead));
      }
    }
    return {};
  }

  int flows() const { return flows_; }
  std::vector<std::string> take_mismatches() { return std::move(mismatches_); }

 private:
  const CaseRun& settings_;
  ClusterDirectory& cluster_;
  FlowCheck check_;
  int flows_ = 0;
  std::vector<std::string> mismatches_;
};

Result<std::vector<std::string>> try_case(const Case& tested, const CaseRun& settings) {
  Result<std::unique_ptr<ClusterDirectory>> cluster = ClusterDirectory::create();
  if (!cluster) return tl::unexpected(cluster.error());
  Result<std::unique_ptr<SimulatedNode>> node = SimulatedNode::create(tested.node.ips);
  if (!node) return tl::unexpected(node.error());
  Result<> written = (*cluster)->write_config(tested.settings, settings.mode, tested.node.name);
  if (!written) return tl::unexpected(written.error());
  written = (*cluster)->write_node(tested.node);
  if (!written) return tl::unexpected(written.error());

  Run run(settings, **node, **cluster);
  for (const Step& step : tested.steps) {
    const Result<> done = run.step(step);
    if (!done) return fail(done.error(), step.about);
  }
  if (run.flows() == 0) return fail(Errc::Invalid, "no flow to check");
  return run.take_mismatches();
}

}  // namespace

std::vector<std::string> run_case(const Case& tested, const CaseRun& run) {
  Result<std::vector<std::string>> mismatches = try_case(tested, run);
  if (!mismatches) return {mismatches.error().what};
  return *mismatches;
}

}  // namespace mkp::packets
