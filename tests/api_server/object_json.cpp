#include <fmt/chrono.h>

#include <ctime>

#include "tests/api_server/json_text.h"
#include "tests/api_server/object_encoding.h"

namespace mkp::api {
namespace {

std::string json_map(const Labels& values) {
  JsonObject map;
  for (const auto& [key, value] : values) map.string(key, value);
  return map.text();
}

std::string metadata(const ObjectMeta& meta, const Extras& extras) {
  JsonObject object;
  object.nonempty("name", meta.name)
      .nonempty("namespace", meta.name_space)
      .nonempty("uid", meta.uid)
      .nonempty("resourceVersion", meta.resource_version);
  if (meta.creation_timestamp != 0) {
    const auto time = fmt::gmtime(static_cast<std::time_t>(meta.creation_timestamp));
    object.string("creationTimestamp", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", time));
  }
  if (!extras.labels.empty()) object.member("labels", json_map(extras.labels));
  if (!extras.annotations.empty()) object.member("annotations", json_map(extras.annotations));
  return object.text();
}

std::string strings(const std::vector<std::string>& values) { return json_array(values, quoted); }

void add_strings(JsonObject& object, std::string_view name,
                 const std::vector<std::string>& values) {
  if (!values.empty()) object.member(name, strings(values));
}

std::string json(const Service::Port& port) {
  JsonObject object;
  object.nonempty("name", port.name)
      .string("protocol", to_text(port.protocol))
      .number("port", port.port)
      .number("targetPort", port.port)
      .nonzero("nodePort", port.node_port);
  return object.text();
}

std::string json(const Service::Ingress& ingress) {
  JsonObject object;
  if (ingress.ip.empty()) return object.string("hostname", "lb.example").text();
  object.string("ip", ingress.ip).string("ipMode", ingress.proxy_mode ? "Proxy" : "VIP");
  return object.text();
}

std::string spec(const Service& service) {
  JsonObject object;
  if (!service.ports.empty()) {
    object.member("ports", json_array(service.ports, [](const auto& port) { return json(port); }));
  }
  object.nonempty("clusterIP", service.cluster_ip);
  add_strings(object, "clusterIPs", service.cluster_ips);
  object.string("type", type_name(service.type));
  add_strings(object, "externalIPs", service.external_ips);
  object.string("sessionAffinity", service.client_ip_affinity_seconds ? "ClientIP" : "None");
  if (service.client_ip_affinity_seconds) {
    JsonObject client_ip;
    client_ip.number("timeoutSeconds", *service.client_ip_affinity_seconds);
    object.member("sessionAffinityConfig",
                  JsonObject().member("clientIP", client_ip.text()).text());
  }
  add_strings(object, "loadBalancerSourceRanges", service.load_balancer_source_ranges);
  if (service.type == Service::Type::NodePort || service.type == Service::Type::LoadBalancer ||
      service.external_traffic_policy == TrafficPolicy::Local) {
    object.string("externalTrafficPolicy", policy_name(service.external_traffic_policy));
  }
  object.nonzero("healthCheckNodePort", service.health_check_node_port);
  if (!service.ip_families.empty()) {
    object.member("ipFamilies", json_array(service.ip_families, [](AddressType family) {
                    return quoted(family_name(family));
                  }));
  }
  object.string("internalTrafficPolicy", policy_name(service.internal_traffic_policy));
  return object.text();
}

std::string json(const EndpointSlice::Endpoint& endpoint) {
  JsonObject object;
  object.member("addresses",
                strings(endpoint.address.empty() ? std::vector<std::string>{}
                                                 : std::vector<std::string>{endpoint.address}));
  JsonObject conditions;
  conditions.boolean("ready", endpoint.ready)
      .boolean("serving", endpoint.serving)
      .boolean("terminating", endpoint.terminating);
  object.member("conditions", conditions.text()).nonempty("nodeName", endpoint.node_name);
  const auto names = [](const std::vector<std::string>& values) {
    return json_array(
        values, [](const std::string& name) { return JsonObject().string("name", name).text(); });
  };
  JsonObject hints;
  if (!endpoint.zone_hints.empty()) hints.member("forZones", names(endpoint.zone_hints));
  if (!endpoint.node_hints.empty()) hints.member("forNodes", names(endpoint.node_hints));
  if (hints.text() != "{}") object.member("hints", hints.text());
  return object.text();
}

std::string json(const EndpointSlice::Port& port) {
  JsonObject object;
  if (port.name) object.string("name", *port.name);
  object.string("protocol", to_text(port.protocol));
  if (port.port) object.number("port", *port.port);
  return object.text();
}

std::string address(std::string_view type, const std::string& ip) {
  return JsonObject().string("type", type).string("address", ip).text();
}

}  // namespace

std::string to_json(const Service& service, const Extras& extras) {
  JsonObject balancer;
  if (!service.load_balancer_ingress.empty()) {
    balancer.member("ingress", json_array(service.load_balancer_ingress,
                                          [](const auto& ingress) { return json(ingress); }));
  }
  return JsonObject()
      .member("metadata", metadata(service.metadata, all_extras(service, extras)))
      .member("spec", spec(service))
      .member("status", JsonObject().member("loadBalancer", balancer.text()).text())
      .text();
}

std::string to_json(const EndpointSlice& slice, const Extras& extras) {
  const auto any_json = [](const auto& value) { return json(value); };
  return JsonObject()
      .member("metadata", metadata(slice.metadata, all_extras(slice, extras)))
      .string("addressType", family_name(slice.address_type))
      .member("endpoints", json_array(slice.endpoints, any_json))
      .member("ports", json_array(slice.ports, any_json))
      .text();
}

std::string to_json(const Node& node, const Extras& extras) {
  JsonObject spec;
  if (!node.pod_cidrs.empty()) spec.string("podCIDR", node.pod_cidrs.front());
  add_strings(spec, "podCIDRs", node.pod_cidrs);
  if (!node.taint_keys.empty()) {
    spec.member("taints", json_array(node.taint_keys, [](const std::string& key) {
                  return JsonObject().string("key", key).string("effect", "NoSchedule").text();
                }));
  }
  std::vector<std::string> addresses;
  addresses.reserve(node.internal_ips.size() + node.external_ips.size());
  for (const std::string& ip : node.internal_ips) addresses.push_back(address("InternalIP", ip));
  for (const std::string& ip : node.external_ips) addresses.push_back(address("ExternalIP", ip));
  const auto as_is = [](const std::string& text) { return text; };
  std::string own = metadata(node.metadata, all_extras(node, extras));
  if (node.deleting) own.insert(1, R"("deletionTimestamp":"2026-01-01T00:00:00Z",)");
  return JsonObject()
      .member("metadata", own)
      .member("spec", spec.text())
      .member("status", JsonObject().member("addresses", json_array(addresses, as_is)).text())
      .text();
}

std::string to_json(const ServiceCidr& cidr, const Extras& extras) {
  return JsonObject()
      .member("metadata", metadata(cidr.metadata, all_extras(cidr, extras)))
      .member("spec", JsonObject().member("cidrs", strings(cidr.cidrs)).text())
      .member("status", "{}")
      .text();
}

}  // namespace mkp::api
