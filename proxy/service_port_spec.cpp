#include "proxy/service_port_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace mkp {
namespace {

AddressType address_type_of(IpFamily family) {
  return family == IpFamily::Ipv4 ? AddressType::Ipv4 : AddressType::Ipv6;
}

// The text of the Service's cluster IP of that family; empty when it has none. The label in
// ipFamilies is not trusted blindly: an address of another family is no address of this one.
std::string cluster_ip_text(const Service& service, IpFamily family) {
  if (service.type == Service::Type::ExternalName) return "";
  if (service.cluster_ip.empty() || service.cluster_ip == "None") return "";
  if (service.ip_families.empty()) {
    const std::optional<IpAddress> ip = parse_ip_address(service.cluster_ip);
    return !ip || ip->family == family ? service.cluster_ip : "";
  }
  for (std::size_t i = 0; i < service.ip_families.size() && i < service.cluster_ips.size(); ++i) {
    if (service.ip_families[i] == address_type_of(family)) return service.cluster_ips[i];
  }
  return "";
}

IpFamily looks_like(std::string_view address) {
  return address.find(':') == std::string_view::npos ? IpFamily::Ipv4 : IpFamily::Ipv6;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Traffic to such an address is not the Service's to take: the node itself would lose it.
bool is_nobodys(const IpAddress& ip) {
  return is_loopback(ip) || is_unspecified(ip) || is_for_many(ip);
}

// Reads the fields of one Service for one family, noting what cannot be used. What reads as no
// address of either family is noted once: by the family that it looks like, or by the only one that
// the Service has.
class SpecReader {
 public:
  SpecReader(const Service& service, IpFamily family)
      : service_(service),
        family_(family),
        name_{service.metadata.name_space, service.metadata.name} {}

  ServiceSpec read() {
    ServiceSpec spec;
    const std::optional<IpAddress> cluster_ip = read_cluster_ip();
    if (cluster_ip) {
      ServicePortSpec shared;
      shared.cluster_ip = *cluster_ip;
      shared.external_ips = read_external_ips();
      shared.load_balancer_ips = read_load_balancer_ips();
      shared.source_ranges = read_source_ranges();
      read_policies(shared);
      for (std::size_t i = 0; i < service_.ports.size(); ++i) add_port(shared, i, spec);
    }
    spec.problems = std::move(problems_);
    return spec;
  }

 private:
  template <class... Parts>
  void note(fmt::format_string<Parts...> sentence, Parts&&... parts) {
    problems_.push_back(fmt::format("Service {}: {}", to_text(name_),
                                    fmt::format(sentence, std::forward<Parts>(parts)...)));
  }

  std::optional<IpAddress> read_cluster_ip() {
    const std::string text = cluster_ip_text(service_, family_);
    if (text.empty()) return std::nullopt;
    const std::optional<IpAddress> ip = parse_ip_address(text);
    // With ipFamilies, each text is of one family already.
    if (!ip && service_.ip_families.empty() && looks_like(text) != family_) return std::nullopt;
    if (!ip || ip->family != family_) {
      note("spec.clusterIPs: \"{}\" is no {} address; the Service gets no traffic there", text,
           to_text(family_));
      return std::nullopt;
    }
    if (is_nobodys(*ip)) {
      note("spec.clusterIPs: {} cannot be a Service's; the Service gets no traffic there", text);
      return std::nullopt;
    }
    return ip;
  }

  bool is_ours_to_note(std::string_view unreadable) const {
    const IpFamily family = looks_like(unreadable);
    return family == family_ || cluster_ip_text(service_, family).empty();
  }

  // An address of this family, or nothing.
  std::optional<IpAddress> read_address(const std::string& text, std::string_view field) {
    const std::optional<IpAddress> ip = parse_ip_address(text);
    if (!ip) {
      if (!trimmed(text).empty() && is_ours_to_note(text)) {
        note("{}: \"{}\" is no address; there is no traffic to it", field, text);
      }
      return std::nullopt;
    }
    if (ip->family != family_) return std::nullopt;
    if (is_nobodys(*ip)) {
      note("{}: {} cannot be a Service's; there is no traffic to it", field, text);
      return std::nullopt;
    }
    return ip;
  }

  std::vector<IpAddress> read_external_ips() {
    std::vector<IpAddress> ips;
    for (std::size_t i = 0; i < service_.external_ips.size(); ++i) {
      const auto ip =
          read_address(service_.external_ips[i], fmt::format("spec.externalIPs[{}]", i));
      if (ip) ips.push_back(*ip);
    }
    return ips;
  }

  std::vector<IpAddress> read_load_balancer_ips() {
    std::vector<IpAddress> ips;
    for (std::size_t i = 0; i < service_.load_balancer_ingress.size(); ++i) {
      const Service::Ingress& ingress = service_.load_balancer_ingress[i];
      if (ingress.ip.empty() || ingress.proxy_mode) continue;
      const auto ip =
          read_address(ingress.ip, fmt::format("status.loadBalancer.ingress[{}].ip", i));
      if (ip) ips.push_back(*ip);
    }
    return ips;
  }

  std::vector<IpPrefix> read_source_ranges() {
    std::vector<IpPrefix> ranges;
    for (std::size_t i = 0; i < service_.load_balancer_source_ranges.size(); ++i) {
      const std::string_view text = trimmed(service_.load_balancer_source_ranges[i]);
      const std::optional<IpPrefix> range = parse_ip_prefix(text);
      if (range && range->address.family == family_) ranges.push_back(*range);
      if (!range && !text.empty() && is_ours_to_note(text)) {
        note(
            "spec.loadBalancerSourceRanges[{}]: \"{}\" is no CIDR and lets nobody in; were it the "
            "only one, everybody may use the load-balancer IPs",
            i, text);
      }
    }
    const bool everybody = std::any_of(ranges.begin(), ranges.end(),
                                       [](const IpPrefix& range) { return range.length == 0; });
    return everybody ? std::vector<IpPrefix>{} : ranges;
  }

  void read_policies(ServicePortSpec& spec) const {
    const Service::Type type = service_.type;
    spec.internal_local = service_.internal_traffic_policy == TrafficPolicy::Local;
    const bool external = type == Service::Type::NodePort || type == Service::Type::LoadBalancer ||
                          !service_.external_ips.empty();
    spec.external_local = service_.external_traffic_policy == TrafficPolicy::Local && external;
    if (service_.client_ip_affinity_seconds) {
      spec.affinity_seconds = static_cast<std::uint32_t>(*service_.client_ip_affinity_seconds);
    }
    if (type == Service::Type::LoadBalancer && spec.external_local) {
      spec.health_check_node_port = service_.health_check_node_port;
    }
  }

  void add_port(const ServicePortSpec& shared, std::size_t index, ServiceSpec& spec) {
    const Service::Port& port = service_.ports[index];
    if (port.port == 0) {
      note("spec.ports[{}].port: 0 is no port; the Service gets no traffic there", index);
      return;
    }
    ServicePortSpec own = shared;
    own.port = port.port;
    own.node_port = port.node_port;
    spec.ports.insert_or_assign(ServicePortName{name_, port.name, port.protocol}, std::move(own));
  }

  const Service& service_;
  IpFamily family_;
  ServiceName name_;
  std::vector<std::string> problems_;
};

}  // namespace

bool ServicePortSpec::externally_accessible() const {
  return node_port != 0 || !external_ips.empty() || !load_balancer_ips.empty();
}

EndpointPolicy ServicePortSpec::endpoint_policy() const {
  const bool external = externally_accessible();
  return {.uses_cluster = !internal_local || external,
          .uses_local = internal_local || (external_local && external)};
}

ServiceSpec service_spec(const Service& service, IpFamily family) {
  return SpecReader(service, family).read();
}

}  // namespace mkp
