#pragma once

#include <string>
#include <vector>

#include "configs/config.h"
#include "proxy/rule_model.h"
#include "proxy/topology.h"

namespace mkp {

// What is known of this node and of the cluster's ranges, as last heard.
struct NodeFacts {
  NodeInfo node;
  // Of the node's interfaces, loopback's too; sorted.
  std::vector<IpAddress> addresses;
  // Of all ServiceCIDR objects.
  std::vector<IpPrefix> service_cidrs;

  bool operator==(const NodeFacts&) const = default;
};

struct NodeRead {
  NodeModel model;
  // What the settings ask for and this node cannot give, each a sentence.
  std::vector<std::string> problems;
};

// The prefixes within which an address of the node answers on node ports, those of loopback too.
// None: all of them do.
std::vector<IpPrefix> node_port_prefixes(const Config& config, const NodeInfo& node,
                                         IpFamily family);

// What the settings mean on this node in one family.
NodeRead node_model(const Config& config, const NodeFacts& facts, IpFamily family);

}  // namespace mkp
