#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proxy/api_server_slices.h"
#include "proxy/endpoint_changes.h"
#include "proxy/node_model.h"
#include "proxy/rule_model.h"
#include "proxy/service_changes.h"
#include "proxy/slice_endpoints.h"

namespace mkp {

// What crosses from the loop thread to the sync thread: everything that changed since the last
// sync.
struct ClusterChanges {
  std::vector<ServiceChange> services;
  std::vector<EndpointChange> slices;
  std::shared_ptr<const NodeFacts> node;  // null: unchanged

  bool empty() const { return services.empty() && slices.empty() && !node; }
};

// One Service in one family, worked out from the objects.
struct ServiceRules {
  RuleModel ports;
  // Whose claim on a frontend is older; seconds since 1970.
  std::int64_t creation_timestamp = 0;
  // What could not be used, each a sentence that names object and field.
  std::vector<std::string> problems;
};

// The Services and EndpointSlices that the model is made from, shared with the informers' stores.
// Belongs to the sync thread.
class ClusterState {
 public:
  // `api_server`: see ApiServerSlices.
  explicit ClusterState(std::optional<IpAddress> api_server = std::nullopt)
      : api_server_slices_(api_server) {}

  // Takes the changes in; says which Services they touch.
  std::set<ServiceName> apply(ClusterChanges changes);

  // What the node should forward for this Service in this family, by the objects alone: frontends
  // that another Service claims too are still in it. Empty for a Service that does not exist or has
  // no address of the family.
  ServiceRules rules_of(const ServiceName& name, IpFamily family) const;

  // Every Service that exists, or that slices speak of.
  std::set<ServiceName> names() const;

  // Null when there is none.
  const Service* service(const ServiceName& name) const;
  // The slices of a Service; null when there are none.
  const Slices* slices_of(const ServiceName& name) const;

  const NodeFacts& node() const { return node_; }
  // Another number each time that node() became something else; never 0.
  std::uint64_t node_revision() const { return node_revision_; }

 private:
  struct Entry {
    std::shared_ptr<const Service> service;
    Slices slices;
  };

  std::map<ServiceName, Entry> services_;
  ApiServerSlices api_server_slices_;
  NodeFacts node_;
  std::uint64_t node_revision_ = 1;
};

}  // namespace mkp
