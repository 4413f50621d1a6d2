#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/result.h"
#include "tests/packets/packet.h"

namespace mkp::packets {

// The packet-flow files of tests/conformance, as values. Their README says what each field means.

enum class Mode { Nftables, Iptables };

std::string_view to_text(Mode mode);  // as KubeProxyConfiguration spells it

struct Expectation {
  enum class Kind { Translated, Reject, Drop, Pass, Accept };
  Kind kind = Kind::Pass;
  std::set<AddressPort> endpoints{};  // Translated
};

struct Flow {
  std::optional<IpAddress> from;  // absent: the node's primary address
  AddressPort to;
  Transport transport = Transport::Tcp;
  std::optional<Mode> mode;  // absent: both
  Expectation expect;
  std::map<AddressPort, bool> masquerade;  // complete for the expected endpoints
  std::optional<std::chrono::seconds> sticky;
  std::optional<std::uint16_t> source_port;
  bool invalid_state = false;
  std::optional<std::uint32_t> mark;  // of other software; must be on the packet to the end
};

std::string to_text(const Flow& flow);

struct ProxySettings {
  std::string cluster_cidr;
  std::string detect_local_mode = "ClusterCIDR";
  std::string bridge_interface{};
  std::string interface_name_prefix{};
  std::optional<int> masquerade_bit{};
  std::optional<std::vector<std::string>> node_port_addresses{};
  bool localhost_node_ports = true;
  bool masquerade_all = false;
  bool conntrack_tcp_be_liberal = false;
};

// What a step changes of the Node object.
struct NodeChange {
  std::optional<std::string> zone;  // absent: none
  std::vector<std::string> pod_cidrs;
};

// What a step changes of the addresses that the node's devices have.
struct AddressChange {
  std::vector<IpAddress> add;
  std::vector<IpAddress> remove;
};

struct Step {
  std::string about;
  std::optional<ProxySettings> settings;  // other ones, for the restart
  std::string apply;                      // manifests
  std::string remove;                     // manifests; applied after `apply`
  std::optional<NodeChange> node;
  AddressChange node_addresses;
  std::optional<std::vector<std::string>> service_cidrs;
  bool restart = false;
  std::vector<Flow> flows;
};

struct NodeUnderTest {
  std::string name;
  std::vector<IpAddress> ips;
  std::optional<std::string> zone{};
  std::vector<std::string> pod_cidrs{};
  bool ipv6 = true;  // whether its kernel speaks IPv6
};

struct Case {
  std::string name;
  std::string about;
  std::vector<Mode> modes;
  ProxySettings settings;
  NodeUnderTest node;
  bool unserved = false;    // some of its objects cannot be served
  std::vector<Step> steps;  // the first is the case's start: its objects, service CIDRs and flows
};

// A key that the README does not name is an error, as is a value that makes no sense.
Result<std::vector<Case>> load_cases(const std::filesystem::path& file);
Result<std::vector<Case>> parse_cases(const std::string& yaml);

// The files of that directory whose cases have flows, and those which cannot be read, in order.
std::vector<std::filesystem::path> packet_flow_files(const std::filesystem::path& directory);

}  // namespace mkp::packets
