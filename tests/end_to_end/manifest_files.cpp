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
