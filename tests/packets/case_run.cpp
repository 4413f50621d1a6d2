#include "tests/packets/case_run.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "tests/packets/flow_check.h"
#include "tests/packets/simulated_node.h"

namespace mkp::packets {
namespace {

// How long a process that is kept running may take for what no Service shows the end of: flows in
// connection tracking, and the node's own addresses.
constexpr std::chrono::seconds kPatience(5);

using Mismatch = Result<std::optional<std::string>>;

class Run {
 public:
  Run(const Case& tested, const CaseRun& settings, SimulatedNode& node, ClusterDirectory& cluster)
      : settings_(settings),
        node_(node),
        cluster_(cluster),
        node_object_(tested.node),
        proxy_(settings.program, settings.following, cluster,
               {.ipv6 = tested.node.ipv6, .unserved = tested.unserved}),
        check_(node, settings.mode) {}

  Result<> step(const Step& step) {
    Result<> changed = change(step);
    if (!changed) return changed;
    Result<> synced = proxy_.sync();
    if (!synced) return synced;
    const bool addresses_changed =
        !step.node_addresses.add.empty() || !step.node_addresses.remove.empty();
    for (const Flow& flow : step.flows) {
      if (flow.mode.value_or(settings_.mode) != settings_.mode) continue;
      ++flows_;
      const Mismatch wrong = mismatch(flow, addresses_changed || flow.source_port.has_value());
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
  Result<> change(const Step& step) {
    if (step.restart) {
      Result<> stopped = proxy_.stop(SIGTERM);
      if (!stopped) return stopped;
    }
    if (step.settings) {
      Result<> written = cluster_.write_config(*step.settings, settings_.mode, node_object_.name);
      if (!written) return written;
    }
    Result<> changed = change_node(step);
    if (!changed) return changed;
    if (step.service_cidrs) {
      Result<> set = cluster_.set_service_cidrs(*step.service_cidrs);
      if (!set) return set;
    }
    Result<> applied = cluster_.apply(step.apply);
    if (!applied) return applied;
    return cluster_.remove(step.remove);
  }

  Result<> change_node(const Step& step) {
    for (const IpAddress& address : step.node_addresses.add) {
      Result<> added = node_.add_node_address(address);
      if (!added) return added;
    }
    for (const IpAddress& address : step.node_addresses.remove) {
      Result<> removed = node_.remove_node_address(address);
      if (!removed) return removed;
    }
    if (!step.node) return {};
    node_object_.zone = step.node->zone;
    node_object_.pod_cidrs = step.node->pod_cidrs;
    return cluster_.write_node(node_object_);
  }

  // `may_follow`: what decides about the flow may take effect a little after the objects have.
  Mismatch mismatch(const Flow& flow, bool may_follow) {
    const std::string service_port = cluster_.find(flow.to, flow.transport).value_or("");
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      Mismatch wrong = check_.mismatch(flow, service_port);
      if (!wrong || !*wrong || !may_follow || settings_.following == Following::RunOnce ||
          std::chrono::steady_clock::now() > deadline) {
        return wrong;
      }
    }
  }

  const CaseRun& settings_;
  SimulatedNode& node_;
  ClusterDirectory& cluster_;
  NodeUnderTest node_object_;
  ProxyUnderTest proxy_;
  FlowCheck check_;
  int flows_ = 0;
  std::vector<std::string> mismatches_;
};

Result<std::vector<std::string>> try_case(const Case& tested, const CaseRun& settings) {
  Result<std::unique_ptr<ClusterDirectory>> cluster = ClusterDirectory::create();
  if (!cluster) return tl::unexpected(cluster.error());
  Result<std::unique_ptr<SimulatedNode>> node = SimulatedNode::create(
      tested.node.ips, tested.node.ipv6 ? SimulatedNode::Ipv6::On : SimulatedNode::Ipv6::Off);
  if (!node) return tl::unexpected(node.error());
  Result<> written = (*cluster)->write_config(tested.settings, settings.mode, tested.node.name);
  if (!written) return tl::unexpected(written.error());
  written = (*cluster)->write_node(tested.node);
  if (!written) return tl::unexpected(written.error());

  Run run(tested, settings, **node, **cluster);
  for (const Step& step : tested.steps) {
    const Result<> done = run.step(step);
    if (!done) return fail(done.error(), step.about);
  }
  if (run.flows() == 0) return fail(Errc::Invalid, "no flow to check");
  return run.take_mismatches();
}

}  // namespace

bool applies(const Case& tested, Mode mode) {
  return std::find(tested.modes.begin(), tested.modes.end(), mode) != tested.modes.end();
}

std::vector<std::string> run_case(const Case& tested, const CaseRun& run) {
  Result<std::vector<std::string>> mismatches = try_case(tested, run);
  if (!mismatches) return {mismatches.error().what};
  return *mismatches;
}

}  // namespace mkp::packets
