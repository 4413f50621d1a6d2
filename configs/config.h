#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/clock.h"
#include "runner/ip_address.h"
#include "runner/log.h"

namespace mkp {

enum class ProxyMode : std::uint8_t { Nftables, Iptables, Ipvs };

// How traffic from this node's or cluster's pods is told apart from other traffic.
enum class DetectLocalMode : std::uint8_t {
  ClusterCidr,
  NodeCidr,
  BridgeInterface,
  InterfaceNamePrefix
};

// Where a server of ours listens. Port 0: it doesn't.
struct ListenAddress {
  IpAddress address;
  std::uint16_t port = 0;

  bool operator==(const ListenAddress&) const = default;
};

// Which of this node's addresses take traffic for node ports. Neither `primary` nor a prefix: all
// of them.
struct NodePortAddresses {
  bool primary = false;  // the node's own, one of each family
  std::vector<IpPrefix> prefixes;

  bool operator==(const NodePortAddresses&) const = default;
};

struct ClientConnectionConfig {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 5;
  std::int32_t burst = 10;

  bool operator==(const ClientConnectionConfig&) const = default;
};

struct LoggingConfig {
  // klog's verbosity for the files whose names match.
  struct Module {
    std::string file_pattern;
    std::int32_t verbosity = 0;

    bool operator==(const Module&) const = default;
  };
  struct Stream {
    bool split_stream = false;
    std::string info_buffer_size = "0";  // a Kubernetes quantity: 64Ki

    bool operator==(const Stream&) const = default;
  };

  LogFormat format = LogFormat::Text;
  Duration flush_frequency = std::chrono::seconds(5);
  std::int32_t verbosity = 0;
  std::vector<Module> vmodule;
  Stream text;
  Stream json;

  bool operator==(const LoggingConfig&) const = default;
};

struct NftablesConfig {
  std::int32_t masquerade_bit = 14;
  bool masquerade_all = false;
  Duration sync_period = std::chrono::seconds(30);
  // Kubernetes' is 1 s. A sync of ours costs in proportion to what changed.
  Duration min_sync_period = std::chrono::milliseconds(10);

  bool operator==(const NftablesConfig&) const = default;
};

struct IptablesConfig {
  std::int32_t masquerade_bit = 14;
  bool masquerade_all = false;
  bool localhost_node_ports = true;
  Duration sync_period = std::chrono::seconds(30);
  Duration min_sync_period = std::chrono::seconds(1);

  bool operator==(const IptablesConfig&) const = default;
};

struct IpvsConfig {
  Duration sync_period = std::chrono::seconds(30);
  Duration min_sync_period{};
  std::string scheduler;
  std::vector<IpPrefix> exclude_cidrs;
  bool strict_arp = false;
  Duration tcp_timeout{};
  Duration tcp_fin_timeout{};
  Duration udp_timeout{};

  bool operator==(const IpvsConfig&) const = default;
};

// Settings of Windows nodes, which a file for all nodes may hold.
struct WinkernelConfig {
  std::string network_name;
  std::string source_vip;
  bool enable_dsr = false;
  std::string root_hns_endpoint_name;
  bool forward_health_check_vip = false;

  bool operator==(const WinkernelConfig&) const = default;
};

// Limits and timeouts of connection tracking. Zero: the kernel's is left alone.
struct ConntrackConfig {
  std::int32_t max_per_core = 32768;
  std::int32_t min = 131072;
  Duration tcp_established_timeout = std::chrono::hours(24);
  Duration tcp_close_wait_timeout = std::chrono::hours(1);
  bool tcp_be_liberal = false;
  Duration udp_timeout{};
  Duration udp_stream_timeout{};

  bool operator==(const ConntrackConfig&) const = default;
};

struct DetectLocalConfig {
  std::string bridge_interface;
  std::string interface_name_prefix;

  bool operator==(const DetectLocalConfig&) const = default;
};

// What an administrator may set: the effective values of a KubeProxyConfiguration v1alpha1, which
// default.yaml shows with their meaning. kube-proxy's defaults, except for `mode` and
// nftables.min_sync_period.
struct Config {
  ProxyMode mode = ProxyMode::Nftables;
  std::string hostname_override;  // as written; node_name() tells the name
  std::vector<IpPrefix> cluster_cidr;
  DetectLocalMode detect_local_mode = DetectLocalMode::ClusterCidr;
  DetectLocalConfig detect_local;
  NftablesConfig nftables;
  IptablesConfig iptables;
  IpvsConfig ipvs;
  WinkernelConfig winkernel;
  NodePortAddresses node_port_addresses{.primary = true, .prefixes = {}};
  ConntrackConfig conntrack;
  LoggingConfig logging;
  ClientConnectionConfig client_connection;
  IpAddress bind_address;  // 0.0.0.0
  ListenAddress healthz_bind_address{.address = {}, .port = 10256};
  ListenAddress metrics_bind_address{.address = {.family = IpFamily::Ipv4, .bytes = {127, 0, 0, 1}},
                                     .port = 10249};
  bool bind_address_hard_fail = false;
  bool enable_profiling = false;
  std::string show_hidden_metrics_for_version;
  std::int32_t oom_score_adj = -999;
  Duration config_sync_period = std::chrono::minutes(15);
  std::string port_range;
  bool windows_run_as_service = false;
  std::map<std::string, bool> feature_gates;

  bool operator==(const Config&) const = default;
};

}  // namespace mkp
