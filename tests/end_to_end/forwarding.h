#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "configs/config.h"
#include "netlink/ruleset.h"

namespace mkp {

// Where new connections to a frontend go, as rules in a kernel say it, whosever they are.
struct Destination {
  std::set<std::string> pods;     // "10.180.0.2:8080": for clients that are pods of this node
  std::set<std::string> others;   // for all other clients
  std::string refusal;            // "drop" or "reject": what happens to those led nowhere
  std::uint32_t affinity = 0;     // seconds
  std::set<std::string> sources;  // "203.0.113.0/24": who may use it; empty: everybody
};

// By frontend: "10.96.0.1 tcp 443", "node port tcp 30080".
using Forwarding = std::map<std::string, Destination>;

// What `nft list table FAMILY kube-proxy` prints of kube-proxy 1.37's rules.
Forwarding forwarding_of_kube_proxy(const std::string& listing);
// What a dump of our own table means.
Forwarding forwarding_of_ours(const std::optional<nft::Ruleset>& dump, const Config& config,
                              IpFamily family);

// A line a frontend, in order.
std::string to_text(const Forwarding& forwarding);

}  // namespace mkp
