#pragma once

#include "configs/config.h"

// Every field of KubeProxyConfiguration v1alpha1 by its name: the one list that loading, writing,
// comparing and the command line share. A visitor has
//   block(name, inner)      a nested block; calls inner() for its fields, or doesn't
//   field(name, value)      a value
//   defaulted(name, value)  one of which Kubernetes takes the zero value in a file (0, 0s, "") for
//   "not set" listen(name, value)     a ListenAddress; "" is "not set", and an address alone takes
//   the port that `value` has list(name, value)       a list of texts; an empty one is "not set"
//   text_or_number(name, value)  as defaulted(), but may be a bare number: nanoseconds of a
//   Duration
namespace mkp {

template <class Visitor, class Logging>
void visit_logging(Visitor& visit, Logging& logging) {
  visit.defaulted("format", logging.format);
  visit.text_or_number("flushFrequency", logging.flush_frequency);
  visit.field("verbosity", logging.verbosity);
  visit.field("vmodule", logging.vmodule);
  const auto stream = [&visit](auto& options) {
    visit.field("splitStream", options.split_stream);
    visit.text_or_number("infoBufferSize", options.info_buffer_size);
  };
  visit.block("options", [&] {
    visit.block("text", [&] { stream(logging.text); });
    visit.block("json", [&] { stream(logging.json); });
  });
}

template <class Visitor, class Mode>
void visit_nftables(Visitor& visit, Mode& nftables) {
  visit.field("masqueradeBit", nftables.masquerade_bit);
  visit.field("masqueradeAll", nftables.masquerade_all);
  visit.defaulted("syncPeriod", nftables.sync_period);
  // Ours: an explicit 0s means 0.
  visit.field("minSyncPeriod", nftables.min_sync_period);
}

template <class Visitor, class Mode>
void visit_iptables(Visitor& visit, Mode& iptables) {
  visit.field("masqueradeBit", iptables.masquerade_bit);
  visit.field("masqueradeAll", iptables.masquerade_all);
  visit.field("localhostNodePorts", iptables.localhost_node_ports);
  visit.defaulted("syncPeriod", iptables.sync_period);
  visit.defaulted("minSyncPeriod", iptables.min_sync_period);
}

template <class Visitor, class Mode>
void visit_ipvs(Visitor& visit, Mode& ipvs) {
  visit.defaulted("syncPeriod", ipvs.sync_period);
  visit.field("minSyncPeriod", ipvs.min_sync_period);
  visit.field("scheduler", ipvs.scheduler);
  visit.list("excludeCIDRs", ipvs.exclude_cidrs);
  visit.field("strictARP", ipvs.strict_arp);
  visit.field("tcpTimeout", ipvs.tcp_timeout);
  visit.field("tcpFinTimeout", ipvs.tcp_fin_timeout);
  visit.field("udpTimeout", ipvs.udp_timeout);
}

template <class Visitor, class Mode>
void visit_winkernel(Visitor& visit, Mode& winkernel) {
  visit.field("networkName", winkernel.network_name);
  visit.field("sourceVip", winkernel.source_vip);
  visit.field("enableDSR", winkernel.enable_dsr);
  visit.field("rootHnsEndpointName", winkernel.root_hns_endpoint_name);
  visit.field("forwardHealthCheckVip", winkernel.forward_health_check_vip);
}

template <class Visitor, class Conntrack>
void visit_conntrack(Visitor& visit, Conntrack& conntrack) {
  visit.field("maxPerCore", conntrack.max_per_core);
  visit.field("min", conntrack.min);
  visit.field("tcpEstablishedTimeout", conntrack.tcp_established_timeout);
  visit.field("tcpCloseWaitTimeout", conntrack.tcp_close_wait_timeout);
  visit.field("tcpBeLiberal", conntrack.tcp_be_liberal);
  visit.field("udpTimeout", conntrack.udp_timeout);
  visit.field("udpStreamTimeout", conntrack.udp_stream_timeout);
}

template <class Visitor, class Connection>
void visit_client_connection(Visitor& visit, Connection& connection) {
  visit.field("kubeconfig", connection.kubeconfig);
  visit.field("acceptContentTypes", connection.accept_content_types);
  visit.defaulted("contentType", connection.content_type);
  visit.defaulted("qps", connection.qps);
  visit.defaulted("burst", connection.burst);
}

// `AnyConfig` is Config or const Config.
template <class Visitor, class AnyConfig>
void visit_config(Visitor& visit, AnyConfig& config) {
  visit.defaulted("mode", config.mode);
  visit.field("hostnameOverride", config.hostname_override);
  visit.field("clusterCIDR", config.cluster_cidr);
  visit.defaulted("detectLocalMode", config.detect_local_mode);
  visit.block("detectLocal", [&] {
    visit.field("bridgeInterface", config.detect_local.bridge_interface);
    visit.field("interfaceNamePrefix", config.detect_local.interface_name_prefix);
  });
  visit.block("nftables", [&] { visit_nftables(visit, config.nftables); });
  visit.block("iptables", [&] { visit_iptables(visit, config.iptables); });
  visit.block("ipvs", [&] { visit_ipvs(visit, config.ipvs); });
  visit.block("winkernel", [&] { visit_winkernel(visit, config.winkernel); });
  visit.list("nodePortAddresses", config.node_port_addresses);
  visit.block("conntrack", [&] { visit_conntrack(visit, config.conntrack); });
  visit.block("logging", [&] { visit_logging(visit, config.logging); });
  visit.block("clientConnection",
              [&] { visit_client_connection(visit, config.client_connection); });
  visit.defaulted("bindAddress", config.bind_address);
  visit.listen("healthzBindAddress", config.healthz_bind_address);
  visit.listen("metricsBindAddress", config.metrics_bind_address);
  visit.field("bindAddressHardFail", config.bind_address_hard_fail);
  visit.field("enableProfiling", config.enable_profiling);
  visit.field("showHiddenMetricsForVersion", config.show_hidden_metrics_for_version);
  visit.field("oomScoreAdj", config.oom_score_adj);
  visit.defaulted("configSyncPeriod", config.config_sync_period);
  visit.field("portRange", config.port_range);
  visit.field("windowsRunAsService", config.windows_run_as_service);
  visit.field("featureGates", config.feature_gates);
}

}  // namespace mkp
