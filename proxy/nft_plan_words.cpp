#include "proxy/nft_plan_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "proxy/nft_elements.h"
#include "proxy/nft_skeleton.h"

namespace mkp {
namespace {

using Route = LiveFrontend::Route;

// More than anybody reads.
constexpr std::size_t kMostNamed = 10;

template <class T>
std::string list_text(const std::vector<T>& items) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kMostNamed); ++i) {
    text += (text.empty() ? "" : " ") + to_text(items[i]);
  }
  if (items.size() > kMostNamed) text += fmt::format(" and {} more", items.size() - kMostNamed);
  return text;
}

std::string endpoints_text(const std::vector<Endpoint>& endpoints) {
  return endpoints.empty() ? "no endpoint" : list_text(endpoints);
}

// "+ A B - C"; empty when nothing differs.
std::string difference_text(const std::vector<Endpoint>& before,
                            const std::vector<Endpoint>& after) {
  std::vector<Endpoint> more;
  std::vector<Endpoint> less;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(more));
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(less));
  std::string text;
  if (!more.empty()) text = "+ " + list_text(more);
  if (!less.empty()) text += (text.empty() ? "- " : " - ") + list_text(less);
  return text;
}

std::string frontend_text(const Frontend& frontend, FrontendKind kind) {
  if (!frontend.ip) return to_text(frontend);
  return fmt::format("{} {}", to_text(kind), to_text(frontend));
}

// Where new connections go, or why not.
std::string route_text(const LiveFrontend& state) {
  switch (state.route) {
    case Route::Nowhere:
      return state.refusal == Refusal::Drop
                 ? "internalTrafficPolicy Local, no endpoint on this node: connections are dropped"
                 : "no endpoints: connections are rejected";
    case Route::InternalCluster:
    case Route::ExternalCluster:
      return "to " + endpoints_text(state.cluster.endpoints());
    case Route::InternalLocal:
      return "internalTrafficPolicy Local, to " + endpoints_text(state.local.endpoints());
    case Route::InternalAffinity:
    case Route::ExternalAffinity:
      return "sessionAffinity ClientIP";
    case Route::ExternalLocal:
      break;
  }
  if (!state.affinity.empty()) {
    return state.local_service
               ? "externalTrafficPolicy Local, sessionAffinity ClientIP"
               : "externalTrafficPolicy Local, sessionAffinity ClientIP, no endpoint "
                 "on this node: connections from outside are dropped";
  }
  return fmt::format("externalTrafficPolicy Local, from outside {}, from pods and this node to {}",
                     state.local_service ? "to " + endpoints_text(state.local.endpoints())
                                         : "dropped as no endpoint is on this node",
                     endpoints_text(state.cluster.endpoints()));
}

std::string state_text(const LiveFrontend& state) {
  std::string text = route_text(state);
  if (!state.allowed_sources.empty()) {
    text += "; loadBalancerSourceRanges: only from " + list_text(state.allowed_sources);
  }
  return text;
}

// Equal but for the endpoints and the slots that they sit in.
bool differ_in_endpoints_only(LiveFrontend before, const LiveFrontend& after) {
  before.cluster = after.cluster;
  before.local = after.local;
  return before == after;
}

std::string change_text(const LiveFrontend& before, const LiveFrontend& after) {
  if (differ_in_endpoints_only(before, after)) {
    const std::string cluster =
        difference_text(before.cluster.endpoints(), after.cluster.endpoints());
    const std::string local = difference_text(before.local.endpoints(), after.local.endpoints());
    std::string text;
    if (!cluster.empty()) text = "endpoints " + cluster;
    if (!local.empty()) text += (text.empty() ? "" : "; ") + ("endpoints on this node " + local);
    return text.empty() ? "the same endpoints in fewer or more slots" : text;
  }
  const std::string was = state_text(before);
  const std::string is = state_text(after);
  std::string text = is == was ? "as before" : fmt::format("now {}; was {}", is, was);
  if (before.owner != after.owner) text = fmt::format("taken over from {}, {}", before.owner, text);
  return text;
}

std::string line_of(const NftChange::FrontendChange& change) {
  const std::optional<LiveFrontend>& before = change.before;
  const std::optional<LiveFrontend>& after = change.after;
  std::string text = frontend_text(change.frontend, change.kind) + ": ";
  // The rules alone do not tell the two apart.
  const bool either = !after && change.frontend.ip && change.kind == FrontendKind::ExternalIp;
  if (either) text = "external or load-balancer IP " + to_text(change.frontend) + ": ";
  if (before && after) return text + change_text(*before, *after);
  if (after) return text + "new, " + state_text(*after);
  return before ? text + "gone, was " + state_text(*before) : text;
}

std::string affinity_text(const AffinityRules& rules) {
  std::string text = fmt::format("for {} s, to ", rules.seconds);
  if (rules.cluster.empty()) return text + endpoints_text(rules.local);
  text += endpoints_text(rules.cluster);
  if (!rules.local.empty()) text += "; by policy Local to " + endpoints_text(rules.local);
  return text;
}

std::string line_of(const NftChange::AffinityChange& change) {
  constexpr std::string_view kWhat = "sessionAffinity ClientIP: ";
  const std::optional<AffinityRules>& after = change.after;
  if (!after) return fmt::format("{}gone, clients are forgotten", kWhat);
  return fmt::format("{}{}{}", kWhat, change.before ? "" : "new, ", affinity_text(*after));
}

std::string pods_text(const LocalPods& pods) {
  constexpr std::string_view kTold = "pods are told from other clients by ";
  if (!pods.sources.empty()) {
    return fmt::format("{}their addresses within {}", kTold, list_text(pods.sources));
  }
  if (!pods.interface.empty()) return fmt::format("{}the interface {}", kTold, pods.interface);
  if (!pods.interface_prefix.empty()) {
    return fmt::format("{}interfaces {}*", kTold, pods.interface_prefix);
  }
  return "pods are not told from other clients";
}

// What serves everybody shows in the operations alone.
class NodeWords {
 public:
  explicit NodeWords(const NftChange& change) : change_(change) {}

  std::vector<PlanWord> read() {
    for (const nft::Operation& operation : change_.transaction.operations) {
      std::visit(*this, operation.what);
    }
    if (!added_.empty()) say("node ports are open at " + list_text(added_));
    if (!removed_.empty()) say("node ports are closed at " + list_text(removed_));
    return std::move(words_);
  }

  void operator()(const nft::AddElement& add) {
    if (add.set == kNodePortIps) note(add.element, added_);
  }
  void operator()(const nft::DeleteElement& remove) {
    if (remove.set == kNodePortIps) note(remove.element, removed_);
  }
  void operator()(const nft::FlushChain& flush) { flushed_.insert(flush.chain); }
  void operator()(const nft::AddRule& add) {
    if (!said_.insert(add.chain).second) return;
    const NftSettings& settings = change_.settings;
    const bool way_in =
        add.chain.starts_with("internal-") || add.chain.starts_with(affinity_internal_chain(""));
    const bool tells = settings.masquerade_all || flushed_.contains(add.chain);
    if (way_in && tells && said_.insert("marking").second) {
      say(settings.masquerade_all
              ? "masqueradeAll: every client of a cluster IP is masqueraded, pods as well"
              : "clients of a cluster IP are masqueraded unless they are pods: " +
                    pods_text(settings.local_pods));
    }
    if (add.chain == kMarkForMasquerade && flushed_.contains(add.chain)) {
      say(fmt::format("what is to be masqueraded has the mark 0x{:08x} (masqueradeBit)",
                      settings.masquerade_mark));
    }
    if (add.chain == kClusterIpsCheck && flushed_.contains(add.chain) &&
        settings.service_cidrs.empty()) {
      say("ServiceCIDRs: none is known, so what is addressed to no Service is not dropped");
    }
    if (add.chain == kClusterIpsCheck && !settings.service_cidrs.empty()) {
      say("ServiceCIDRs: what is addressed to no Service in " + list_text(settings.service_cidrs) +
          " is dropped");
    }
    if (add.chain == kDispatch && settings.node_ports_anywhere) {
      say("node ports are open at every address of this node but loopback");
    }
    if (add.chain == kAddressSets.external_local) {
      say(pods_text(settings.local_pods));
    }
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  void note(const nft::Element& element, std::vector<IpAddress>& into) const {
    if (const auto ip = address_of(element.key, change_.settings.family)) into.push_back(*ip);
  }
  void say(std::string line) { words_.push_back({nft::Operation::kShared, std::move(line)}); }

  const NftChange& change_;
  std::set<std::string> said_;
  std::set<std::string> flushed_;
  std::vector<IpAddress> added_;
  std::vector<IpAddress> removed_;
  std::vector<PlanWord> words_;
};

}  // namespace

std::vector<PlanWord> plan_words(const NftChange& change) {
  std::vector<PlanWord> words = NodeWords(change).read();
  for (const NftChange::FrontendChange& one : change.frontends) {
    words.push_back({one.serves, line_of(one)});
  }
  for (const auto& [name, one] : change.affinity) words.push_back({one.serves, line_of(one)});
  return words;
}

}  // namespace mkp
