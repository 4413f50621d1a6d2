#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/packets/conformance_case.h"

namespace mkp::packets {

// What the program under test is given: a configuration file, and a directory that holds the
// objects of the cluster, one file each. Both are removed again by the destructor.
class ClusterDirectory {
 public:
  static Result<std::unique_ptr<ClusterDirectory>> create();
  ~ClusterDirectory();
  ClusterDirectory(const ClusterDirectory&) = delete;
  ClusterDirectory& operator=(const ClusterDirectory&) = delete;

  std::filesystem::path config() const { return root_ / "config.yaml"; }
  std::filesystem::path manifests() const { return root_ / "manifests"; }

  Result<> write_config(const ProxySettings& settings, Mode mode, const std::string& node_name);
  // The Node object, as the kubelet and the controllers of its cluster write it.
  Result<> write_node(const NodeUnderTest& node);
  // Documents separated by "---". They are kept as they are written.
  Result<> apply(const std::string& documents);
  Result<> remove(const std::string& documents);
  // Replaces all ServiceCIDR objects. One of them holds a CIDR of each family at most.
  Result<> set_service_cidrs(const std::vector<std::string>& cidrs);

  // Names the Service port that answers on this destination.
  std::optional<std::string> find(const AddressPort& destination, Transport transport) const;

 private:
  explicit ClusterDirectory(std::filesystem::path root) : root_(std::move(root)) {}
  Result<> put(const std::string& key, const std::string& document);
  Result<> drop(const std::string& key);

  std::filesystem::path root_;
  std::map<std::string, std::string> documents_;  // by file name
};

}  // namespace mkp::packets
