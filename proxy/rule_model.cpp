#include "proxy/rule_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace mkp {
namespace {

const std::vector<Endpoint> kNoEndpoints;

Refusal refusal(bool any, TrafficPolicy policy, const std::vector<Endpoint>& local) {
  if (!any) return Refusal::Reject;
  return policy == TrafficPolicy::Local && local.empty() ? Refusal::Drop : Refusal::None;
}

template <class T>
std::string list_text(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) {
    if (!text.empty()) text += ' ';
    text += to_text(item);
  }
  return text.empty() ? "-" : text;
}

std::string frontends_text(const ServicePort& port) {
  std::vector<Frontend> frontends;
  frontends.reserve(port.frontends.size());
  for (const ServedFrontend& served : port.frontends) frontends.push_back(served.frontend);
  return list_text(frontends);
}

std::string lists_text(const EndpointSets& sets) {
  std::string text;
  if (sets.cluster) text = list_text(*sets.cluster);
  if (sets.local)
    text += fmt::format("{}local {}", text.empty() ? "" : "; ", list_text(*sets.local));
  return text;
}

std::string line(char sign, const ServicePortName& name, const ServicePort& port) {
  std::string text =
      fmt::format("{} {} {}: {} -> {}; hairpin {}", sign, to_text(name), to_text(name.protocol),
                  frontends_text(port), lists_text(port.endpoints), list_text(port.hairpin));
  if (port.internal_policy == TrafficPolicy::Local) text += "; internalTrafficPolicy Local";
  if (port.external_policy == TrafficPolicy::Local) text += "; externalTrafficPolicy Local";
  if (port.affinity_seconds) text += fmt::format("; ClientIP for {} s", *port.affinity_seconds);
  if (!port.allowed_sources.empty()) text += "; from " + list_text(port.allowed_sources);
  return text + "\n";
}

}  // namespace

std::string_view to_text(FrontendKind kind) {
  switch (kind) {
    case FrontendKind::ClusterIp:
      return "ClusterIP";
    case FrontendKind::LoadBalancerIp:
      return "load-balancer IP";
    case FrontendKind::ExternalIp:
      return "external IP";
    case FrontendKind::NodePort:
      return "node port";
  }
  return "";
}

bool ServicePort::empty() const {
  static const ServicePort nothing;
  return *this == nothing;
}

const std::vector<Endpoint>& ServicePort::cluster_endpoints() const {
  return endpoints.cluster ? *endpoints.cluster : kNoEndpoints;
}

const std::vector<Endpoint>& ServicePort::local_endpoints() const {
  return endpoints.local ? *endpoints.local : kNoEndpoints;
}

Refusal ServicePort::internal_refusal() const {
  return refusal(endpoints.any, internal_policy, local_endpoints());
}

Refusal ServicePort::external_refusal() const {
  return refusal(endpoints.any, external_policy, local_endpoints());
}

RuleDiff diff(const RuleModel& applied, const RuleModel& desired) {
  RuleDiff result;
  for (const auto& [name, before] : applied) {
    const auto after = desired.find(name);
    if (after == desired.end()) {
      result.changes.emplace(name, RuleDiff::Change{before, {}});
    } else if (after->second != before) {
      result.changes.emplace(name, RuleDiff::Change{before, after->second});
    }
  }
  for (const auto& [name, after] : desired) {
    // A port that nothing is left of is as good as none.
    if (applied.contains(name) || after.empty()) continue;
    result.changes.emplace(name, RuleDiff::Change{{}, after});
  }
  return result;
}

std::string to_text(const RuleDiff& diff) {
  std::string text;
  if (diff.node) {
    text += fmt::format("node: node ports at {}{}; ServiceCIDRs {}\n",
                        list_text(diff.node->node_port_ips),
                        diff.node->node_ports_anywhere ? " and anywhere else" : "",
                        list_text(diff.node->service_cidrs));
  }
  for (const auto& [name, change] : diff.changes) {
    if (!change.before.empty()) text += line('-', name, change.before);
    if (!change.after.empty()) text += line('+', name, change.after);
  }
  return text;
}

void NoLocalEndpoints::add(const ServicePort& port) {
  internal += port.internal_refusal() == Refusal::Drop ? 1 : 0;
  external += port.external_refusal() == Refusal::Drop ? 1 : 0;
}

void NoLocalEndpoints::subtract(const ServicePort& port) {
  internal -= port.internal_refusal() == Refusal::Drop ? 1 : 0;
  external -= port.external_refusal() == Refusal::Drop ? 1 : 0;
}

}  // namespace mkp
