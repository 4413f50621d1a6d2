#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "informer/manifest_decode.h"
#include "proxy/cluster_state.h"
#include "tests/proxy/rule_literals.h"

namespace mkp {

// A cluster made from the manifests of a conformance case, decoded and tracked as the daemon does
// it.
class DataCluster {
 public:
  void node(const std::string& name, const std::string& zone, std::vector<IpAddress> ips) {
    NodeFacts facts;
    facts.node.name = name;
    facts.node.zone = zone;
    facts.node.ips = ips;
    facts.addresses = std::move(ips);
    node_ = std::make_shared<const NodeFacts>(std::move(facts));
  }
  void apply(const std::string& manifests) {
    for (const Manifest& manifest : decode_manifests("case.yaml", manifests).manifests) {
      if (!manifest.left_out) put(manifest.kind, manifest.key, manifest.object);
    }
  }
  // Of these manifests only kind and name count.
  void remove(const std::string& manifests) {
    for (const Manifest& manifest : decode_manifests("case.yaml", manifests).manifests) {
      put(manifest.kind, manifest.key, nullptr);
    }
  }

  // Takes what changed over into the state, as a sync does; says which Services the changes name,
  // of slices those of IPv4.
  std::set<std::string> sync() {
    ClusterChanges changes{services_.take(), slices_.take(), std::exchange(node_, nullptr)};
    std::set<std::string> named;
    for (const ServiceChange& change : changes.services) named.insert(to_text(change.name));
    for (const EndpointChange& change : changes.slices) {
      for (const auto& slice : {change.previous, change.current}) {
        if (slice && slice->address_type == AddressType::Ipv4)
          named.insert(slice->metadata.name_space + "/" + slice->service_name);
      }
    }
    (void)state_.apply(std::move(changes));
    return named;
  }
  bool has_pending() const { return !services_.empty() || !slices_.empty(); }
  const ClusterState& state() const { return state_; }
  RuleModel model(IpFamily family) const {
    RuleModel all;
    for (const ServiceName& name : state_.names()) all.merge(state_.rules_of(name, family).ports);
    return all;
  }
  const std::map<std::string, std::shared_ptr<const Service>>& services() const {
    return known_services_;
  }

 private:
  void put(ObjectKind kind, const std::string& key, const std::shared_ptr<Object>& object) {
    if (kind == ObjectKind::Service) {
      note(services_, known_services_, key, std::dynamic_pointer_cast<const Service>(object));
    } else if (kind == ObjectKind::EndpointSlice) {
      note(slices_, known_slices_, key, std::dynamic_pointer_cast<const EndpointSlice>(object));
    }
  }
  template <class Tracker, class Kind>
  static void note(Tracker& tracker, std::map<std::string, std::shared_ptr<const Kind>>& known,
                   const std::string& key, std::shared_ptr<const Kind> now) {
    std::shared_ptr<const Kind>& before = known[key];
    tracker.note(std::exchange(before, now), now);
    if (!now) known.erase(key);
  }

  ServiceChanges services_;
  EndpointChanges slices_;
  std::shared_ptr<const NodeFacts> node_;
  std::map<std::string, std::shared_ptr<const Service>> known_services_;
  std::map<std::string, std::shared_ptr<const EndpointSlice>> known_slices_;
  ClusterState state_;
};

}  // namespace mkp
