#include "proxy/node_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mkp {
namespace {

std::vector<IpPrefix> of_family(const std::vector<IpPrefix>& prefixes, IpFamily family) {
  std::vector<IpPrefix> kept;
  std::copy_if(prefixes.begin(), prefixes.end(), std::back_inserter(kept),
               [&](const IpPrefix& prefix) { return prefix.address.family == family; });
  return kept;
}

LocalPods local_pods(const Config& config, const NodeInfo& node, IpFamily family) {
  LocalPods pods;
  switch (config.detect_local_mode) {
    case DetectLocalMode::ClusterCidr:
      pods.sources = of_family(config.cluster_cidr, family);
      break;
    case DetectLocalMode::NodeCidr:
      pods.sources = of_family(node.pod_cidrs, family);
      break;
    case DetectLocalMode::BridgeInterface:
      pods.interface = config.detect_local.bridge_interface;
      break;
    case DetectLocalMode::InterfaceNamePrefix:
      pods.interface_prefix = config.detect_local.interface_name_prefix;
      break;
  }
  pods.sources = without_nested(std::move(pods.sources));
  return pods;
}

void read_node_ports(const Config& config, const NodeFacts& facts, IpFamily family,
                     NodeRead& read) {
  const std::vector<IpPrefix> prefixes = node_port_prefixes(config, facts.node, family);
  for (const IpPrefix& prefix : prefixes) {
    if (!is_loopback(prefix.address)) continue;
    read.problems.push_back(fmt::format(
        "nodePortAddresses: {} is of loopback, which never answers on node ports: of the addresses "
        "asked for, only others do",
        to_text(prefix)));
  }
  if (prefixes.empty() && !config.node_port_addresses.prefixes.empty()) {
    read.problems.push_back(fmt::format(
        "nodePortAddresses names no {0} prefix, so {0} node ports are open at every {0} "
        "address of this node: add one to have it otherwise",
        to_text(family)));
  }
  const bool anywhere =
      prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                      [](const IpPrefix& prefix) { return prefix.length == 0; });
  read.model.node_ports_anywhere = anywhere;
  for (const IpAddress& ip : facts.addresses) {
    if (ip.family != family || is_loopback(ip)) continue;
    const bool asked_for = std::any_of(prefixes.begin(), prefixes.end(),
                                       [&](const IpPrefix& one) { return contains(one, ip); });
    if (anywhere || asked_for) read.model.node_port_ips.push_back(ip);
  }
  // Of loopback alone, what was said above is all that there is to say.
  const auto wanted = std::find_if(prefixes.begin(), prefixes.end(), [](const IpPrefix& prefix) {
    return !is_loopback(prefix.address);
  });
  if (!anywhere && read.model.node_port_ips.empty() && wanted != prefixes.end()) {
    read.problems.push_back(fmt::format(
        "no {} address of this node is within {}, which nodePortAddresses asks for: node ports get "
        "no {} traffic until an interface has such an address, or nodePortAddresses is changed",
        to_text(family), to_text(*wanted), to_text(family)));
  }
}

}  // namespace

std::vector<IpPrefix> node_port_prefixes(const Config& config, const NodeInfo& node,
                                         IpFamily family) {
  const NodePortAddresses& asked = config.node_port_addresses;
  std::vector<IpPrefix> prefixes = of_family(asked.prefixes, family);
  const IpAddress own = node_ip(node, family);
  // Where it is not known, the node's own is as if it were not asked for.
  if (asked.primary && !is_loopback(own)) prefixes.insert(prefixes.begin(), prefix_of(own, 128));
  return prefixes;
}

NodeRead node_model(const Config& config, const NodeFacts& facts, IpFamily family) {
  NodeRead read;
  read.model.local_pods = local_pods(config, facts.node, family);
  if (config.detect_local_mode == DetectLocalMode::NodeCidr &&
      read.model.local_pods.sources.empty()) {
    read.problems.push_back(fmt::format(
        "Node {} has no {} podCIDR (yet), which detectLocalMode NodeCIDR goes by: until it has, "
        "nobody's address is replaced on the way to a cluster IP, so clients outside the cluster "
        "may get no answer, and pods use frontends of externalTrafficPolicy Local as those outside "
        "do",
        facts.node.name, to_text(family)));
  }
  read_node_ports(config, facts, family, read);
  read.model.service_cidrs = without_nested(of_family(facts.service_cidrs, family));
  return read;
}

}  // namespace mkp
