#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "informer/objects.h"

namespace mkp {

// A Service as it shall be at the API server.
struct ServiceDraft {
  struct Port {
    std::string name;
    Protocol protocol = Protocol::Tcp;
    int port = 0;
  };
  std::string name;
  bool headless = false;    // for life, as the API has it
  bool ipv6_first = false;  // for life
  bool dual_stack = true;
  std::string type = "ClusterIP";
  std::vector<Port> ports;
  std::vector<std::string> external_ips;
  std::vector<std::string> balancer_ips;
  bool balancer_proxies = false;  // ipMode of all
  std::vector<std::string> source_ranges;
  bool internal_local = false;
  bool external_local = false;
  std::optional<int> affinity_seconds;
  std::string distribution;  // empty: none
  bool other_proxy = false;  // is labelled as another proxy's
};

// A manifest for AdminClient::apply.
std::string to_manifest(const ServiceDraft& service);

struct SliceDraft {
  struct Endpoint {
    bool ready = true;
    bool serving = true;
    bool terminating = false;
    std::string node;  // empty: none
    std::string zone_hint;
    std::string node_hint;
  };
  std::string name;
  std::string owner;  // a Service
  bool ipv6 = false;
  bool headless = false;  // is labelled as a headless Service's
  std::vector<ServiceDraft::Port> ports;
  std::map<std::string, Endpoint> endpoints;  // by address
};
std::string to_manifest(const SliceDraft& slice);

}  // namespace mkp
