#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/cluster_state.h"

namespace mkp {

// A cluster that a test edits: says what changed since it was last asked, as the trackers would.
class SmallCluster {
 public:
  struct Web {
    std::vector<std::string> cluster_ips;  // one of each family at most
    std::int64_t created = 100;
    std::uint16_t port = 80;
  };

  void put_service(const std::string& name, const Web& web) {
    auto service = std::make_shared<Service>();
    service->metadata.name_space = "default";
    service->metadata.name = name;
    service->metadata.creation_timestamp = web.created;
    service->cluster_ip = web.cluster_ips.front();
    service->cluster_ips = web.cluster_ips;
    for (const std::string& ip : web.cluster_ips) service->ip_families.push_back(family_of(ip));
    service->ports = {
        {.name = "http", .protocol = Protocol::Tcp, .port = web.port, .node_port = 0}};
    put(service);
  }
  // Any Service of namespace default.
  void put(const std::shared_ptr<const Service>& service) {
    services_.note(std::exchange(known_services_[service->metadata.name], service), service);
  }
  void put(const std::shared_ptr<const EndpointSlice>& slice) {
    slices_.note(std::exchange(known_slices_[slice->metadata.name], slice), slice);
  }
  void put(const NodeFacts& facts) {
    node_ = facts;
    node_changed_ = true;
  }
  void delete_service(const std::string& name) {
    services_.note(std::exchange(known_services_[name], nullptr), nullptr);
  }

  void delete_slice(const std::string& name) {
    slices_.note(std::exchange(known_slices_[name], nullptr), nullptr);
  }

  // The endpoints of one Service in the family of their addresses, on node "other".
  void put_slice(const std::string& service, const std::vector<std::string>& addresses,
                 AddressType type = AddressType::Ipv4) {
    auto slice = std::make_shared<EndpointSlice>();
    slice->metadata.name_space = "default";
    slice->metadata.name = service + (type == AddressType::Ipv4 ? "-4" : "-6");
    slice->service_name = service;
    slice->address_type = type;
    slice->ports = {{.name = "http", .port = 8080, .protocol = Protocol::Tcp}};
    for (const std::string& address : addresses) {
      EndpointSlice::Endpoint endpoint;
      endpoint.address = address;
      endpoint.node_name = "other";
      slice->endpoints.push_back(endpoint);
    }
    put(slice);
  }

  ClusterChanges take() {
    return {
        services_.take(), slices_.take(),
        std::exchange(node_changed_, false) ? std::make_shared<const NodeFacts>(node_) : nullptr};
  }
  const NodeFacts& node() const { return node_; }
  const std::map<std::string, std::shared_ptr<const Service>>& services() const {
    return known_services_;
  }
  const std::map<std::string, std::shared_ptr<const EndpointSlice>>& slices() const {
    return known_slices_;
  }

  // Everything that exists, as a process that starts now would hear of it.
  ClusterChanges all() const {
    ClusterChanges changes;
    for (const auto& [name, service] : known_services_) {
      if (service) changes.services.push_back({{"default", name}, nullptr, service});
    }
    for (const auto& [name, slice] : known_slices_) {
      if (slice) changes.slices.push_back({nullptr, slice});
    }
    changes.node = std::make_shared<const NodeFacts>(node_);
    return changes;
  }

 private:
  static AddressType family_of(const std::string& ip) {
    return ip.find(':') == std::string::npos ? AddressType::Ipv4 : AddressType::Ipv6;
  }

  ServiceChanges services_;
  EndpointChanges slices_;
  NodeFacts node_;
  bool node_changed_ = false;
  std::map<std::string, std::shared_ptr<const Service>> known_services_;
  std::map<std::string, std::shared_ptr<const EndpointSlice>> known_slices_;
};

}  // namespace mkp
