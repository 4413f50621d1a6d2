#include "proxy/udp_diff.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace mkp {
namespace {

using Changes = std::map<Frontend, UdpChanges::Change>;

void unite(std::vector<Endpoint>& into, const std::vector<Endpoint>& more) {
  std::vector<Endpoint> all;
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(all));
  into = std::move(all);
}

// Wherever the port's flows may have been led.
std::vector<Endpoint> led_to(const ServicePort& port) {
  std::vector<Endpoint> all = port.serving;
  unite(all, port.cluster_endpoints());
  unite(all, port.local_endpoints());
  return all;
}

UdpChanges::Change& at(Changes& changes, const Frontend& frontend) {
  return changes.try_emplace(frontend, UdpChanges::Change{frontend, {}, std::nullopt})
      .first->second;
}

UdpChanges listed(IpFamily family, Changes changes) {
  UdpChanges result;
  result.family = family;
  result.frontends.reserve(changes.size());
  for (auto& [frontend, change] : changes) result.frontends.push_back(std::move(change));
  return result;
}

}  // namespace

UdpChanges udp_changes(IpFamily family, const RuleDiff& diff) {
  Changes changes;
  for (const auto& [name, change] : diff.changes) {
    if (name.protocol != Protocol::Udp) continue;
    for (const ServedFrontend& served : change.before.frontends) {
      unite(at(changes, served.frontend).before, led_to(change.before));
    }
    for (const ServedFrontend& served : change.after.frontends) {
      at(changes, served.frontend).after = change.after.serving;
    }
  }
  UdpChanges result = listed(family, std::move(changes));
  if (diff.node) result.node_port_ips = diff.node->node_port_ips;
  return result;
}

UdpChanges udp_changes(IpFamily family, const RuleModel& model, const NodeModel& node,
                       std::vector<Plan::GoneFrontend> gone) {
  Changes changes;
  for (Plan::GoneFrontend& one : gone) {
    if (one.frontend.protocol != Protocol::Udp) continue;
    at(changes, one.frontend).before = std::move(one.endpoints);
  }
  for (const auto& [name, port] : model) {
    if (name.protocol != Protocol::Udp) continue;
    for (const ServedFrontend& served : port.frontends) {
      at(changes, served.frontend).after = port.serving;
    }
  }
  UdpChanges result = listed(family, std::move(changes));
  result.node_port_ips = node.node_port_ips;
  result.complete = true;
  return result;
}

}  // namespace mkp
