#include "informer/json_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

void read_taint(JsonReader& json, JsonValue value, Node& node) {
  const Within within(json.problem(), "taints", node.taint_keys.size());
  std::string_view taint;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "key") taint = json.text(field, "key");
  });
  node.taint_keys.emplace_back(taint);
}

void read_spec(JsonReader& json, JsonValue value, Node& node, std::string_view& pod_cidr) {
  json.fields(value, "spec", [&](std::string_view key, JsonValue field) {
    if (key == "podCIDR") {
      pod_cidr = json.text(field, "podCIDR");
    } else if (key == "podCIDRs") {
      node.pod_cidrs = json.texts(field, "podCIDRs");
    } else if (key == "taints") {
      node.taint_keys.clear();
      json.elements(field, "taints", [&](JsonValue taint) { read_taint(json, taint, node); });
    }
  });
}

void read_address(JsonReader& json, JsonValue value, std::size_t index, Node& node) {
  const Within within(json.problem(), "addresses", index);
  std::string_view type;
  std::string_view address;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "type") {
      type = json.text(field, "type");
    } else if (key == "address") {
      address = json.text(field, "address");
    }
  });
  if (type == "InternalIP") node.internal_ips.emplace_back(address);
  if (type == "ExternalIP") node.external_ips.emplace_back(address);
}

void read_status(JsonReader& json, JsonValue value, Node& node) {
  json.fields(value, "status", [&](std::string_view key, JsonValue field) {
    if (key != "addresses") return;
    node.internal_ips.clear();
    node.external_ips.clear();
    std::size_t index = 0;
    json.elements(field, "addresses",
                  [&](JsonValue address) { read_address(json, address, index++, node); });
  });
}

}  // namespace

void read_json(JsonReader& json, JsonValue value, Node& node, WireType& type) {
  std::string_view pod_cidr;
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "metadata") {
      read_json_meta(json, field, node.metadata, wanted_meta(node));
    } else if (key == "spec") {
      read_spec(json, field, node, pod_cidr);
    } else if (key == "status") {
      read_status(json, field, node);
    } else {
      read_json_type(json, key, field, type);
    }
  });
  complete(node, pod_cidr);
}

void read_json(JsonReader& json, JsonValue value, ServiceCidr& cidr, WireType& type) {
  json.fields(value, "", [&](std::string_view key, JsonValue field) {
    if (key == "metadata") {
      read_json_meta(json, field, cidr.metadata, wanted_meta(cidr));
    } else if (key == "spec") {
      json.fields(field, "spec", [&](std::string_view inner, JsonValue list) {
        if (inner == "cidrs") cidr.cidrs = json.texts(list, "cidrs");
      });
    } else {
      read_json_type(json, key, field, type);
    }
  });
}

}  // namespace mkp
