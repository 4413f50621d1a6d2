#include "informer/protobuf_message.h"
#include "informer/protobuf_objects.h"

namespace mkp {

namespace {

using Within = DecodeProblem::Within;

void read_taint(std::string_view bytes, Node& node, DecodeProblem& problem) {
  const Within within(problem, "taints", node.taint_keys.size());
  std::string_view key;
  ProtobufMessage taint(bytes, problem);
  while (taint.next()) {
    if (taint.tag() == 1) key = taint.text("key");
  }
  node.taint_keys.emplace_back(key);
}

void read_spec(std::string_view bytes, Node& node, std::string_view& pod_cidr,
               DecodeProblem& problem) {
  const Within within(problem, "spec");
  ProtobufMessage spec(bytes, problem);
  while (spec.next()) {
    switch (spec.tag()) {
      case 1:
        pod_cidr = spec.text("podCIDR");
        break;
      case 5:
        read_taint(spec.bytes("taints"), node, problem);
        break;
      case 7:
        node.pod_cidrs.emplace_back(spec.text("podCIDRs"));
        break;
      default:
        break;
    }
  }
}

void read_address(std::string_view bytes, std::size_t index, Node& node, DecodeProblem& problem) {
  const Within within(problem, "addresses", index);
  std::string_view type;
  std::string_view address;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 1) type = message.text("type");
    if (message.tag() == 2) address = message.text("address");
  }
  if (type == "InternalIP") node.internal_ips.emplace_back(address);
  if (type == "ExternalIP") node.external_ips.emplace_back(address);
}

void read_status(std::string_view bytes, Node& node, DecodeProblem& problem) {
  const Within within(problem, "status");
  std::size_t addresses = 0;
  ProtobufMessage status(bytes, problem);
  while (status.next()) {
    if (status.tag() != 5) continue;
    read_address(status.bytes("addresses"), addresses++, node, problem);
  }
}

}  // namespace

void read_protobuf(std::string_view bytes, Node& node, DecodeProblem& problem) {
  std::string_view pod_cidr;
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        read_protobuf_meta(message.bytes("metadata"), node.metadata, wanted_meta(node), problem);
        break;
      case 2:
        read_spec(message.bytes("spec"), node, pod_cidr, problem);
        break;
      case 3:
        read_status(message.bytes("status"), node, problem);
        break;
      default:
        break;
    }
  }
  complete(node, pod_cidr);
}

void read_protobuf(std::string_view bytes, ServiceCidr& cidr, DecodeProblem& problem) {
  ProtobufMessage message(bytes, problem);
  while (message.next()) {
    if (message.tag() == 1) {
      read_protobuf_meta(message.bytes("metadata"), cidr.metadata, wanted_meta(cidr), problem);
    } else if (message.tag() == 2) {
      const Within within(problem, "spec");
      ProtobufMessage spec(message.bytes(""), problem);
      while (spec.next()) {
        if (spec.tag() == 1) cidr.cidrs.emplace_back(spec.text("cidrs"));
      }
    }
  }
}

}  // namespace mkp
