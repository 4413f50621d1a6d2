#pragma once

#include <map>
#include <optional>

#include "proxy/slice_endpoints.h"
#include "proxy/types.h"

namespace mkp {

// A node may reach its API server through the rules that it makes itself, for the Service
// default/kubernetes. Were that Service to lose its endpoints for a moment, the node would cut
// itself off from the news of their return. So the slices that last had an endpoint stay in use
// until others have one. Belongs to the sync thread.
class ApiServerSlices {
 public:
  // `address`: where this node reaches the API server; nothing when that is no address but a name.
  explicit ApiServerSlices(std::optional<IpAddress> address) : address_(address) {}

  // To be called with the Service, which may be null, and its slices whenever one of them changed.
  void note(const Service* service, const Slices& slices);

  // The slices to use for this Service instead of its own; null: its own.
  const Slices* instead(const ServiceName& name, IpFamily family) const;

  static const ServiceName& service_name();

 private:
  std::optional<IpAddress> address_;
  bool is_our_way_ = false;  // the address is one of the Service's
  std::map<IpFamily, Slices> last_usable_;
  std::map<IpFamily, bool> is_empty_;
};

}  // namespace mkp
