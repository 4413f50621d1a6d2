#include <array>
#include <string_view>
#include <utility>

#include "informer/manifest_object.h"

namespace mkp {

namespace {

constexpr std::array<std::pair<std::string_view, AddressType>, 3> kAddressTypes{
    {{"IPv4", AddressType::Ipv4}, {"IPv6", AddressType::Ipv6}, {"FQDN", AddressType::Fqdn}}};
constexpr std::array<std::pair<std::string_view, Protocol>, 3> kProtocols{
    {{"TCP", Protocol::Tcp}, {"UDP", Protocol::Udp}, {"SCTP", Protocol::Sctp}}};

std::vector<std::string> read_hints(const ManifestField& list) {
  std::vector<std::string> names;
  for (const ManifestField& element : list.elements()) {
    std::string name = element["name"].text();
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

EndpointSlice::Endpoint read_endpoint(const ManifestField& element) {
  EndpointSlice::Endpoint endpoint;
  std::vector<std::string> addresses = element["addresses"].texts();
  if (!addresses.empty()) endpoint.address = std::move(addresses.front());
  endpoint.node_name = element["nodeName"].text();
  const ManifestField conditions = element["conditions"];
  endpoint.ready = conditions["ready"].truth().value_or(true);
  endpoint.serving = conditions["serving"].truth().value_or(true);
  endpoint.terminating = conditions["terminating"].truth().value_or(false);
  const ManifestField hints = element["hints"];
  endpoint.zone_hints = read_hints(hints["forZones"]);
  endpoint.node_hints = read_hints(hints["forNodes"]);
  return endpoint;
}

EndpointSlice::Port read_port(const ManifestField& element) {
  EndpointSlice::Port port;
  port.name = element["name"].text();  // an API server makes a missing name an empty one
  port.protocol = element["protocol"].choice(kProtocols).value_or(Protocol::Tcp);
  if (const std::optional<std::int64_t> number = element["port"].number(0, 65535, "a port")) {
    port.port = static_cast<std::uint16_t>(*number);
  }
  return port;
}

}  // namespace

std::shared_ptr<EndpointSlice> manifest_endpoint_slice(const ManifestField& document) {
  auto slice = std::make_shared<EndpointSlice>();
  const ManifestField metadata = document["metadata"];
  slice->service_name = metadata["labels"]["kubernetes.io/service-name"].text();
  slice->last_change_trigger_time =
      metadata["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"].text();
  const ManifestField type = document["addressType"];
  if (!type.present()) type.note("is missing");
  slice->address_type = type.choice(kAddressTypes).value_or(AddressType::Ipv4);
  for (const ManifestField& element : document["ports"].elements()) {
    slice->ports.push_back(read_port(element));
  }
  for (const ManifestField& element : document["endpoints"].elements()) {
    slice->endpoints.push_back(read_endpoint(element));
  }
  return slice;
}

}  // namespace mkp
