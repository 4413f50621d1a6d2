#include "informer/manifest_object.h"

namespace mkp {

std::shared_ptr<Node> manifest_node(const ManifestField& document) {
  auto node = std::make_shared<Node>();
  const ManifestField metadata = document["metadata"];
  node->zone = metadata["labels"]["topology.kubernetes.io/zone"].text();
  node->deleting = metadata["deletionTimestamp"].present();
  const ManifestField spec = document["spec"];
  node->pod_cidrs = spec["podCIDRs"].texts();
  const std::string pod_cidr = spec["podCIDR"].text();
  if (node->pod_cidrs.empty() && !pod_cidr.empty()) node->pod_cidrs.push_back(pod_cidr);
  for (const ManifestField& element : spec["taints"].elements()) {
    node->taint_keys.push_back(element["key"].text());
  }
  for (const ManifestField& element : document["status"]["addresses"].elements()) {
    const std::string type = element["type"].text();
    const std::string address = element["address"].text();
    if (type == "InternalIP") node->internal_ips.push_back(address);
    if (type == "ExternalIP") node->external_ips.push_back(address);
  }
  return node;
}

std::shared_ptr<ServiceCidr> manifest_service_cidr(const ManifestField& document) {
  auto cidr = std::make_shared<ServiceCidr>();
  cidr->cidrs = document["spec"]["cidrs"].texts();
  return cidr;
}

}  // namespace mkp
