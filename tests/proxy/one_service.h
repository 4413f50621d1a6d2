#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/service_port_spec.h"

// A Service of one port, shop/web:http over TCP, and how each family reads it.
namespace mkp {

inline Service service_of(std::vector<AddressType> families) {
  Service made;
  made.metadata.name_space = "shop";
  made.metadata.name = "web";
  made.cluster_ip = "172.30.0.9";
  for (const AddressType family : families) {
    made.cluster_ips.emplace_back(family == AddressType::Ipv4 ? "172.30.0.9" : "fd00:30::9");
  }
  made.ip_families = std::move(families);
  made.ports = {{.name = "http", .protocol = Protocol::Tcp, .port = 80, .node_port = 0}};
  return made;
}

inline ServicePortSpec spec_of(const Service& service, IpFamily family = IpFamily::Ipv4) {
  return service_spec(service, family).ports.at({{"shop", "web"}, "http", Protocol::Tcp});
}

// Of both families, as a dual-stack node reports them.
inline std::vector<std::string> problems(const Service& service) {
  std::vector<std::string> all = service_spec(service, IpFamily::Ipv4).problems;
  for (std::string& one : service_spec(service, IpFamily::Ipv6).problems) {
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace mkp
