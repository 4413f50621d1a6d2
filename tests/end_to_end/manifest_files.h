#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mkp {

// A directory of manifests, one object a file, as people and tools write them. Everything is in
// namespace default.
class ManifestFiles {
 public:
  ManifestFiles();
  ~ManifestFiles();
  ManifestFiles(const ManifestFiles&) = delete;
  ManifestFiles& operator=(const ManifestFiles&) = delete;

  std::string path() const { return (root_ / "manifests").string(); }
  // A KubeProxyConfiguration beside it: pods in 10.180.0.0/16 and fd00:180::/64, node-a, no pause
  // between syncs.
  std::string config() const { return (root_ / "config.yaml").string(); }

  enum class How { InPlace, Rename };
  void write(const std::string& name, const std::string& text, How how = How::InPlace) const;
  void remove(const std::string& name) const;

 private:
  std::filesystem::path root_;
};

std::string service_manifest(const std::string& name, const std::string& cluster_ip, int port = 80);
// Services that together ask for everything that a Service can, in both families, with endpoints;
// the Node node-a at 192.168.0.1; and the range of the cluster IPs.
std::string every_kind_of_service();
// Endpoints on port 8080 of node-b.
std::string slice_manifest(const std::string& service, const std::vector<std::string>& addresses);

}  // namespace mkp
