#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/result.h"

namespace mkp {

// What every Kubernetes object says about itself. Names and strings are as the API server gives
// them.
struct ObjectMeta {
  std::string name_space;  // empty for cluster-scoped kinds (`namespace` is a keyword)
  std::string name;
  std::string uid;
  std::string resource_version;         // opaque: compare for equality only
  std::int64_t creation_timestamp = 0;  // seconds since 1970; 0 when unknown

  bool operator==(const ObjectMeta&) const = default;
};

// Anything that a store or queue may hold. Shared and read-only from the moment it is published;
// whoever wants a change makes a new one.
class Object {
 public:
  virtual ~Object() = default;
  // Null for what has no metadata, such as a tombstone; such an object has no key of its own.
  virtual const ObjectMeta* meta() const { return nullptr; }

  bool operator==(const Object&) const = default;
};
using ObjectPtr = std::shared_ptr<const Object>;

enum class Protocol : std::uint8_t { Tcp, Udp, Sctp };
enum class AddressType : std::uint8_t { Ipv4, Ipv6, Fqdn };
enum class TrafficPolicy : std::uint8_t { Cluster, Local };

// core/v1 Service: only the fields that a proxy reads (KEP-free summary: spec.* and
// status.loadBalancer). Addresses stay text here, as an odd one must be reported by whoever would
// use it.
struct Service final : Object {
  enum class Type : std::uint8_t { ClusterIp, NodePort, LoadBalancer, ExternalName };
  struct Port {
    std::string name;  // may be empty, when it is the only one
    Protocol protocol = Protocol::Tcp;
    std::uint16_t port = 0;
    std::uint16_t node_port = 0;  // 0: none
    bool operator==(const Port&) const = default;
  };
  struct Ingress {
    std::string ip;           // empty for an entry that has a hostname only
    bool proxy_mode = false;  // ipMode: Proxy, so not ours to capture
    bool operator==(const Ingress&) const = default;
  };

  ObjectMeta metadata;
  Type type = Type::ClusterIp;
  std::string cluster_ip;                // "" or "None": nothing to forward
  std::vector<std::string> cluster_ips;  // parallel to ip_families
  std::vector<AddressType> ip_families;
  std::vector<Port> ports;
  std::vector<std::string> external_ips;
  std::vector<Ingress> load_balancer_ingress;
  std::vector<std::string> load_balancer_source_ranges;
  TrafficPolicy internal_traffic_policy = TrafficPolicy::Cluster;
  TrafficPolicy external_traffic_policy = TrafficPolicy::Cluster;
  std::optional<std::int32_t> client_ip_affinity_seconds;  // set when sessionAffinity is ClientIP
  std::uint16_t health_check_node_port = 0;

  const ObjectMeta* meta() const override { return &metadata; }
  bool operator==(const Service&) const = default;
};

// discovery.k8s.io/v1 EndpointSlice.
struct EndpointSlice final : Object {
  struct Port {
    std::optional<std::string> name;  // matches the Service port of this name and protocol
    std::optional<std::uint16_t> port;
    Protocol protocol = Protocol::Tcp;
    bool operator==(const Port&) const = default;
  };
  struct Endpoint {
    std::string
        address;  // addresses[0], the only one that a proxy may use; empty when there is none
    std::string node_name;
    bool ready = true;    // absent means true
    bool serving = true;  // absent means true
    bool terminating = false;
    std::vector<std::string> zone_hints;
    std::vector<std::string> node_hints;
    bool operator==(const Endpoint&) const = default;
  };

  ObjectMeta metadata;
  std::string service_name;  // label kubernetes.io/service-name; empty when it is missing
  AddressType address_type = AddressType::Ipv4;
  std::vector<Port> ports;
  std::vector<Endpoint> endpoints;
  std::string
      last_change_trigger_time;  // annotation endpoints.kubernetes.io/last-change-trigger-time

  const ObjectMeta* meta() const override { return &metadata; }
  bool operator==(const EndpointSlice&) const = default;
};

// core/v1 Node.
struct Node final : Object {
  ObjectMeta metadata;
  std::string zone;  // label topology.kubernetes.io/zone
  std::vector<std::string> pod_cidrs;
  std::vector<std::string> internal_ips;  // status.addresses of type InternalIP, in order
  std::vector<std::string> external_ips;
  std::vector<std::string> taint_keys;
  bool deleting = false;  // has a deletionTimestamp

  const ObjectMeta* meta() const override { return &metadata; }
  bool operator==(const Node&) const = default;
};

// networking.k8s.io/v1 ServiceCIDR.
struct ServiceCidr final : Object {
  ObjectMeta metadata;
  std::vector<std::string> cidrs;

  const ObjectMeta* meta() const override { return &metadata; }
  bool operator==(const ServiceCidr&) const = default;
};

enum class ObjectKind : std::uint8_t { Service, EndpointSlice, Node, ServiceCidr };

std::string_view to_text(ObjectKind kind);    // "Service", "EndpointSlice", "Node", "ServiceCIDR"
std::string_view to_text(Protocol protocol);  // "TCP", "UDP", "SCTP"

}  // namespace mkp
