#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "informer/decode_problem.h"
#include "informer/objects.h"

namespace mkp {

// What the words and numbers of an API server mean, whatever they are encoded in. An empty word is
// one that was not given. Words that only newer servers know are taken as kube-proxy takes them:

Service::Type service_type_of(std::string_view word);    // as ClusterIP
TrafficPolicy traffic_policy_of(std::string_view word);  // as Cluster
bool is_client_ip(std::string_view session_affinity);    // as None
bool is_proxy_mode(std::string_view ip_mode);     // as Proxy: not VIP, so not ours to capture
AddressType ip_family_of(std::string_view word);  // as neither IPv4 nor IPv6: Fqdn
// As FQDN, which no proxy uses. A slice without the word is broken.
AddressType address_type_of(std::string_view word, DecodeProblem& problem);
// Nothing: the port cannot be served, and is left out; the others of its object stay.
std::optional<Protocol> protocol_of(std::string_view word, DecodeProblem& problem);

// A port within [least, 65535]; 0 and a note for what is none.
std::uint16_t port_of(std::int64_t number, std::uint16_t least, std::string_view field,
                      DecodeProblem& problem);

// What of a Service's fields has no field in ours.
struct ServiceExtras {
  bool client_ip = false;  // sessionAffinity
  std::optional<std::int64_t> affinity_seconds;
};
// Fills in what follows from other fields, once all of them are read: cluster IPs, families, the
// affinity time.
void complete(Service& service, const ServiceExtras& extras, DecodeProblem& problem);
// podCIDR is what podCIDRs was before dual stack.
void complete(Node& node, std::string_view pod_cidr);

// What is read of an object's metadata besides ObjectMeta. A null pointer: not wanted.
struct WantedMeta {
  std::string_view label;
  std::string* label_value = nullptr;
  std::string_view annotation;
  std::string* annotation_value = nullptr;
  bool* deleting = nullptr;
};
WantedMeta wanted_meta(Service& service);
WantedMeta wanted_meta(EndpointSlice& slice);
WantedMeta wanted_meta(Node& node);
WantedMeta wanted_meta(ServiceCidr& cidr);
WantedMeta wanted_meta_of_bookmark(std::string& initial_events_end);

}  // namespace mkp
