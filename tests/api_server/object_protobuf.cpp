#include <protozero/pbf_writer.hpp>

#include "tests/api_server/object_encoding.h"

namespace mkp::api {
namespace {

using protozero::pbf_writer;

// Writes an embedded message, an empty one as well.
template <class Write>
void message(pbf_writer& outer, protozero::pbf_tag_type field, Write write) {
  std::string bytes;
  pbf_writer inner(bytes);
  write(inner);
  outer.add_message(field, bytes);
}

void add_strings(pbf_writer& to, protozero::pbf_tag_type field,
                 const std::vector<std::string>& values) {
  for (const std::string& value : values) to.add_string(field, value);
}

void add_map(pbf_writer& to, protozero::pbf_tag_type field, const Labels& values) {
  for (const auto& [key, value] : values) {
    message(to, field, [&key = key, &value = value](pbf_writer& entry) {
      entry.add_string(1, key);
      entry.add_string(2, value);
    });
  }
}

void add_string(pbf_writer& to, protozero::pbf_tag_type field, std::string_view text) {
  to.add_string(field, text.data(), text.size());
}

void add_time(pbf_writer& to, protozero::pbf_tag_type field, std::int64_t seconds) {
  message(to, field, [seconds](pbf_writer& time) {
    if (seconds == 0) return;
    time.add_int64(1, seconds);
    time.add_int32(2, 0);
  });
}

void add_metadata(pbf_writer& to, const ObjectMeta& meta, const Extras& extras,
                  bool deleting = false) {
  message(to, 1, [&](pbf_writer& object) {
    object.add_string(1, meta.name);
    object.add_string(2, "");
    object.add_string(3, meta.name_space);
    object.add_string(4, "");
    object.add_string(5, meta.uid);
    object.add_string(6, meta.resource_version);
    object.add_int64(7, 0);
    add_time(object, 8, meta.creation_timestamp);
    if (deleting) add_time(object, 9, 1767225600);
    add_map(object, 11, extras.labels);
    add_map(object, 12, extras.annotations);
  });
}

void write(pbf_writer& to, const Service::Port& port) {
  to.add_string(1, port.name);
  add_string(to, 2, to_text(port.protocol));
  to.add_int32(3, port.port);
  message(to, 4, [&](pbf_writer& target) {
    target.add_int64(1, 0);
    target.add_int32(2, port.port);
    target.add_string(3, "");
  });
  to.add_int32(5, port.node_port);
}

void write_spec(pbf_writer& to, const Service& service) {
  for (const Service::Port& port : service.ports) {
    message(to, 1, [&port](pbf_writer& inner) { write(inner, port); });
  }
  to.add_string(3, service.cluster_ip);
  add_string(to, 4, type_name(service.type));
  add_strings(to, 5, service.external_ips);
  to.add_string(7, service.client_ip_affinity_seconds ? "ClientIP" : "None");
  to.add_string(8, "");
  add_strings(to, 9, service.load_balancer_source_ranges);
  to.add_string(10, "");
  const bool outside = service.type == Service::Type::NodePort ||
                       service.type == Service::Type::LoadBalancer ||
                       service.external_traffic_policy == TrafficPolicy::Local;
  add_string(to, 11, outside ? policy_name(service.external_traffic_policy) : "");
  to.add_int32(12, service.health_check_node_port);
  to.add_bool(13, false);
  if (service.client_ip_affinity_seconds) {
    message(to, 14, [&](pbf_writer& config) {
      message(config, 1, [&](pbf_writer& client_ip) {
        client_ip.add_int32(1, *service.client_ip_affinity_seconds);
      });
    });
  }
  add_strings(to, 18, service.cluster_ips);
  for (const AddressType family : service.ip_families) add_string(to, 19, family_name(family));
  add_string(to, 22, policy_name(service.internal_traffic_policy));
}

void write(pbf_writer& to, const Service::Ingress& ingress) {
  to.add_string(1, ingress.ip);
  to.add_string(2, ingress.ip.empty() ? "lb.example" : "");
  if (!ingress.ip.empty()) to.add_string(3, ingress.proxy_mode ? "Proxy" : "VIP");
}

void write(pbf_writer& to, const EndpointSlice::Endpoint& endpoint) {
  if (!endpoint.address.empty()) to.add_string(1, endpoint.address);
  message(to, 2, [&](pbf_writer& conditions) {
    conditions.add_bool(1, endpoint.ready);
    conditions.add_bool(2, endpoint.serving);
    conditions.add_bool(3, endpoint.terminating);
  });
  if (!endpoint.node_name.empty()) to.add_string(6, endpoint.node_name);
  if (endpoint.zone_hints.empty() && endpoint.node_hints.empty()) return;
  message(to, 8, [&](pbf_writer& hints) {
    const auto name = [&hints](protozero::pbf_tag_type field, const std::string& value) {
      message(hints, field, [&value](pbf_writer& hint) { hint.add_string(1, value); });
    };
    for (const std::string& zone : endpoint.zone_hints) name(1, zone);
    for (const std::string& node : endpoint.node_hints) name(2, node);
  });
}

void write(pbf_writer& to, const EndpointSlice::Port& port) {
  if (port.name) to.add_string(1, *port.name);
  add_string(to, 2, to_text(port.protocol));
  if (port.port) to.add_int32(3, *port.port);
}

void write_node_status(pbf_writer& to, const Node& node) {
  const auto address = [&to](const char* type, const std::string& ip) {
    message(to, 5, [&](pbf_writer& inner) {
      inner.add_string(1, type);
      inner.add_string(2, ip);
    });
  };
  for (const std::string& ip : node.internal_ips) address("InternalIP", ip);
  for (const std::string& ip : node.external_ips) address("ExternalIP", ip);
}

}  // namespace

std::string to_protobuf(const Service& service, const Extras& extras) {
  std::string bytes;
  pbf_writer object(bytes);
  add_metadata(object, service.metadata, all_extras(service, extras));
  message(object, 2, [&](pbf_writer& spec) { write_spec(spec, service); });
  message(object, 3, [&](pbf_writer& status) {
    message(status, 1, [&](pbf_writer& balancer) {
      for (const Service::Ingress& ingress : service.load_balancer_ingress) {
        message(balancer, 1, [&ingress](pbf_writer& inner) { write(inner, ingress); });
      }
    });
  });
  return bytes;
}

std::string to_protobuf(const EndpointSlice& slice, const Extras& extras) {
  std::string bytes;
  pbf_writer object(bytes);
  add_metadata(object, slice.metadata, all_extras(slice, extras));
  for (const EndpointSlice::Endpoint& endpoint : slice.endpoints) {
    message(object, 2, [&endpoint](pbf_writer& inner) { write(inner, endpoint); });
  }
  for (const EndpointSlice::Port& port : slice.ports) {
    message(object, 3, [&port](pbf_writer& inner) { write(inner, port); });
  }
  add_string(object, 4, family_name(slice.address_type));
  return bytes;
}

std::string to_protobuf(const Node& node, const Extras& extras) {
  std::string bytes;
  pbf_writer object(bytes);
  add_metadata(object, node.metadata, all_extras(node, extras), node.deleting);
  message(object, 2, [&](pbf_writer& spec) {
    spec.add_string(1, node.pod_cidrs.empty() ? "" : node.pod_cidrs.front());
    spec.add_string(2, "");
    spec.add_string(3, "");
    spec.add_bool(4, false);
    for (const std::string& key : node.taint_keys) {
      message(spec, 5, [&key](pbf_writer& taint) {
        taint.add_string(1, key);
        taint.add_string(2, "");
        taint.add_string(3, "NoSchedule");
      });
    }
    add_strings(spec, 7, node.pod_cidrs);
  });
  message(object, 3, [&](pbf_writer& status) { write_node_status(status, node); });
  return bytes;
}

std::string to_protobuf(const ServiceCidr& cidr, const Extras& extras) {
  std::string bytes;
  pbf_writer object(bytes);
  add_metadata(object, cidr.metadata, all_extras(cidr, extras));
  message(object, 2, [&](pbf_writer& spec) { add_strings(spec, 1, cidr.cidrs); });
  message(object, 3, [](pbf_writer&) {});
  return bytes;
}

}  // namespace mkp::api
