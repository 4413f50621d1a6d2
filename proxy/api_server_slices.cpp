#include "proxy/api_server_slices.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace mkp {
namespace {

bool has_endpoint(const Slices& slices, IpFamily family) {
  const AddressType type = family == IpFamily::Ipv4 ? AddressType::Ipv4 : AddressType::Ipv6;
  const auto usable = [](const EndpointSlice::Endpoint& endpoint) {
    return endpoint.ready || (endpoint.serving && endpoint.terminating);
  };
  return std::any_of(slices.begin(), slices.end(), [&](const auto& entry) {
    const EndpointSlice& slice = *entry.second;
    return slice.address_type == type &&
           std::any_of(slice.endpoints.begin(), slice.endpoints.end(), usable);
  });
}

}  // namespace

const ServiceName& ApiServerSlices::service_name() {
  static const ServiceName kName{"default", "kubernetes"};
  return kName;
}

void ApiServerSlices::note(const Service* service, const Slices& slices) {
  if (!address_) return;
  const auto is_address = [this](const std::string& text) {
    return parse_ip_address(text) == address_;
  };
  is_our_way_ = service != nullptr &&
                std::any_of(service->cluster_ips.begin(), service->cluster_ips.end(), is_address);
  for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
    const bool empty = !has_endpoint(slices, family);
    const bool lost = empty && !is_empty_[family] && last_usable_.contains(family);
    is_empty_[family] = empty;
    if (!empty) last_usable_[family] = slices;
    if (lost && is_our_way_ && family == address_->family) {
      spdlog::warn(
          "Service {} has no endpoint, but this node reaches its API server through it: the last "
          "endpoints stay in use until there are others",
          to_text(service_name()));
    }
  }
}

const Slices* ApiServerSlices::instead(const ServiceName& name, IpFamily family) const {
  if (!is_our_way_ || name != service_name() || address_->family != family) return nullptr;
  const auto empty = is_empty_.find(family);
  const auto last = last_usable_.find(family);
  const bool kept = empty != is_empty_.end() && empty->second && last != last_usable_.end();
  return kept ? &last->second : nullptr;
}

}  // namespace mkp
