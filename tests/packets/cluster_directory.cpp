#include "tests/packets/cluster_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace mkp::packets {
namespace {

constexpr std::string_view kServiceCidrPrefix = "ServiceCIDR_";

// The whole file at once, as somebody may be watching the directory.
Result<> write_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path unfinished = path.parent_path().parent_path() / ".unfinished";
  std::ofstream(unfinished) << text;
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) return fail_errno(error.value(), "write " + path.string());
  return {};
}

std::vector<std::string> split_documents(const std::string& documents) {
  std::vector<std::string> all(1);
  std::istringstream lines(documents);
  for (std::string line; std::getline(lines, line);) {
    if (line == "---") {
      all.emplace_back();
    } else {
      all.back() += line + "\n";
    }
  }
  std::erase_if(all, [](const std::string& one) {
    return one.find_first_not_of(" \n") == std::string::npos;
  });
  return all;
}

Result<YAML::Node> parse(const std::string& document) {
  try {
    return YAML::Load(document);
  } catch (const YAML::Exception& wrong) {
    return fail(Errc::Invalid, wrong.what());
  }
}

// Null where there is no such field.
YAML::Node field(const YAML::Node& node, const std::string& name) {
  if (!node.IsMap()) return {};
  const YAML::Node value = node[name];
  return value.IsDefined() ? value : YAML::Node();
}

YAML::Node field(const YAML::Node& node, const std::string& name, const std::string& inner) {
  return field(field(node, name), inner);
}

std::string text_of(const YAML::Node& node, const std::string& otherwise = "") {
  return node.IsScalar() ? node.Scalar() : otherwise;
}

Result<std::string> file_name(const std::string& document) {
  const Result<YAML::Node> object = parse(document);
  if (!object) return tl::unexpected(object.error());
  const std::string kind = text_of(field(*object, "kind"));
  const std::string name = text_of(field(*object, "metadata", "name"));
  if (kind.empty() || name.empty()) return fail(Errc::Invalid, "object without kind or name");
  return fmt::format("{}_{}_{}.yaml", kind, text_of(field(*object, "metadata", "namespace")), name);
}

bool holds(const YAML::Node& list, const IpAddress& address) {
  return std::any_of(list.begin(), list.end(), [&](const YAML::Node& one) {
    return parse_ip_address(text_of(one.IsMap() ? field(one, "ip") : one)) == address;
  });
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return result;
}

// The Service's port that `destination` means; `by_address` when its address is one of the
// Service's.
std::optional<std::string> find_port(const YAML::Node& spec, const AddressPort& destination,
                                     Transport transport, bool by_address) {
  for (const YAML::Node& port : field(spec, "ports")) {
    if (text_of(field(port, "protocol"), "TCP") != upper(to_text(transport))) continue;
    if (text_of(field(port, by_address ? "port" : "nodePort")) != std::to_string(destination.port))
      continue;
    return fmt::format("{}/{}", text_of(field(port, "name")), to_text(transport));
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<ClusterDirectory>> ClusterDirectory::create() {
  std::string pattern = (std::filesystem::temp_directory_path() / "packets.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail_errno(errno, "make " + pattern);
  std::unique_ptr<ClusterDirectory> made(new ClusterDirectory(pattern));
  std::error_code error;
  std::filesystem::create_directory(made->manifests(), error);
  if (error) return fail_errno(error.value(), "make " + made->manifests().string());
  return made;
}

ClusterDirectory::~ClusterDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

Result<> ClusterDirectory::write_config(const ProxySettings& settings, Mode mode,
                                        const std::string& node_name) {
  const std::string bit =
      settings.masquerade_bit ? fmt::format(", masqueradeBit: {}", *settings.masquerade_bit) : "";
  std::string text = fmt::format(
      "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
      "kind: KubeProxyConfiguration\n"
      "mode: {}\n"
      "hostnameOverride: {}\n"
      "detectLocalMode: {}\n"
      "clusterCIDR: \"{}\"\n"
      "detectLocal: {{bridgeInterface: \"{}\", interfaceNamePrefix: \"{}\"}}\n"
      "nftables: {{masqueradeAll: {}{}, minSyncPeriod: 0s}}\n"
      "iptables: {{masqueradeAll: {}{}, localhostNodePorts: {}}}\n"
      "conntrack: {{maxPerCore: 0, tcpBeLiberal: {}}}\n",
      to_text(mode), node_name, settings.detect_local_mode, settings.cluster_cidr,
      settings.bridge_interface, settings.interface_name_prefix, settings.masquerade_all, bit,
      settings.masquerade_all, bit, settings.localhost_node_ports,
      settings.conntrack_tcp_be_liberal);
  if (settings.node_port_addresses) {
    text += fmt::format("nodePortAddresses: [\"{}\"]\n",
                        fmt::join(*settings.node_port_addresses, "\", \""));
  }
  return write_file(config(), text);
}

Result<> ClusterDirectory::write_node(const NodeUnderTest& node) {
  std::string text = fmt::format(
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: {0}\n  labels:\n    kubernetes.io/hostname: "
      "{0}\n",
      node.name);
  if (node.zone) text += fmt::format("    topology.kubernetes.io/zone: \"{}\"\n", *node.zone);
  if (!node.pod_cidrs.empty()) {
    text += fmt::format("spec: {{podCIDR: \"{}\", podCIDRs: [\"{}\"]}}\n", node.pod_cidrs[0],
                        fmt::join(node.pod_cidrs, "\", \""));
  }
  text += "status:\n  addresses:\n";
  for (const IpAddress& ip : node.ips) {
    text += fmt::format("  - {{type: InternalIP, address: \"{}\"}}\n", mkp::to_text(ip));
  }
  return apply(text);
}

Result<> ClusterDirectory::apply(const std::string& documents) {
  for (const std::string& document : split_documents(documents)) {
    const Result<std::string> name = file_name(document);
    if (!name) return tl::unexpected(name.error());
    Result<> written = put(*name, document);
    if (!written) return written;
  }
  return {};
}

Result<> ClusterDirectory::remove(const std::string& documents) {
  for (const std::string& document : split_documents(documents)) {
    const Result<std::string> name = file_name(document);
    if (!name) return tl::unexpected(name.error());
    Result<> dropped = drop(*name);
    if (!dropped) return dropped;
  }
  return {};
}

Result<> ClusterDirectory::set_service_cidrs(const std::vector<std::string>& cidrs) {
  std::vector<std::vector<std::string>> objects;
  for (const bool v6 : {false, true}) {
    std::size_t object = 0;
    for (const std::string& cidr : cidrs) {
      if ((cidr.find(':') != std::string::npos) != v6) continue;
      if (object == objects.size()) objects.emplace_back();
      objects[object++].push_back(cidr);
    }
  }
  const std::map<std::string, std::string> before = documents_;
  for (const auto& [key, document] : before) {
    if (!key.starts_with(kServiceCidrPrefix)) continue;
    Result<> dropped = drop(key);
    if (!dropped) return dropped;
  }
  for (std::size_t at = 0; at < objects.size(); ++at) {
    Result<> applied = apply(fmt::format(
        "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {{name: range-{}}}\n"
        "spec: {{cidrs: [\"{}\"]}}\n",
        at, fmt::join(objects[at], "\", \"")));
    if (!applied) return applied;
  }
  return {};
}

std::optional<std::string> ClusterDirectory::find(const AddressPort& destination,
                                                  Transport transport) const {
  std::optional<std::string> by_node_port;
  for (const auto& [key, document] : documents_) {
    if (!key.starts_with("Service_")) continue;
    const Result<YAML::Node> object = parse(document);
    if (!object) continue;  // file_name() has parsed it before
    const YAML::Node spec = field(*object, "spec");
    const bool by_address =
        parse_ip_address(text_of(field(spec, "clusterIP"))) == destination.ip ||
        holds(field(spec, "clusterIPs"), destination.ip) ||
        holds(field(spec, "externalIPs"), destination.ip) ||
        holds(field(field(*object, "status", "loadBalancer"), "ingress"), destination.ip);
    const std::optional<std::string> port = find_port(spec, destination, transport, by_address);
    if (!port) continue;
    const std::string found = key + ":" + *port;
    if (by_address) return found;
    by_node_port = found;
  }
  return by_node_port;
}

Result<> ClusterDirectory::put(const std::string& key, const std::string& document) {
  documents_[key] = document;
  return write_file(manifests() / key, document);
}

Result<> ClusterDirectory::drop(const std::string& key) {
  documents_.erase(key);
  std::error_code error;
  if (!std::filesystem::remove(manifests() / key, error)) {
    return fail(Errc::NotFound, "delete " + key + ", which does not exist");
  }
  return {};
}

}  // namespace mkp::packets
