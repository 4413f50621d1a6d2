#include "configs/flag_table.h"

namespace mkp {
namespace {

using Takes = ConfigFlag::Takes;
using Rank = ConfigFlag::Rank;

std::vector<ConfigFlag> general_flags() {
  return {
      {"proxy-mode", {"mode"}, "nftables, the default; iptables is not built yet"},
      {"hostname-override",
       {"hostnameOverride"},
       "this node's name, if it is not the host's",
       Takes::Value,
       Rank::AboveFile},
      {"cluster-cidr", {"clusterCIDR"}, "the pods' addresses: a prefix, or one of each family"},
      {"detect-local-mode",
       {"detectLocalMode"},
       "ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix"},
      {"pod-bridge-interface",
       {"detectLocal.bridgeInterface"},
       "the bridge of this node's pods, for BridgeInterface"},
      {"pod-interface-name-prefix",
       {"detectLocal.interfaceNamePrefix"},
       "how the interfaces of this node's pods begin, for InterfaceNamePrefix"},
      {"nodeport-addresses",
       {"nodePortAddresses"},
       "where node ports answer: prefixes, or primary, localhost or all",
       Takes::List},
      {"bind-address",
       {"bindAddress"},
       "this node's address where its Node names none; which family is its first"},
      {"healthz-bind-address",
       {"healthzBindAddress"},
       "where /healthz and /livez answer; port 0: nowhere"},
      {"metrics-bind-address",
       {"metricsBindAddress"},
       "where /metrics, /proxyMode and /configz answer; port 0: nowhere"},
      {"bind-address-hard-fail",
       {"bindAddressHardFail"},
       "end when one of the two cannot be listened on",
       Takes::Switch},
      {"profiling", {"enableProfiling"}, "", Takes::Switch},
      {"show-hidden-metrics-for-version", {"showHiddenMetricsForVersion"}, ""},
      {"oom-score-adj", {"oomScoreAdj"}, ""},
      {"config-sync-period", {"configSyncPeriod"}, ""},
      {"feature-gates", {"featureGates"}, "", Takes::List},
      {"kubeconfig",
       {"clientConnection.kubeconfig"},
       "file that says how to reach the API server; without it, --master and --manifests, the "
       "pod's "
       "service account counts"},
      {"kube-api-content-type",
       {"clientConnection.contentType"},
       "application/vnd.kubernetes.protobuf or application/json"},
      {"kube-api-qps",
       {"clientConnection.qps"},
       "requests a second to the API server; negative: no limit"},
      {"kube-api-burst",
       {"clientConnection.burst"},
       "requests to the API server that may follow each other at once"},
  };
}

// Older than nftables: the periods and the switch hold for that mode too, the bit doesn't.
std::vector<ConfigFlag> mode_flags() {
  return {
      {"masquerade-all",
       {"nftables.masqueradeAll", "iptables.masqueradeAll"},
       "masquerade all traffic to cluster IPs",
       Takes::Switch},
      {"iptables-sync-period",
       {"nftables.syncPeriod", "iptables.syncPeriod"},
       "the longest time between attempts after a failure; in nftables mode too"},
      {"iptables-min-sync-period",
       {"nftables.minSyncPeriod", "iptables.minSyncPeriod"},
       "the shortest time between syncs, 0 for none; in nftables mode too"},
      {"iptables-masquerade-bit", {"iptables.masqueradeBit"}, ""},
      {"iptables-localhost-nodeports", {"iptables.localhostNodePorts"}, "", Takes::Switch},
      {"ipvs-sync-period", {"ipvs.syncPeriod"}, ""},
      {"ipvs-min-sync-period", {"ipvs.minSyncPeriod"}, ""},
      {"ipvs-scheduler", {"ipvs.scheduler"}, ""},
      {"ipvs-exclude-cidrs", {"ipvs.excludeCIDRs"}, "", Takes::List},
      {"ipvs-strict-arp", {"ipvs.strictARP"}, "", Takes::Switch},
      {"ipvs-tcp-timeout", {"ipvs.tcpTimeout"}, ""},
      {"ipvs-tcpfin-timeout", {"ipvs.tcpFinTimeout"}, ""},
      {"ipvs-udp-timeout", {"ipvs.udpTimeout"}, ""},
  };
}

std::vector<ConfigFlag> conntrack_flags() {
  return {
      {"conntrack-max-per-core", {"conntrack.maxPerCore"}, ""},
      {"conntrack-min", {"conntrack.min"}, ""},
      {"conntrack-tcp-timeout-established", {"conntrack.tcpEstablishedTimeout"}, ""},
      {"conntrack-tcp-timeout-close-wait", {"conntrack.tcpCloseWaitTimeout"}, ""},
      {"conntrack-tcp-be-liberal", {"conntrack.tcpBeLiberal"}, "", Takes::Switch},
      {"conntrack-udp-timeout", {"conntrack.udpTimeout"}, ""},
      {"conntrack-udp-timeout-stream", {"conntrack.udpStreamTimeout"}, ""},
  };
}

std::vector<ConfigFlag> logging_flags() {
  constexpr Rank kAbove = Rank::AboveFile;
  return {
      {"v", {"logging.verbosity"}, "2 logs debug lines, 4 everything", Takes::Value, kAbove},
      {"vmodule", {"logging.vmodule"}, "", Takes::List, kAbove},
      {"logging-format", {"logging.format"}, "text or json", Takes::Value, kAbove},
      {"log-flush-frequency", {"logging.flushFrequency"}, "", Takes::Value, kAbove},
      {"log-text-split-stream", {"logging.options.text.splitStream"}, "", Takes::Switch, kAbove},
      {"log-text-info-buffer-size",
       {"logging.options.text.infoBufferSize"},
       "",
       Takes::Value,
       kAbove},
      {"log-json-split-stream", {"logging.options.json.splitStream"}, "", Takes::Switch, kAbove},
      {"log-json-info-buffer-size",
       {"logging.options.json.infoBufferSize"},
       "",
       Takes::Value,
       kAbove},
  };
}

}  // namespace

std::span<const ConfigFlag> config_flags() {
  static const std::vector<ConfigFlag> flags = [] {
    std::vector<ConfigFlag> all = general_flags();
    for (const auto& more : {mode_flags(), conntrack_flags(), logging_flags()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return flags;
}

}  // namespace mkp
