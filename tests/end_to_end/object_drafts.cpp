#include "tests/end_to_end/object_drafts.h"

#include <fmt/format.h>

#include "tests/api_server/json_text.h"

namespace mkp {
namespace {

using api::json_array;
using api::JsonObject;
using api::quoted;

std::string texts(const std::vector<std::string>& values) { return json_array(values, quoted); }

std::string ports_of(const std::vector<ServiceDraft::Port>& ports) {
  return json_array(ports, [](const ServiceDraft::Port& port) {
    return JsonObject()
        .string("name", port.name)
        .string("protocol", to_text(port.protocol))
        .number("port", port.port)
        .text();
  });
}

std::string metadata_of(const std::string& name, const JsonObject& labels) {
  return JsonObject()
      .string("name", name)
      .string("namespace", "default")
      .member("labels", labels.text())
      .text();
}

void add_families(const ServiceDraft& service, JsonObject& spec) {
  std::vector<std::string> families = {"IPv4", "IPv6"};
  if (service.ipv6_first) std::swap(families[0], families[1]);
  if (!service.dual_stack) families.pop_back();
  spec.string("ipFamilyPolicy", service.dual_stack ? "RequireDualStack" : "SingleStack");
  spec.member("ipFamilies", texts(families));
  if (service.headless) spec.string("clusterIP", "None");
}

void add_policies(const ServiceDraft& service, JsonObject& spec) {
  spec.string("internalTrafficPolicy", service.internal_local ? "Local" : "Cluster");
  if (service.type != "ClusterIP" || !service.external_ips.empty()) {
    spec.string("externalTrafficPolicy", service.external_local ? "Local" : "Cluster");
  }
  if (service.type == "LoadBalancer") {
    spec.member("loadBalancerSourceRanges", texts(service.source_ranges));
  }
  if (service.affinity_seconds) {
    spec.string("sessionAffinity", "ClientIP");
    spec.member("sessionAffinityConfig", fmt::format(R"({{"clientIP":{{"timeoutSeconds":{}}}}})",
                                                     *service.affinity_seconds));
  } else {
    spec.string("sessionAffinity", "None");
  }
  spec.nonempty("trafficDistribution", service.distribution);
}

std::string spec_of(const ServiceDraft& service) {
  JsonObject spec;
  spec.string("type", service.type);
  spec.member("ports", ports_of(service.ports));
  spec.member("externalIPs", texts(service.external_ips));
  if (service.type == "ExternalName") {
    spec.string("externalName", "elsewhere.example");
  } else {
    add_families(service, spec);
    add_policies(service, spec);
  }
  return spec.text();
}

std::string status_of(const ServiceDraft& service) {
  const auto ingress = [&](const std::string& ip) {
    const char* mode = service.balancer_proxies ? "Proxy" : "VIP";
    return JsonObject().string("ip", ip).string("ipMode", mode).text();
  };
  const bool balanced = service.type == "LoadBalancer";
  return fmt::format(R"({{"loadBalancer":{{"ingress":{}}}}})",
                     balanced ? json_array(service.balancer_ips, ingress) : "[]");
}

std::string hints_of(const SliceDraft::Endpoint& endpoint) {
  JsonObject hints;
  const auto named = [](const std::string& name) {
    return fmt::format(R"([{{"name":"{}"}}])", name);
  };
  if (!endpoint.zone_hint.empty()) hints.member("forZones", named(endpoint.zone_hint));
  if (!endpoint.node_hint.empty()) hints.member("forNodes", named(endpoint.node_hint));
  return hints.text();
}

std::string endpoint_of(const std::string& address, const SliceDraft::Endpoint& endpoint) {
  JsonObject json;
  json.member("addresses", texts({address}));
  json.nonempty("nodeName", endpoint.node);
  json.member("conditions", JsonObject()
                                .boolean("ready", endpoint.ready)
                                .boolean("serving", endpoint.serving)
                                .boolean("terminating", endpoint.terminating)
                                .text());
  json.member("hints", hints_of(endpoint));
  return json.text();
}

}  // namespace

std::string to_manifest(const ServiceDraft& service) {
  JsonObject labels;
  if (service.other_proxy) labels.string("service.kubernetes.io/service-proxy-name", "another");
  return JsonObject()
      .string("apiVersion", "v1")
      .string("kind", "Service")
      .member("metadata", metadata_of(service.name, labels))
      .member("spec", spec_of(service))
      .member("status", status_of(service))
      .text();
}

std::string to_manifest(const SliceDraft& slice) {
  const std::string endpoints = json_array(slice.endpoints, [](const auto& endpoint) {
    return endpoint_of(endpoint.first, endpoint.second);
  });
  JsonObject labels;
  labels.string("kubernetes.io/service-name", slice.owner);
  if (slice.headless) labels.string("service.kubernetes.io/headless", "");
  return JsonObject()
      .string("apiVersion", "discovery.k8s.io/v1")
      .string("kind", "EndpointSlice")
      .member("metadata", metadata_of(slice.name, labels))
      .string("addressType", slice.ipv6 ? "IPv6" : "IPv4")
      .member("ports", ports_of(slice.ports))
      .member("endpoints", endpoints)
      .text();
}

}  // namespace mkp
