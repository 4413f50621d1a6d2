#include "configs/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "configs/text_values.h"
#include "runner/duration_text.h"

namespace mkp {
namespace {

// Gathers what is wrong.
class Findings {
 public:
  void require(bool holds, std::string_view path, const std::string& what) {
    if (!holds) lines_.push_back(fmt::format("{}: {}", path, what));
  }

  void require_between(std::int32_t value, std::int32_t lowest, std::int32_t highest,
                       std::string_view path) {
    require(value >= lowest && value <= highest, path,
            fmt::format("{} is not between {} and {}", value, lowest, highest));
  }

  void require_not_negative(Duration value, std::string_view path) {
    require(value >= Duration::zero(), path, to_text(value) + " is negative");
  }

  void require_not_negative(std::int32_t value, std::string_view path) {
    require(value >= 0, path, fmt::format("{} is negative", value));
  }

  Result<> result() const {
    if (lines_.empty()) return {};
    return fail(Errc::Invalid, fmt::format("{}", fmt::join(lines_, "\n")));
  }

 private:
  std::vector<std::string> lines_;
};

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](unsigned char letter) { return std::isspace(letter) != 0; };
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && is_blank(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string normal_name(std::string_view text) {
  std::string name(without_blanks(text));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name;
}

void check_what_is_built(const Config& config, Findings& findings) {
  findings.require(config.mode != ProxyMode::Iptables, "mode",
                   "iptables is not built yet; leave the mode empty or set nftables");
  findings.require(config.mode != ProxyMode::Ipvs, "mode",
                   "ipvs is not supported and will not be; leave the mode empty or set nftables");
}

// What names an interface, or the beginning of some, where detectLocalMode goes by it.
void check_interface(const std::string& name, bool needed, std::string_view path,
                     Findings& findings) {
  constexpr std::size_t kLongest = 15;  // IFNAMSIZ, without the NUL
  findings.require(!needed || !name.empty(), path, "is empty, but detectLocalMode goes by it");
  findings.require(name.size() <= kLongest, path,
                   fmt::format("\"{}\" is longer than the {} characters of an interface's name",
                               name, kLongest));
  const bool odd = std::any_of(name.begin(), name.end(), [](unsigned char letter) {
    return std::isspace(letter) != 0 || letter == '/' || letter == '"' || letter == '*';
  });
  findings.require(!odd, path, fmt::format("\"{}\" cannot be an interface's name", name));
}

void check_detect_local(const Config& config, Findings& findings) {
  const DetectLocalMode mode = config.detect_local_mode;
  check_interface(config.detect_local.bridge_interface, mode == DetectLocalMode::BridgeInterface,
                  "detectLocal.bridgeInterface", findings);
  check_interface(config.detect_local.interface_name_prefix,
                  mode == DetectLocalMode::InterfaceNamePrefix, "detectLocal.interfaceNamePrefix",
                  findings);
}

void check_nftables(const NftablesConfig& nftables, Findings& findings) {
  findings.require_between(nftables.masquerade_bit, 0, 31, "nftables.masqueradeBit");
  findings.require(nftables.sync_period > Duration::zero(), "nftables.syncPeriod",
                   to_text(nftables.sync_period) + " is not greater than 0");
  findings.require_not_negative(nftables.min_sync_period, "nftables.minSyncPeriod");
  findings.require(nftables.min_sync_period <= nftables.sync_period, "nftables.minSyncPeriod",
                   fmt::format("{} is longer than nftables.syncPeriod, which is {}",
                               to_text(nftables.min_sync_period), to_text(nftables.sync_period)));
  findings.require(nftables.min_sync_period <= kFullSyncPeriod, "nftables.minSyncPeriod",
                   fmt::format("{} is longer than {}, after which all is synced anyway",
                               to_text(nftables.min_sync_period), to_text(kFullSyncPeriod)));
}

void check_cluster_cidr(const std::vector<IpPrefix>& prefixes, Findings& findings) {
  const bool pair =
      prefixes.size() == 2 && prefixes[0].address.family != prefixes[1].address.family;
  findings.require(
      prefixes.size() < 2 || pair, "clusterCIDR",
      fmt::format("{} is not one prefix, or one of IPv4 and one of IPv6", value_text(prefixes)));
}

void check_conntrack(const ConntrackConfig& conntrack, Findings& findings) {
  findings.require_not_negative(conntrack.max_per_core, "conntrack.maxPerCore");
  findings.require_not_negative(conntrack.min, "conntrack.min");
  findings.require_not_negative(conntrack.tcp_established_timeout,
                                "conntrack.tcpEstablishedTimeout");
  findings.require_not_negative(conntrack.tcp_close_wait_timeout, "conntrack.tcpCloseWaitTimeout");
  findings.require_not_negative(conntrack.udp_timeout, "conntrack.udpTimeout");
  findings.require_not_negative(conntrack.udp_stream_timeout, "conntrack.udpStreamTimeout");
}

void check_ipvs(const IpvsConfig& ipvs, Findings& findings) {
  findings.require_not_negative(ipvs.tcp_timeout, "ipvs.tcpTimeout");
  findings.require_not_negative(ipvs.tcp_fin_timeout, "ipvs.tcpFinTimeout");
  findings.require_not_negative(ipvs.udp_timeout, "ipvs.udpTimeout");
}

void check_client_connection(const ClientConnectionConfig& connection, Findings& findings) {
  constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
  constexpr std::string_view kJson = "application/json";
  const auto is_spoken = [=](std::string_view type) { return type == kProtobuf || type == kJson; };
  const auto require_spoken = [&](std::string_view type, std::string_view path) {
    findings.require(is_spoken(type), path,
                     fmt::format("\"{}\" is not {} or {}", type, kProtobuf, kJson));
  };
  require_spoken(connection.content_type, "clientConnection.contentType");
  for (const std::string_view type : split_list(connection.accept_content_types)) {
    require_spoken(without_blanks(type), "clientConnection.acceptContentTypes");
  }
  findings.require(std::isfinite(connection.qps), "clientConnection.qps", "is not a finite number");
  findings.require_not_negative(connection.burst, "clientConnection.burst");
}

}  // namespace

Result<> validate(const Config& config) {
  Findings findings;
  check_what_is_built(config, findings);
  findings.require(
      config.hostname_override.empty() || !normal_name(config.hostname_override).empty(),
      "hostnameOverride", "is blank");
  check_cluster_cidr(config.cluster_cidr, findings);
  check_detect_local(config, findings);
  check_nftables(config.nftables, findings);
  findings.require_between(config.iptables.masquerade_bit, 0, 31, "iptables.masqueradeBit");
  check_ipvs(config.ipvs, findings);
  check_conntrack(config.conntrack, findings);
  findings.require_not_negative(config.logging.verbosity, "logging.verbosity");
  check_client_connection(config.client_connection, findings);
  findings.require_between(config.oom_score_adj, -1000, 1000, "oomScoreAdj");
  findings.require(config.config_sync_period > Duration::zero(), "configSyncPeriod",
                   to_text(config.config_sync_period) + " is not greater than 0");
  return findings.result();
}

Result<std::string> node_name(const Config& config, std::string_view host_name) {
  const bool overridden = !config.hostname_override.empty();
  std::string name = normal_name(overridden ? config.hostname_override : host_name);
  if (name.empty()) {
    return fail(Errc::Invalid,
                overridden ? "hostnameOverride: is blank"
                           : "this host has no name; give the node's with --hostname-override");
  }
  return name;
}

}  // namespace mkp
