#include "tests/end_to_end/random_api_objects.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace mkp {
namespace {

std::string name(int number) { return fmt::format("r{}", number); }
std::string service_path(int number) {
  return cluster::object_path("Service", "default", name(number));
}

// A third of the Services has one family each, a third both.
bool has_ipv4(int number) { return number % 3 != 0; }
bool has_ipv6(int number) { return number % 3 != 1; }

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return "[" + text + "]";
}

std::string quoted(const std::string& text) { return '"' + text + '"'; }

// The Service's addresses in one of the ranges 10.97.0.0/16 and fd96::/108, or 198.51.100.0/24 and
// fd98::/112, or 203.0.113.0/24 and fd99::/112.
std::string addresses(int number, const std::string& ipv4, const std::string& ipv6) {
  std::vector<std::string> all;
  if (has_ipv4(number)) all.push_back(quoted(fmt::format("{}{}", ipv4, 10 + number)));
  if (has_ipv6(number)) all.push_back(quoted(fmt::format("{}{:x}", ipv6, 0x100 + number)));
  return list(all);
}
std::string cluster_ip(int number) {
  return has_ipv4(number) ? fmt::format("10.97.0.{}", 10 + number)
                          : fmt::format("fd96::{:x}", 0x100 + number);
}
std::string external_ips(int number) { return addresses(number, "198.51.100.", "fd98::"); }

std::string families(int number) {
  std::vector<std::string> all;
  if (has_ipv4(number)) all.emplace_back(R"("IPv4")");
  if (has_ipv6(number)) all.emplace_back(R"("IPv6")");
  return list(all);
}

}  // namespace

std::string RandomApiObjects::change() {
  const int number = below(kServices);
  if (!services_.contains(number)) return make_service(number);
  switch (below(12)) {
    case 0:
      services_.erase(number);
      return remove(service_path(number), "Service " + name(number));
    case 1:
      services_.erase(number);
      remove(service_path(number), "");
      return make_service(number);
    case 2:
    case 3:
    case 4:
      return patch_service(number);
    case 5:
      if (!slices_.empty()) {
        const std::string slice =
            *std::next(slices_.begin(), below(static_cast<int>(slices_.size())));
        slices_.erase(slice);
        return remove(cluster::object_path("EndpointSlice", "default", slice), "slice " + slice);
      }
      [[fallthrough]];
    default:
      return put_slice(number);
  }
}

std::string RandomApiObjects::ports(int number, bool node_ports) {
  std::vector<std::string> all;
  const int count = 1 + below(3);
  for (int i = 0; i < count; ++i) {
    // The numbers of node ports are taken by a Service, not by what is called its i-th port.
    const std::string node_port =
        node_ports ? fmt::format(R"(,"nodePort":{})", 30000 + number * 3 + i) : "";
    all.push_back(fmt::format(R"({{"name":"p{}","protocol":"{}","port":{}{}}})", i,
                              i == 2   ? "SCTP"
                              : i == 1 ? "UDP"
                                       : "TCP",
                              80 + i + 10 * below(3), node_port));
  }
  return list(all);
}

std::string RandomApiObjects::make_service(int number) {
  const std::string type = any_of<const char*>({"ClusterIP", "NodePort", "LoadBalancer"});
  const bool exposed = type != "ClusterIP";
  std::string spec = fmt::format(
      R"("type":"{}","clusterIP":"{}","clusterIPs":{},"ipFamilies":{},"ipFamilyPolicy":"{}","ports":{},)"
      R"("internalTrafficPolicy":"{}","sessionAffinity":"{}")",
      type, cluster_ip(number), addresses(number, "10.97.0.", "fd96::"), families(number),
      number % 3 == 2 ? "RequireDualStack" : "SingleStack", ports(number, exposed),
      any_of({"Cluster", "Cluster", "Local"}), any_of({"None", "None", "ClientIP"}));
  if (exposed)
    spec += fmt::format(R"(,"externalTrafficPolicy":"{}")", any_of({"Cluster", "Local"}));
  if (one_in(3)) spec += R"(,"externalIPs":)" + external_ips(number);
  if (type == "LoadBalancer" && one_in(2)) {
    spec += R"(,"loadBalancerSourceRanges":["203.0.113.0/24","fd77::/64"])";
  }
  const std::string what = fmt::format("Service {} is {{{}}}", name(number), spec);
  // A cluster IP cannot be changed, and what the type gave goes with the object.
  const Result<> done =
      admin_.apply(fmt::format(R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}",)"
                               R"("namespace":"default"}},"spec":{{{}}}}})",
                               name(number), spec));
  if (!done) return outcome(done, what);
  services_.insert(number);
  if (type == "LoadBalancer") {
    std::vector<std::string> ips;
    if (has_ipv4(number)) ips.push_back(fmt::format(R"({{"ip":"203.0.113.{}"}})", 10 + number));
    if (has_ipv6(number)) ips.push_back(fmt::format(R"({{"ip":"fd99::{:x}"}})", 0x100 + number));
    return outcome(admin_.patch(service_path(number) + "/status",
                                R"({"status":{"loadBalancer":{"ingress":)" + list(ips) + "}}}"),
                   what);
  }
  return what;
}

std::string RandomApiObjects::patch_service(int number) {
  std::string spec;
  switch (below(5)) {
    case 0:
      spec = fmt::format(R"("internalTrafficPolicy":"{}")", any_of({"Cluster", "Local"}));
      break;
    case 1:
      spec = R"("externalIPs":)" + (one_in(2) ? "null" : external_ips(number));
      break;
    case 2:
      spec = fmt::format(R"("sessionAffinity":"ClientIP","sessionAffinityConfig":{{"clientIP":)"
                         R"({{"timeoutSeconds":{}}}}})",
                         any_of({60, 600, 10800}));
      break;
    case 3:
      spec = R"("sessionAffinity":"None","sessionAffinityConfig":null)";
      break;
    default:
      spec = R"("ports":)" + ports(number, false);
  }
  return outcome(admin_.patch(service_path(number), R"({"spec":{)" + spec + "}}"),
                 fmt::format("Service {} gets {}", name(number), spec));
}

std::string RandomApiObjects::endpoints(int number, int slice, bool ipv6) {
  std::vector<std::string> all;
  for (int i = below(5); i > 0; --i) {
    const int host = slice * 50 + i;
    const std::string address = ipv6 ? fmt::format("fd80::{:x}:{:x}", number + 1, host)
                                     : fmt::format("10.180.{}.{}", number, host);
    const bool ready = !one_in(4);
    const std::string hints =
        one_in(3)
            ? fmt::format(R"(,"hints":{{"forZones":[{{"name":"zone-{}"}}]}})", any_of({"a", "b"}))
            : "";
    all.push_back(fmt::format(
        R"({{"addresses":["{}"],"conditions":{{"ready":{},"serving":{},"terminating":{}}},)"
        R"("nodeName":"worker-{}","zone":"zone-a"{}}})",
        address, ready, ready || one_in(2), !ready && one_in(2), 1 + below(2), hints));
  }
  return list(all);
}

std::string RandomApiObjects::put_slice(int number) {
  const bool ipv6 = !has_ipv4(number) || (has_ipv6(number) && one_in(2));
  const int slice = below(2);
  const std::string slice_name = fmt::format("{}-{}{}", name(number), ipv6 ? "v6-" : "", slice);
  std::vector<std::string> ports;
  for (int i = 0; i < 3; ++i) {
    if (one_in(6)) continue;
    ports.push_back(fmt::format(R"({{"name":"p{}","protocol":"{}","port":{}}})", i,
                                i == 2   ? "SCTP"
                                : i == 1 ? "UDP"
                                         : "TCP",
                                8080 + i + 10 * below(2)));
  }
  const std::string content =
      fmt::format(R"("ports":{},"endpoints":{})", list(ports), endpoints(number, slice, ipv6));
  const std::string what = fmt::format("slice {} has {{{}}}", slice_name, content);
  slices_.insert(slice_name);
  return outcome(
      admin_.apply(fmt::format(
          R"({{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{{"name":"{}",)"
          R"("namespace":"default","labels":{{"kubernetes.io/service-name":"{}"}}}},)"
          R"("addressType":"{}",{}}})",
          slice_name, name(number), ipv6 ? "IPv6" : "IPv4", content)),
      what);
}

std::string RandomApiObjects::remove(const std::string& path, const std::string& what) {
  return outcome(admin_.remove(path), what + " goes");
}

std::string RandomApiObjects::outcome(const Result<>& done, std::string what) {
  if (done) return what;
  ++refused_;
  last_refusal_ = done.error().what;
  return "";
}

}  // namespace mkp
