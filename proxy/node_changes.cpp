#include "proxy/node_changes.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace mkp {
namespace {

std::vector<IpPrefix> pod_cidrs_of(const Node& node) {
  std::vector<IpPrefix> cidrs;
  for (const std::string& text : node.pod_cidrs) {
    if (const auto cidr = parse_ip_prefix(text)) {
      cidrs.push_back(*cidr);
    } else {
      spdlog::warn(
          "Node {}: spec.podCIDRs: \"{}\" is no CIDR and is passed over; a pod there may not reach "
          "its own Service, and by detectLocalMode NodeCIDR is no pod of this node",
          node.metadata.name, text);
    }
  }
  return cidrs;
}

std::vector<IpPrefix> ranges_of(const ServiceCidr& object) {
  std::vector<IpPrefix> ranges;
  for (const std::string& text : object.cidrs) {
    const std::optional<IpPrefix> range = parse_ip_prefix(text);
    // To drop what is addressed to anywhere but a Service would cut the node off.
    if (range && range->length != 0) {
      ranges.push_back(*range);
    } else {
      spdlog::warn(
          "ServiceCIDR {}: spec.cidrs: \"{}\" is no range of cluster IPs and is passed over; what "
          "is addressed there to no Service is not dropped",
          object.metadata.name, text);
    }
  }
  return ranges;
}

}  // namespace

NodeChanges::NodeChanges(std::string node_name, std::optional<IpAddress> bind_address)
    : node_name_(std::move(node_name)), bind_address_(bind_address) {
  facts_.node.name = node_name_;
  facts_.node.ips = own_addresses({});
}

std::vector<IpAddress> NodeChanges::own_addresses(const Node& node) const {
  std::vector<IpAddress> ips;
  if (bind_address_ && !is_unspecified(*bind_address_)) ips.push_back(*bind_address_);
  for (const auto* texts : {&node.internal_ips, &node.external_ips}) {
    for (const std::string& text : *texts) {
      if (const std::optional<IpAddress> ip = parse_ip_address(text)) ips.push_back(*ip);
    }
  }
  return ips;
}

void NodeChanges::become(NodeFacts facts) {
  if (facts == facts_) return;
  facts_ = std::move(facts);
  changed_ = true;
}

void NodeChanges::note(const std::shared_ptr<const Node>& before,
                       const std::shared_ptr<const Node>& after) {
  if (!after || after->metadata.name != node_name_) return;
  eligibility_.note(*after);
  NodeFacts facts = facts_;
  facts.node.zone = after->zone;
  facts.node.ips = own_addresses(*after);
  if (!before || before->pod_cidrs != after->pod_cidrs) {
    facts.node.pod_cidrs = pod_cidrs_of(*after);
  }
  become(std::move(facts));
}

void NodeChanges::note(const std::shared_ptr<const ServiceCidr>& before,
                       const std::shared_ptr<const ServiceCidr>& after) {
  if (before) service_cidrs_.erase(before->metadata.name);
  if (after) service_cidrs_.insert_or_assign(after->metadata.name, ranges_of(*after));
  NodeFacts facts = facts_;
  facts.service_cidrs.clear();
  for (const auto& [name, ranges] : service_cidrs_) {
    facts.service_cidrs.insert(facts.service_cidrs.end(), ranges.begin(), ranges.end());
  }
  become(std::move(facts));
}

void NodeChanges::note_addresses(std::vector<IpAddress> addresses) {
  NodeFacts facts = facts_;
  facts.addresses = std::move(addresses);
  become(std::move(facts));
}

std::shared_ptr<const NodeFacts> NodeChanges::take() {
  if (!std::exchange(changed_, false)) return nullptr;
  return std::make_shared<const NodeFacts>(facts_);
}

}  // namespace mkp
