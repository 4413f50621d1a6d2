#include <utility>

#include "informer/protobuf_message.h"
#include "informer/protobuf_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

void read_conditions(std::string_view bytes, EndpointSlice::Endpoint& endpoint,
                     DecodeProblem& problem) {
  const Within within(problem, "conditions");
  ProtobufMessage conditions(bytes, problem);
  while (conditions.next()) {
    switch (conditions.tag()) {
      case 1:
        endpoint.ready = conditions.truth("ready").value_or(true);
        break;
      case 2:
        endpoint.serving = conditions.truth("serving").value_or(true);
        break;
      case 3:
        endpoint.terminating = conditions.truth("terminating").value_or(false);
        break;
      default:
        break;
    }
  }
}

// ForZone or ForNode: a name.
void read_hint(std::string_view bytes, std::string_view field, std::vector<std::string>& names,
               DecodeProblem& problem) {
  const Within within(problem, field, names.size());
  ProtobufMessage hint(bytes, problem);
  while (hint.next()) {
    if (hint.tag() != 1) continue;
    if (const std::string_view name = hint.text("name"); !name.empty()) names.emplace_back(name);
  }
}

void read_hints(std::string_view bytes, EndpointSlice::Endpoint& endpoint, DecodeProblem& problem) {
  const Within within(problem, "hints");
  ProtobufMessage hints(bytes, problem);
  while (hints.next()) {
    if (hints.tag() == 1) {
      read_hint(hints.bytes("forZones"), "forZones", endpoint.zone_hints, problem);
    } else if (hints.tag() == 2) {
      read_hint(hints.bytes("forNodes"), "forNodes", endpoint.node_hints, problem);
    }
  }
}

void read_endpoint(std::string_view bytes, EndpointSlice& slice, DecodeProblem& problem) {
  const Within within(problem, "endpoints", slice.endpoints.size());
  EndpointSlice::Endpoint endpoint;
  bool has_address = false;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        if (!has_address) endpoint.address = message.text("addresses");
        has_address = true;
        break;
      case 2:
        read_conditions(message.bytes("conditions"), endpoint, problem);
        break;
      case 6:
        endpoint.node_name = message.text("nodeName");
        break;
      case 8:
        read_hints(message.bytes("hints"), endpoint, problem);
        break;
      default:
        break;
    }
  }
  slice.endpoints.push_back(std::move(endpoint));
}

void read_port(std::string_view bytes, std::size_t index, EndpointSlice& slice,
               DecodeProblem& problem) {
  const Within within(problem, "ports", index);
  EndpointSlice::Port port;
  port.name.emplace();  // an API server makes a missing name an empty one
  std::string_view protocol;
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
        if (const std::optional<std::int64_t> number = message.number("port")) {
          port.port = port_of(*number, 0, "port", problem);
        }
        break;
      default:
        break;
    }
  }
  const std::optional<Protocol> known = protocol_of(protocol, problem);
  if (!known) return;
  port.protocol = *known;
  slice.ports.push_back(std::move(port));
}

}  // namespace

void read_protobuf(std::string_view bytes, EndpointSlice& slice, DecodeProblem& problem) {
  std::string_view address_type;
  std::size_t ports = 0;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        read_protobuf_meta(message.bytes("metadata"), slice.metadata, wanted_meta(slice), problem);
        break;
      case 2:
        read_endpoint(message.bytes("endpoints"), slice, problem);
        break;
      case 3:
        read_port(message.bytes("ports"), ports++, slice, problem);
        break;
      case 4:
        address_type = message.text("addressType");
        break;
      default:
        break;
    }
  }
  slice.address_type = address_type_of(address_type, problem);
}

}  // namespace mkp
