#include <utility>

#include "informer/json_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

void read_port(JsonReader& json, JsonValue value, std::size_t index, Service& service) {
  const Within within(json.problem(), "ports", index);
  Service::Port port;
  std::string_view protocol;
  std::int64_t number = 0;
  std::int64_t node_port = 0;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "name") {
      port.name = json.text(field, "name");
    } else if (key == "protocol") {
      protocol = json.text(field, "protocol");
    } else if (key == "port") {
      number = json.number(field, "port").value_or(0);
    } else if (key == "nodePort") {
      node_port = json.number(field, "nodePort").value_or(0);
    }
  });
  port.port = port_of(number, 1, "port", json.problem());
  port.node_port = port_of(node_port, 0, "nodePort", json.problem());
  const std::optional<Protocol> known = protocol_of(protocol, json.problem());
  if (!known) return;
  port.protocol = *known;
  service.ports.push_back(std::move(port));
}

// sessionAffinityConfig: clientIP, and in that one timeoutSeconds.
void read_affinity(JsonReader& json, JsonValue value, ServiceExtras& extras) {
  json.fields(value, "sessionAffinityConfig", [&](std::string_view key, JsonValue client_ip) {
    if (key != "clientIP") return;
    json.fields(client_ip, "clientIP", [&](std::string_view inner, JsonValue field) {
      if (inner == "timeoutSeconds") extras.affinity_seconds = json.number(field, "timeoutSeconds");
    });
  });
}

void read_families(JsonReader& json, JsonValue value, Service& service) {
  service.ip_families.clear();
  json.elements(value, "ipFamilies", [&](JsonValue element) {
    service.ip_families.push_back(ip_family_of(json.text(element, "ipFamilies")));
  });
}

void read_addresses(JsonReader& json, std::string_view key, JsonValue field, Service& service) {
  if (key == "clusterIP") {
    service.cluster_ip = json.text(field, "clusterIP");
  } else if (key == "clusterIPs") {
    service.cluster_ips = json.texts(field, "clusterIPs");
  } else if (key == "ipFamilies") {
    read_families(json, field, service);
  } else if (key == "externalIPs") {
    service.external_ips = json.texts(field, "externalIPs");
  } else if (key == "loadBalancerSourceRanges") {
    service.load_balancer_source_ranges = json.texts(field, "loadBalancerSourceRanges");
  }
}

void read_spec(JsonReader& json, JsonValue value, Service& service, ServiceExtras& extras) {
  json.fields(value, "spec", [&](std::string_view key, JsonValue field) {
    if (key == "ports") {
      service.ports.clear();
      std::size_t index = 0;
      json.elements(field, "ports",
                    [&](JsonValue port) { read_port(json, port, index++, service); });
    } else if (key == "type") {
      service.type = service_type_of(json.text(field, "type"));
    } else if (key == "sessionAffinity") {
      extras.client_ip = is_client_ip(json.text(field, "sessionAffinity"));
    } else if (key == "sessionAffinityConfig") {
      read_affinity(json, field, extras);
    } else if (key == "externalTrafficPolicy") {
      service.external_traffic_policy =
          traffic_policy_of(json.text(field, "externalTrafficPolicy"));
    } else if (key == "internalTrafficPolicy") {
      service.internal_traffic_policy =
          traffic_policy_of(json.text(field, "internalTrafficPolicy"));
    } else if (key == "healthCheckNodePort") {
      service.health_check_node_port =
          port_of(json.number(field, "healthCheckNodePort").value_or(0), 0, "healthCheckNodePort",
                  json.problem());
    } else {
      read_addresses(json, key, field, service);
    }
  });
}

void read_ingress(JsonReader& json, JsonValue value, Service& service) {
  const Within within(json.problem(), "ingress", service.load_balancer_ingress.size());
  Service::Ingress ingress;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "ip") {
      ingress.ip = json.text(field, "ip");
    } else if (key == "ipMode") {
      ingress.proxy_mode = is_proxy_mode(json.text(field, "ipMode"));
    }
  });
  service.load_balancer_ingress.push_back(std::move(ingress));
}

// status: loadBalancer, and in that one ingress.
void read_status(JsonReader& json, JsonValue value, Service& service) {
  json.fields(value, "status", [&](std::string_view key, JsonValue load_balancer) {
    if (key != "loadBalancer") return;
    json.fields(load_balancer, "loadBalancer", [&](std::string_view inner, JsonValue list) {
      if (inner != "ingress") return;
      service.load_balancer_ingress.clear();
      json.elements(list, "ingress",
                    [&](JsonValue ingress) { read_ingress(json, ingress, service); });
    });
  });
}

}  // namespace

void read_json(JsonReader& json, JsonValue value, Service& service, WireType& type) {
  ServiceExtras extras;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "metadata") {
      read_json_meta(json, field, service.metadata, wanted_meta(service));
    } else if (key == "spec") {
      read_spec(json, field, service, extras);
    } else if (key == "status") {
      read_status(json, field, service);
    } else {
      read_json_type(json, key, field, type);
    }
  });
  complete(service, extras, json.problem());
}

}  // namespace mkp
