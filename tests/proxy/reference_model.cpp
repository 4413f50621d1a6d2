#include "tests/proxy/reference_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace mkp {
namespace {

// Addresses that parse and are of the family; loopback and the like do not occur in these tests.
std::optional<IpAddress> address(const std::string& text, IpFamily family) {
  const auto ip = parse_ip_address(text);
  return ip && ip->family == family ? ip : std::nullopt;
}

struct Pod {
  Endpoint at;
  bool ready, serving, terminating, here;
  std::vector<std::string> zones, nodes;
};

// One port of one Service: everything that the lines need.
struct Port {
  std::int64_t created;
  std::string service, port;
  Protocol protocol;
  const Service* object;
  std::string owner;
  std::string affinity_name;
  std::vector<Pod> pods;
  std::vector<std::pair<Frontend, std::string>> frontends;  // and "cluster", "balancer", "other"
};

std::vector<Pod> pods_of(const SmallCluster& cluster, const std::string& service,
                         const Service::Port& port, IpFamily family) {
  std::vector<Pod> pods;
  for (const auto& [name, slice] : cluster.slices()) {
    if (!slice || slice->service_name != service) continue;
    if ((slice->address_type == AddressType::Ipv6) != (family == IpFamily::Ipv6)) continue;
    const auto offered = std::find_if(
        slice->ports.begin(), slice->ports.end(),
        [&](const auto& one) { return one.name == port.name && one.protocol == port.protocol; });
    if (offered == slice->ports.end()) continue;
    for (const auto& from : slice->endpoints) {
      const auto ip = address(from.address, family);
      if (!ip) continue;
      const Pod pod{{*ip, *offered->port},      from.ready,      from.serving,   from.terminating,
                    from.node_name == "node-a", from.zone_hints, from.node_hints};
      const auto same = std::find_if(pods.begin(), pods.end(),
                                     [&](const Pod& other) { return other.at == pod.at; });
      if (same == pods.end()) {
        pods.push_back(pod);
      } else if (!pod.terminating) {
        *same = pod;
      }
    }
  }
  return pods;
}

bool has(const std::vector<std::string>& list, const std::string& name) {
  return !name.empty() && std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<Endpoint> sorted(const std::vector<Pod>& pods) {
  std::set<Endpoint> all;
  for (const Pod& pod : pods) all.insert(pod.at);
  return {all.begin(), all.end()};
}

std::vector<Pod> those(const std::vector<Pod>& pods, auto condition) {
  std::vector<Pod> kept;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(kept), condition);
  return kept;
}

std::vector<Endpoint> cluster_list(const std::vector<Pod>& pods, const std::string& zone) {
  const auto ready = those(pods, [](const Pod& pod) { return pod.ready; });
  const bool all_nodes = those(ready, [](const Pod& pod) { return pod.nodes.empty(); }).empty();
  const bool all_zones = those(ready, [](const Pod& pod) { return pod.zones.empty(); }).empty();
  const auto near = those(ready, [](const Pod& pod) { return has(pod.nodes, "node-a"); });
  const auto zonal = those(ready, [&](const Pod& pod) { return has(pod.zones, zone); });
  if (all_nodes && !near.empty()) return sorted(near);
  if (all_zones && !zonal.empty()) return sorted(zonal);
  if (!ready.empty()) return sorted(ready);
  return sorted(those(pods, [](const Pod& pod) { return pod.serving && pod.terminating; }));
}

std::vector<Endpoint> local_list(const std::vector<Pod>& pods) {
  const auto here = those(pods, [](const Pod& pod) { return pod.here; });
  const auto ready = those(here, [](const Pod& pod) { return pod.ready; });
  if (!ready.empty()) return sorted(ready);
  return sorted(those(here, [](const Pod& pod) { return pod.serving && pod.terminating; }));
}

std::string cluster_ip_of(const Service& service, IpFamily family) {
  if (service.type == Service::Type::ExternalName || service.cluster_ip == "None") return "";
  for (const std::string& text : service.cluster_ips) {
    if (address(text, family)) return text;
  }
  return "";
}

void add_frontends(const Service& service, const Service::Port& port, IpFamily family, Port& into) {
  const auto add = [&](const std::string& text, const std::string& kind) {
    const auto ip = address(text, family);
    if (!ip) return;
    const Frontend frontend{ip, port.protocol, port.port};
    for (const auto& [known, as] : into.frontends) {
      if (known == frontend) return;
    }
    into.frontends.emplace_back(frontend, kind);
  };
  add(cluster_ip_of(service, family), "cluster");
  for (const auto& ingress : service.load_balancer_ingress) {
    if (!ingress.proxy_mode) add(ingress.ip, "balancer");
  }
  for (const std::string& text : service.external_ips) add(text, "other");
  if (port.node_port != 0) {
    into.frontends.emplace_back(Frontend{std::nullopt, port.protocol, port.node_port}, "other");
  }
}

std::string protocol_name(Protocol protocol) {
  return protocol == Protocol::Tcp ? "tcp" : protocol == Protocol::Udp ? "udp" : "sctp";
}

// All Service ports, who is older first.
std::vector<Port> ports_of(const SmallCluster& cluster, IpFamily family) {
  std::map<std::tuple<std::int64_t, std::string, std::string, Protocol>, Port> all;
  for (const auto& [name, service] : cluster.services()) {
    if (!service || cluster_ip_of(*service, family).empty()) continue;
    for (const auto& from : service->ports) {
      Port port{service->metadata.creation_timestamp,
                name,
                from.name,
                from.protocol,
                service.get(),
                "default/" + name + ":" + from.name,
                "default/" + name + "/" + protocol_name(from.protocol) + "/" + from.name,
                pods_of(cluster, name, from, family),
                {}};
      add_frontends(*service, from, family, port);
      // Of two ports of one name and protocol the later one counts.
      all.insert_or_assign({port.created, name, from.name, from.protocol}, port);
    }
  }
  std::vector<Port> ports;
  std::set<Frontend> taken;
  for (auto& [order, port] : all) {
    std::erase_if(port.frontends, [&](const auto& one) { return !taken.insert(one.first).second; });
    ports.push_back(port);
  }
  return ports;
}

std::vector<IpPrefix> allowed_of(const Service& service, const NodeInfo& node, IpFamily family) {
  std::set<IpPrefix> ranges;
  bool node_inside = false;
  for (std::string text : service.load_balancer_source_ranges) {
    std::erase(text, ' ');
    const auto range = parse_ip_prefix(text);
    if (!range || range->address.family != family) continue;
    if (range->length == 0) return {};
    ranges.insert(*range);
    for (const IpAddress& ip : node.ips) node_inside = node_inside || contains(*range, ip);
  }
  for (const auto& ingress : service.load_balancer_ingress) {
    const auto ip = address(ingress.ip, family);
    if (node_inside && ip && !ingress.proxy_mode) ranges.insert(prefix_of(*ip, 128));
  }
  std::vector<IpPrefix> disjoint;
  for (const IpPrefix& one : ranges) {
    const bool nested = std::any_of(ranges.begin(), ranges.end(), [&](const IpPrefix& other) {
      return other.length < one.length && contains(other, one.address);
    });
    if (!nested) disjoint.push_back(one);
  }
  return disjoint;
}

std::string text_of(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& endpoint : endpoints) text += " " + to_text(endpoint);
  return text;
}

std::string lists(const std::vector<Endpoint>* cluster, const std::vector<Endpoint>* local) {
  std::string text = " ->";
  if (cluster) text += text_of(*cluster);
  if (local && !local->empty()) text += "; here" + text_of(*local);
  return text;
}

// What one frontend does, behind its name and owner.
std::string deed(const Port& port, bool internal, const std::vector<Endpoint>& cluster,
                 const std::vector<Endpoint>& local, bool any) {
  const Service& service = *port.object;
  const bool sticky = service.client_ip_affinity_seconds.has_value();
  const std::string by = sticky ? "; by " + port.affinity_name : "";
  if (!any) return " ->";
  if (internal && service.internal_traffic_policy == TrafficPolicy::Local) {
    if (local.empty()) return " ->; drop";
    return sticky ? " internal affinity ->" + by : " internal local" + lists(nullptr, &local);
  }
  if (internal) return sticky ? " internal affinity ->" + by : lists(&cluster, nullptr);
  const bool policy_counts =
      service.type != Service::Type::ClusterIp || !service.external_ips.empty();
  if (!policy_counts || service.external_traffic_policy == TrafficPolicy::Cluster) {
    return sticky ? " external affinity ->" + by : " external" + lists(&cluster, nullptr);
  }
  std::string text = " external local";
  text +=
      sticky ? " ->" + std::string(local.empty() ? "" : "; here") + by : lists(&cluster, &local);
  return local.empty() ? text + "; drop" : text;
}

}  // namespace

std::vector<std::string> expected_lines(const SmallCluster& cluster, IpFamily family) {
  std::vector<std::string> lines;
  for (const Port& port : ports_of(cluster, family)) {
    const auto all = cluster_list(port.pods, cluster.node().node.zone);
    const auto here = local_list(port.pods);
    const bool any = !those(port.pods, [](const Pod& pod) {
                        return pod.ready || (pod.serving && pod.terminating);
                      }).empty();
    for (const auto& [frontend, kind] : port.frontends) {
      std::string line = to_text(frontend) + " (" + port.owner + ")";
      line += deed(port, kind == "cluster", all, here, any);
      if (kind == "balancer") {
        for (const IpPrefix& range : allowed_of(*port.object, cluster.node().node, family)) {
          line += "; from " + to_text(range);
        }
      }
      lines.push_back(line);
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace mkp
