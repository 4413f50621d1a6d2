#include "tests/end_to_end/random_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mkp {
namespace {

constexpr int kServices = 12;
constexpr int kSlices = 3;  // of one Service and family
constexpr int kHosts = 36;
// These may be in any slice, all others in those of one index only.
constexpr int kMovingHosts = 3;

const std::vector<std::string> kTypes = {"ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer",
                                         "ExternalName"};
const std::vector<std::string> kPortNames = {"http", "dns", "admin"};
const std::vector<std::string> kDistributions = {"", "PreferSameZone", "PreferSameNode"};
const std::vector<std::string> kZones = {"north", "south"};
const std::vector<std::string> kNodes = {"worker-1", "worker-2"};
const std::vector<std::string> kSources = {"203.0.113.0/24", "2001:db8:77::/48", "10.20.0.0/16"};

// Any Service may claim these.
const std::vector<std::string> kContended = {"198.51.100.250", "2001:db8:99::fa"};

std::string path_of(const char* kind, const std::string& name) {
  return cluster::object_path(kind, "default", name);
}

// The same addresses for one Service, and for nobody else.
std::vector<std::string> addresses_of(int service, int pool) {
  const int first = 1 + 8 * service + 2 * pool;
  return {fmt::format("198.51.100.{}", first), fmt::format("198.51.100.{}", first + 1),
          fmt::format("2001:db8:99::{:x}", first)};
}

// Whether a proxy forwards what comes to that address for it.
bool is_served(const ServiceDraft& service, const std::string& ip) {
  const bool ipv6 = ip.find(':') != std::string::npos;
  return service.type != "ExternalName" && !service.headless && !service.other_proxy &&
         (service.dual_stack || service.ipv6_first == ipv6);
}

std::string nft_word(Protocol protocol) {
  if (protocol == Protocol::Tcp) return "tcp";
  return protocol == Protocol::Udp ? "udp" : "sctp";
}

int host_of(const std::string& address) {
  const std::string last = address.substr(address.find_last_of(".:") + 1);
  return std::stoi(last, nullptr, address.find(':') == std::string::npos ? 10 : 16);
}

}  // namespace

Result<std::string> RandomChanges::next() {
  const int service = number(kServices);
  if (number(5) < 2) return change_service(service);
  const bool ipv6 = once_in(3);
  return change_slice(service, number(kSlices), ipv6);
}

std::set<std::vector<std::string>> RandomChanges::contended() const {
  std::set<std::vector<std::string>> once;
  std::set<std::vector<std::string>> twice;
  for (const auto& [name, service] : services_) {
    for (const std::string& ip : service.external_ips) {
      if (!is_served(service, ip)) continue;
      for (const ServiceDraft::Port& port : service.ports) {
        const std::vector<std::string> key{ip, nft_word(port.protocol), std::to_string(port.port)};
        if (!once.insert(key).second) twice.insert(key);
      }
    }
  }
  return twice;
}

Result<std::string> RandomChanges::change_service(int index) {
  const std::string name = fmt::format("svc-{}", index);
  const auto found = services_.find(name);
  std::string what = "made";
  if (found == services_.end()) {
    services_[name] = new_service(index);
  } else if (once_in(10)) {
    services_.erase(found);
    const Result<> removed = admin_.remove(path_of("Service", name));
    if (!removed) return tl::unexpected(removed.error());
    return "Service " + name + ": deleted";
  } else {
    what = alter(found->second, index);
  }
  return apply("Service", services_[name], what);
}

template <class Draft>
Result<std::string> RandomChanges::apply(const char* kind, const Draft& draft,
                                         const std::string& what) {
  const std::string manifest = to_manifest(draft);
  const Result<> applied = admin_.apply(manifest);
  if (!applied) return fail(applied.error(), what + ": " + manifest);
  return fmt::format("{} {}: {}: {}", kind, draft.name, what, manifest);
}

ServiceDraft RandomChanges::new_service(int index) {
  ServiceDraft made;
  made.name = fmt::format("svc-{}", index);
  made.headless = once_in(10);
  made.ipv6_first = once_in(4);
  made.dual_stack = !once_in(3);
  made.ports.push_back(new_port({}));
  if (made.headless) return made;
  made.type = one_of(kTypes);
  alter_policies(made);
  alter_addresses(made, index);
  return made;
}

ServiceDraft::Port RandomChanges::new_port(const std::vector<ServiceDraft::Port>& others) {
  ServiceDraft::Port made;
  const auto taken = [&](const ServiceDraft::Port& other) {
    return other.name == made.name || (other.port == made.port && other.protocol == made.protocol);
  };
  do {
    made.name = one_of(kPortNames);
    made.protocol = protocol_of(made.name);
    made.port = 80 + number(3);
  } while (std::any_of(others.begin(), others.end(), taken));
  return made;
}

// A Service's ports find their endpoints by name and protocol: mostly these fit.
Protocol RandomChanges::protocol_of(const std::string& port) {
  if (once_in(8)) return Protocol::Tcp;
  if (port == "dns") return Protocol::Udp;
  return port == "admin" ? Protocol::Sctp : Protocol::Tcp;
}

std::string RandomChanges::alter(ServiceDraft& service, int index) {
  switch (number(8)) {
    case 0:
    case 1:
      return alter_ports(service);
    case 2:
      if (service.headless) return alter_ports(service);
      service.type = one_of(kTypes);
      return "type";
    case 3:
      service.dual_stack = !service.dual_stack;
      return "families";
    case 4:
      service.other_proxy = !service.other_proxy && once_in(3);
      return "whose proxy";
    case 5:
    case 6:
      return alter_policies(service);
    default:
      return service.headless ? alter_ports(service) : alter_addresses(service, index);
  }
}

std::string RandomChanges::alter_policies(ServiceDraft& service) {
  service.internal_local = once_in(3);
  service.external_local = once_in(2);
  service.affinity_seconds.reset();
  if (once_in(3)) service.affinity_seconds = 60 * (1 + number(3));
  service.distribution = one_of(kDistributions);
  return "policies";
}

std::string RandomChanges::alter_addresses(ServiceDraft& service, int index) {
  const auto some_of = [this](const std::vector<std::string>& choices) {
    std::vector<std::string> some;
    std::copy_if(choices.begin(), choices.end(), std::back_inserter(some),
                 [this](const std::string&) { return once_in(2); });
    return some;
  };
  service.external_ips = once_in(2) ? some_of(addresses_of(index, 0)) : std::vector<std::string>{};
  if (once_in(2)) {
    service.external_ips.insert(service.external_ips.end(), kContended.begin(), kContended.end());
  }
  service.balancer_ips = some_of(addresses_of(index, 1));
  service.balancer_proxies = once_in(6);
  service.source_ranges = once_in(3) ? some_of(kSources) : std::vector<std::string>{};
  return "addresses";
}

std::string RandomChanges::alter_ports(ServiceDraft& service) {
  const bool add = service.ports.size() == 1 || (service.ports.size() == 2 && once_in(3));
  const bool replace = once_in(3);
  std::string what = "port replaced";
  if (replace || !add) {
    service.ports.erase(service.ports.begin() + number(static_cast<int>(service.ports.size())));
    what = replace ? what : "port removed";
  } else {
    what = "port added";
  }
  if (replace || add) service.ports.push_back(new_port(service.ports));
  return what;
}

Result<std::string> RandomChanges::change_slice(int service, int index, bool ipv6) {
  const std::string name = fmt::format("svc-{}-{}-{}", service, ipv6 ? "v6" : "v4", index);
  const auto found = slices_.find(name);
  std::string what = "made";
  if (found == slices_.end()) {
    slices_[name] = new_slice(service, index, ipv6);
  } else if (once_in(12)) {
    slices_.erase(found);
    const Result<> removed = admin_.remove(path_of("EndpointSlice", name));
    if (!removed) return tl::unexpected(removed.error());
    return "EndpointSlice " + name + ": deleted";
  } else {
    what = alter(found->second, index);
  }
  return apply("EndpointSlice", slices_[name], what);
}

SliceDraft RandomChanges::new_slice(int service, int index, bool ipv6) {
  SliceDraft made;
  made.name = fmt::format("svc-{}-{}-{}", service, ipv6 ? "v6" : "v4", index);
  made.owner = fmt::format("svc-{}", service);
  made.ipv6 = ipv6;
  made.headless = once_in(15);
  for (const std::string& port : kPortNames) {
    if (!once_in(8)) made.ports.push_back({port, protocol_of(port), 8080 + number(3)});
  }
  const int endpoints = once_in(8) ? 0 : 1 + number(5);
  for (int i = 0; i < endpoints; ++i) put_endpoint(made, new_host(index), index);
  return made;
}

int RandomChanges::new_host(int index) {
  if (once_in(5)) return 1 + number(kMovingHosts);
  return 1 + kMovingHosts + kSlices * number(kHosts / kSlices) + index;
}

void RandomChanges::put_endpoint(SliceDraft& slice, int host, int index) {
  const std::string address =
      slice.ipv6 ? fmt::format("fd00:180::{:x}", host) : fmt::format("10.180.0.{}", host);
  SliceDraft::Endpoint& endpoint = slice.endpoints[address] = new_endpoint(host, index);
  give_hints(slice, endpoint);
}

// A pod is on one node, whichever slices it is in. One that moves is running in the first slice, if
// at all, and has a past in the others.
SliceDraft::Endpoint RandomChanges::new_endpoint(int host, int index) {
  SliceDraft::Endpoint made;
  const int place = host / kSlices % 5;
  if (place < 4) made.node = kNodes[static_cast<std::size_t>(place % 2)];
  const bool moves = host <= kMovingHosts;
  made.ready = !once_in(4) && (!moves || index == 0);
  made.terminating = !made.ready && (once_in(2) || (moves && index != 0));
  made.serving = made.ready || once_in(2) || (moves && made.terminating);
  // Ready as well: its Service publishes what is not.
  if (made.ready && !moves && once_in(10)) made.terminating = true;
  return made;
}

std::string RandomChanges::alter(SliceDraft& slice, int index) {
  const int which = number(9);
  if (which < 3 || slice.endpoints.empty()) {
    put_endpoint(slice, new_host(index), index);
    return "endpoint";
  }
  if (which < 5) return alter_hints(slice);
  if (which == 5 && !slice.ports.empty()) {
    slice.ports[0].port = 8080 + number(3);
    return "port number";
  }
  if (which == 6 && once_in(3)) {
    slice.headless = !slice.headless;
    return "headless";
  }
  const auto endpoint =
      std::next(slice.endpoints.begin(), number(static_cast<int>(slice.endpoints.size())));
  if (which == 7) {
    slice.endpoints.erase(endpoint);
    return "endpoint removed";
  }
  const int host = host_of(endpoint->first);
  put_endpoint(slice, host, index);
  return "conditions";
}

std::string RandomChanges::alter_hints(SliceDraft& slice) {
  for (auto& [address, endpoint] : slice.endpoints) give_hints(slice, endpoint);
  return "hints";
}

// As the endpoints of a Service have them, all of one sort; but now and then one has none.
void RandomChanges::give_hints(const SliceDraft& slice, SliceDraft::Endpoint& endpoint) {
  const int sort = slice.owner.back() % 4;
  const bool hinted = sort != 0 && !once_in(12);
  endpoint.zone_hint = hinted ? one_of(kZones) : "";
  endpoint.node_hint = hinted && sort == 3 ? one_of(kNodes) : "";
}

}  // namespace mkp
