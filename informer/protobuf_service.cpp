#include <utility>

#include "informer/protobuf_message.h"
#include "informer/protobuf_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

void read_port(std::string_view bytes, std::size_t index, Service& service,
               DecodeProblem& problem) {
  const Within within(problem, "ports", index);
  Service::Port port;
  std::string_view protocol;
  std::int64_t number = 0;
  std::int64_t node_port = 0;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        port.name = message.text("name");
        break;
      case 2:
        protocol = message.text("protocol");
        break;
      case 3:
        number = message.number("port").value_or(0);
        break;
      case 5:
        node_port = message.number("nodePort").value_or(0);
        break;
      default:
        break;
    }
  }
  port.port = port_of(number, 1, "port", problem);
  port.node_port = port_of(node_port, 0, "nodePort", problem);
  const std::optional<Protocol> known = protocol_of(protocol, problem);
  if (!known) return;
  port.protocol = *known;
  service.ports.push_back(std::move(port));
}

// SessionAffinityConfig: clientIP, and in that one timeoutSeconds.
void read_affinity(std::string_view bytes, ServiceExtras& extras, DecodeProblem& problem) {
  const Within within(problem, "sessionAffinityConfig");
  ProtobufMessage config(bytes, problem);
  while (config.next()) {
    if (config.tag() != 1) continue;
    const Within within_it(problem, "clientIP");
    ProtobufMessage client_ip(config.bytes(""), problem);
    while (client_ip.next()) {
      if (client_ip.tag() == 1) extras.affinity_seconds = client_ip.number("timeoutSeconds");
    }
  }
}

// Fields of ServiceSpec that are read as they are.
void read_plain(ProtobufMessage& spec, Service& service, ServiceExtras& extras) {
  switch (spec.tag()) {
    case 3:
      service.cluster_ip = spec.text("clusterIP");
      break;
    case 4:
      service.type = service_type_of(spec.text("type"));
      break;
    case 5:
      service.external_ips.emplace_back(spec.text("externalIPs"));
      break;
    case 7:
      extras.client_ip = is_client_ip(spec.text("sessionAffinity"));
      break;
    case 9:
      service.load_balancer_source_ranges.emplace_back(spec.text("loadBalancerSourceRanges"));
      break;
    case 11:
      service.external_traffic_policy = traffic_policy_of(spec.text("externalTrafficPolicy"));
      break;
    case 18:
      service.cluster_ips.emplace_back(spec.text("clusterIPs"));
      break;
    case 19:
      service.ip_families.push_back(ip_family_of(spec.text("ipFamilies")));
      break;
    case 22:
      service.internal_traffic_policy = traffic_policy_of(spec.text("internalTrafficPolicy"));
      break;
    default:
      break;
  }
}

void read_spec(std::string_view bytes, Service& service, ServiceExtras& extras,
               DecodeProblem& problem) {
  const Within within(problem, "spec");
  std::size_t ports = 0;
  ProtobufMessage spec(bytes, problem);
  while (spec.next()) {
    switch (spec.tag()) {
      case 1:
        read_port(spec.bytes("ports"), ports++, service, problem);
        break;
      case 12:
        service.health_check_node_port = port_of(spec.number("healthCheckNodePort").value_or(0), 0,
                                                 "healthCheckNodePort", problem);
        break;
      case 14:
        read_affinity(spec.bytes("sessionAffinityConfig"), extras, problem);
        break;
      default:
        read_plain(spec, service, extras);
        break;
    }
  }
}

void read_ingress(std::string_view bytes, Service& service, DecodeProblem& problem) {
  const Within within(problem, "ingress", service.load_balancer_ingress.size());
  Service::Ingress ingress;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 1) ingress.ip = message.text("ip");
    if (message.tag() == 3) ingress.proxy_mode = is_proxy_mode(message.text("ipMode"));
  }
  service.load_balancer_ingress.push_back(std::move(ingress));
}

// ServiceStatus: loadBalancer, and in that one ingress.
void read_status(std::string_view bytes, Service& service, DecodeProblem& problem) {
  const Within within(problem, "status");
  ProtobufMessage status(bytes, problem);
  while (status.next()) {
    if (status.tag() != 1) continue;
    const Within within_it(problem, "loadBalancer");
    ProtobufMessage load_balancer(status.bytes(""), problem);
    while (load_balancer.next()) {
      if (load_balancer.tag() != 1) continue;
      read_ingress(load_balancer.bytes("ingress"), service, problem);
    }
  }
}

}  // namespace

void read_protobuf(std::string_view bytes, Service& service, DecodeProblem& problem) {
  ServiceExtras extras;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        read_protobuf_meta(message.bytes("metadata"), service.metadata, wanted_meta(service),
                           problem);
        break;
      case 2:
        read_spec(message.bytes("spec"), service, extras, problem);
        break;
      case 3:
        read_status(message.bytes("status"), service, problem);
        break;
      default:
        break;
    }
  }
  complete(service, extras, problem);
}

}  // namespace mkp
