#include <utility>

#include "informer/json_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

void read_conditions(JsonReader& json, JsonValue value, EndpointSlice::Endpoint& endpoint) {
  json.fields(value, "conditions", [&](std::string_view key, JsonValue field) {
    if (key == "ready") {
      endpoint.ready = json.truth(field, "ready").value_or(true);
    } else if (key == "serving") {
      endpoint.serving = json.truth(field, "serving").value_or(true);
    } else if (key == "terminating") {
      endpoint.terminating = json.truth(field, "terminating").value_or(false);
    }
  });
}

// forZones or forNodes: a list of names.
std::vector<std::string> read_names(JsonReader& json, JsonValue value, std::string_view field) {
  std::vector<std::string> names;
  json.elements(value, field, [&](JsonValue element) {
    const Within within(json.problem(), field, names.size());
    json.fields(element, "", [&](std::string_view key, JsonValue name) {
      if (key != "name") return;
      if (const std::string_view text = json.text(name, "name"); !text.empty()) {
        names.emplace_back(text);
      }
    });
  });
  return names;
}

void read_hints(JsonReader& json, JsonValue value, EndpointSlice::Endpoint& endpoint) {
  json.fields(value, "hints", [&](std::string_view key, JsonValue field) {
    if (key == "forZones") {
      endpoint.zone_hints = read_names(json, field, "forZones");
    } else if (key == "forNodes") {
      endpoint.node_hints = read_names(json, field, "forNodes");
    }
  });
}

// Only the first address counts; the others are not even looked at.
std::string read_first(JsonReader& json, JsonValue value) {
  std::string first;
  bool seen = false;
  json.elements(value, "addresses", [&](JsonValue element) {
    if (!seen) first = json.text(element, "addresses");
    seen = true;
  });
  return first;
}

void read_endpoint(JsonReader& json, JsonValue value, EndpointSlice& slice) {
  const Within within(json.problem(), "endpoints", slice.endpoints.size());
  EndpointSlice::Endpoint endpoint;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "addresses") {
      endpoint.address = read_first(json, field);
    } else if (key == "conditions") {
      read_conditions(json, field, endpoint);
    } else if (key == "nodeName") {
      endpoint.node_name = json.text(field, "nodeName");
    } else if (key == "hints") {
      read_hints(json, field, endpoint);
    }
  });
  slice.endpoints.push_back(std::move(endpoint));
}

void read_port(JsonReader& json, JsonValue value, std::size_t index, EndpointSlice& slice) {
  const Within within(json.problem(), "ports", index);
  EndpointSlice::Port port;
  port.name.emplace();  // an API server makes a missing name an empty one
  std::string_view protocol;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "name") {
      port.name = json.text(field, "name");
    } else if (key == "protocol") {
      protocol = json.text(field, "protocol");
    } else if (key == "port") {
      if (const std::optional<std::int64_t> number = json.number(field, "port")) {
        port.port = port_of(*number, 0, "port", json.problem());
      }
    }
  });
  const std::optional<Protocol> known = protocol_of(protocol, json.problem());
  if (!known) return;
  port.protocol = *known;
  slice.ports.push_back(std::move(port));
}

}  // namespace

void read_json(JsonReader& json, JsonValue value, EndpointSlice& slice, WireType& type) {
  std::string_view address_type;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "metadata") {
      read_json_meta(json, field, slice.metadata, wanted_meta(slice));
    } else if (key == "addressType") {
      address_type = json.text(field, "addressType");
    } else if (key == "endpoints") {
      slice.endpoints.clear();
      json.elements(field, "endpoints",
                    [&](JsonValue endpoint) { read_endpoint(json, endpoint, slice); });
    } else if (key == "ports") {
      slice.ports.clear();
      std::size_t index = 0;
      json.elements(field, "ports", [&](JsonValue port) { read_port(json, port, index++, slice); });
    } else {
      read_json_type(json, key, field, type);
    }
  });
  slice.address_type = address_type_of(address_type, json.problem());
}

}  // namespace mkp
