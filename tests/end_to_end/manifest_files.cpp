#include "tests/end_to_end/manifest_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace mkp {

ManifestFiles::ManifestFiles() {
  // In memory where that is possible: thousands of files are made and removed while times are
  // taken.
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path parent =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  std::string root = (parent / "mkp-manifests-XXXXXX").string();
  if (!::mkdtemp(root.data())) std::abort();
  root_ = root;
  std::filesystem::create_directory(path());
  std::ofstream(config()) << "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                             "kind: KubeProxyConfiguration\n"
                             "hostnameOverride: node-a\n"
                             "clusterCIDR: 10.180.0.0/16,fd00:180::/64\n"
                             "nftables: {minSyncPeriod: 0s}\n";
}

ManifestFiles::~ManifestFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

void ManifestFiles::write(const std::string& name, const std::string& text, How how) const {
  const std::filesystem::path target = std::filesystem::path(path()) / name;
  const std::filesystem::path written = how == How::InPlace ? target : root_ / (name + ".new");
  std::ofstream(written) << text;
  if (how == How::Rename) std::filesystem::rename(written, target);
}

void ManifestFiles::remove(const std::string& name) const {
  std::filesystem::remove(std::filesystem::path(path()) / name);
}

std::string service_manifest(const std::string& name, const std::string& cluster_ip, int port) {
  return fmt::format(
      "apiVersion: v1\nkind: Service\nmetadata: {{name: {}, namespace: default}}\n"
      "spec:\n  clusterIP: {}\n  ports:\n  - {{name: http, port: {}, targetPort: 8080}}\n",
      name, cluster_ip, port);
}

std::string every_kind_of_service() {
  return R"(apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {addresses: [{type: InternalIP, address: 192.168.0.1}]}
---
apiVersion: networking.k8s.io/v1
kind: ServiceCIDR
metadata: {name: kubernetes}
spec: {cidrs: [172.30.0.0/16, "fd00:30::/112"]}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec:
  type: LoadBalancer
  clusterIPs: [172.30.1.1, "fd00:30::1"]
  ipFamilies: [IPv4, IPv6]
  externalIPs: [192.0.2.1, "2001:db8::1"]
  externalTrafficPolicy: Local
  internalTrafficPolicy: Local
  loadBalancerSourceRanges: [203.0.113.0/24, 203.0.113.128/25, 198.51.100.7/32, "2001:db8:77::/48"]
  ports:
  - {name: http, port: 80, nodePort: 30080}
  - {name: sip, port: 5060, protocol: UDP, nodePort: 30060}
  - {name: sig, port: 5060, protocol: SCTP}
status: {loadBalancer: {ingress: [{ip: 198.51.100.1}, {ip: "2001:db8:99::1"}, {ip: 198.51.100.2, ipMode: Proxy}]}}
---
apiVersion: v1
kind: Service
metadata: {name: cart}
spec:
  type: NodePort
  clusterIPs: [172.30.1.2, "fd00:30::2"]
  ipFamilies: [IPv4, IPv6]
  sessionAffinity: ClientIP
  externalTrafficPolicy: Local
  ports: [{name: http, port: 80, nodePort: 30081}]
---
apiVersion: v1
kind: Service
metadata: {name: idle}
spec: {type: NodePort, clusterIP: 172.30.1.3, ports: [{name: http, port: 80, nodePort: 30082}]}
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere}
spec: {clusterIP: 172.30.1.4, internalTrafficPolicy: Local, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: elsewhere-1, labels: {kubernetes.io/service-name: elsewhere}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.180.1.9], nodeName: node-b}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: shop-4, labels: {kubernetes.io/service-name: shop}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: sip, port: 5061, protocol: UDP}, {name: sig, port: 5062, protocol: SCTP}]
endpoints:
- {addresses: [10.180.0.2], nodeName: node-a}
- {addresses: [10.180.1.2], nodeName: node-b}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: shop-6, labels: {kubernetes.io/service-name: shop}}
addressType: IPv6
ports: [{name: http, port: 8080}, {name: sip, port: 5061, protocol: UDP}]
endpoints:
- {addresses: ["fd00:180::2"], nodeName: node-a}
- {addresses: ["fd00:180::1:2"], nodeName: node-b}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-4, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.180.0.3], nodeName: node-a}
- {addresses: [10.180.1.3], nodeName: node-b}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-6, labels: {kubernetes.io/service-name: cart}}
addressType: IPv6
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: ["fd00:180::3"], nodeName: node-a}
)";
}

std::string slice_manifest(const std::string& service, const std::vector<std::string>& addresses) {
  std::string text = fmt::format(
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: {0}-1\n  "
      "namespace: default\n"
      "  labels: {{kubernetes.io/service-name: {0}}}\naddressType: IPv4\nports:\n- {{name: http, "
      "port: 8080}}\n"
      "endpoints:\n",
      service);
  for (const std::string& address : addresses) {
    text += fmt::format("- {{addresses: [{}], nodeName: node-b}}\n", address);
  }
  return addresses.empty() ? text + "[]\n" : text;
}

}  // namespace mkp
