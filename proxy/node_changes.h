#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/objects.h"
#include "proxy/node_eligibility.h"
#include "proxy/node_model.h"

namespace mkp {

// What is known of this node and of the cluster's ranges, kept up to date from its Node object, the
// ServiceCIDR objects and the addresses of its interfaces; says whether it changed since the last
// take(). Belongs to the loop thread.
class NodeChanges {
 public:
  // `bind_address`: what the administrator says is the node's address, in its family; nothing to
  // leave that to the Node object.
  NodeChanges(std::string node_name, std::optional<IpAddress> bind_address);

  // From informers' handlers: null `after` for a deletion. A Node that is gone changes nothing: the
  // pods are still there, and so may the Node soon be.
  void note(const std::shared_ptr<const Node>& before, const std::shared_ptr<const Node>& after);
  void note(const std::shared_ptr<const ServiceCidr>& before,
            const std::shared_ptr<const ServiceCidr>& after);
  // All addresses of the node's interfaces, sorted.
  void note_addresses(std::vector<IpAddress> addresses);

  bool empty() const { return !changed_; }
  const NodeFacts& facts() const { return facts_; }
  const NodeEligibility& eligibility() const { return eligibility_; }
  bool knows_pod_cidrs() const { return !facts_.node.pod_cidrs.empty(); }
  // Null when nothing changed.
  std::shared_ptr<const NodeFacts> take();

 private:
  void become(NodeFacts facts);
  std::vector<IpAddress> own_addresses(const Node& node) const;

  std::string node_name_;
  std::optional<IpAddress> bind_address_;
  NodeFacts facts_;
  NodeEligibility eligibility_;
  // By name of the object: two objects may name one range, and one of them may go.
  std::map<std::string, std::vector<IpPrefix>> service_cidrs_;
  bool changed_ = true;  // the name alone is news to the first sync
};

}  // namespace mkp
