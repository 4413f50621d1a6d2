#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "informer/event_handler.h"
#include "informer/object_source.h"
#include "informer/shared_informer.h"
#include "proxy/cluster_state.h"
#include "proxy/endpoint_changes.h"
#include "proxy/feed_trouble.h"
#include "proxy/node_changes.h"
#include "proxy/service_changes.h"
#include "runner/clock.h"

namespace mkp {

// The cluster as far as a proxy follows it: an informer for each kind, and behind them the trackers
// that fold what they tell into changes. Belongs to the loop thread.
class ClusterFeed {
 public:
  // Where the objects of a kind come from.
  using Sources = std::function<ObjectSource&(ObjectKind)>;

  // `bind_address`: see NodeChanges.
  ClusterFeed(const Sources& sources, Clock& clock, std::string node_name,
              std::optional<IpAddress> bind_address);

  // Called whenever a tracker was told of something.
  void on_change(std::function<void()> call) { on_change_ = std::move(call); }

  // Called whenever a kind was listed as a whole, but for the first time.
  void on_relist(std::function<void(ObjectKind)> call) { on_relist_ = std::move(call); }

  // Lists and watches, for ever.
  asio::awaitable<void> run();

  // Returns once the trackers know enough for rules: all Services and EndpointSlices, and this node
  // and the ServiceCIDRs unless the source does not know such, or has not given them five seconds
  // later. Never does when run() ends before.
  asio::awaitable<void> wait_for_sync();

  // Whether something that the sources gave out has not reached the trackers yet.
  bool has_pending() const;

  // Whether take() would give anything.
  bool has_changes() const { return !services_.empty() || !endpoints_.empty() || !node_.empty(); }
  ClusterChanges take();

  // How much the trackers have heard, and how much of that take() would give.
  struct Figures {
    std::uint64_t services_total = 0;
    std::uint64_t services_pending = 0;
    std::uint64_t slices_total = 0;
    std::uint64_t slices_pending = 0;
  };
  Figures figures() const {
    return {services_.noted(), services_.size(), endpoints_.noted(), endpoints_.size()};
  }

  // As last heard.
  const NodeFacts& node_facts() const { return node_.facts(); }
  const NodeEligibility& node_eligibility() const { return node_.eligibility(); }

  // Whether this node's Node object has podCIDRs, as last heard.
  bool knows_pod_cidrs() const { return node_.knows_pod_cidrs(); }

  // The addresses of this node's interfaces, sorted: as they are now.
  void note_addresses(std::vector<IpAddress> addresses);

 private:
  template <class Kind>
  SharedInformer::Options informer_options(ObjectKind kind);

  ServiceChanges services_;
  EndpointChanges endpoints_;
  NodeChanges node_;
  std::function<void()> on_change_ = [] {};
  std::function<void(ObjectKind)> on_relist_ = [](ObjectKind) {};
  Clock& clock_;
  FeedTrouble service_trouble_;
  FeedTrouble slice_trouble_;
  FeedTrouble node_trouble_;
  FeedTrouble cidr_trouble_;

  ResourceEventHandlerFuncs service_handler_;
  ResourceEventHandlerFuncs slice_handler_;
  ResourceEventHandlerFuncs node_handler_;
  ResourceEventHandlerFuncs cidr_handler_;
  SharedInformer service_informer_;
  SharedInformer slice_informer_;
  SharedInformer node_informer_;
  SharedInformer cidr_informer_;
  SharedInformer::Registration service_registration_;
  SharedInformer::Registration slice_registration_;
  SharedInformer::Registration node_registration_;
  SharedInformer::Registration cidr_registration_;
};

}  // namespace mkp
