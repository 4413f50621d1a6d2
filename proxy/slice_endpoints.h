#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "informer/objects.h"
#include "proxy/topology.h"
#include "proxy/types.h"

namespace mkp {

// The EndpointSlices of one Service, by name: of two that say different things of one endpoint, the
// later name counts.
using Slices = std::map<std::string, std::shared_ptr<const EndpointSlice>>;

// The endpoints of one Service port in one family, sorted: those under its port name and protocol,
// never by number. Of two entries for one address and port the later counts, unless it terminates:
// an address may be in use again before the former pod's object is gone.
std::vector<EndpointInfo> slice_endpoints(const Slices& slices, const std::string& port,
                                          Protocol protocol, IpFamily family);

// The same for every port that the slices offer, whether the Service has it or not.
std::map<ServicePortName, std::vector<EndpointInfo>> all_slice_endpoints(const ServiceName& service,
                                                                         const Slices& slices,
                                                                         IpFamily family);

// Distinct addresses of the Service that are on this node and ready, over all its ports: what a
// load balancer's health check asks for.
std::size_t local_ready_addresses(const Slices& slices, IpFamily family, const NodeInfo& node);

// What of the slices could not be used in that family, each a sentence that names object and field.
std::vector<std::string> slice_problems(const Slices& slices, IpFamily family);

}  // namespace mkp
