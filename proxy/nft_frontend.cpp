#include "proxy/nft_frontend.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "proxy/nft_affinity.h"
#include "proxy/nft_elements.h"
#include "proxy/nft_skeleton.h"

namespace mkp {
namespace {

using Route = LiveFrontend::Route;

// The routes of a ClusterIP, or of any other frontend, that leads to endpoints of the port.
void lead(const ServicePort& port, bool internal, LiveFrontend& state) {
  const TrafficPolicy policy = internal ? port.internal_policy : port.external_policy;
  const bool local = policy == TrafficPolicy::Local;
  if (internal) {
    state.route = local ? Route::InternalLocal : Route::InternalCluster;
  } else {
    state.route = local ? Route::ExternalLocal : Route::ExternalCluster;
  }
}

bool uses_cluster(Route route) {
  return route == Route::InternalCluster || route == Route::ExternalCluster ||
         route == Route::ExternalLocal;
}

bool uses_local(Route route) {
  return route == Route::InternalLocal || route == Route::ExternalLocal;
}

void remember_clients(const ServicePortName& name, LiveFrontend& state) {
  state.affinity = affinity_name(name);
  if (state.route == Route::ExternalLocal) return;
  const bool external = state.route == Route::ExternalCluster;
  state.route = external ? Route::ExternalAffinity : Route::InternalAffinity;
}

void seat(const ServicePort& port, const LiveFrontend* before, LiveFrontend& state) {
  const SlotTable none;
  if (uses_cluster(state.route)) {
    state.cluster = place(before ? before->cluster : none, port.cluster_endpoints());
  }
  if (uses_local(state.route)) {
    state.local = place(before ? before->local : none, port.local_endpoints());
  }
}

// The chain that draws from a list, or the Service port's own.
std::string list_chain(const Frontend& frontend, const LiveFrontend& state, bool local) {
  if (!state.affinity.empty()) {
    return local ? affinity_local_chain(state.affinity) : affinity_cluster_chain(state.affinity);
  }
  using Kind = SlotChain::Kind;
  if (local) {
    return name_of({frontend.ip ? Kind::Local : Kind::NodePortLocal, state.local.size()});
  }
  return name_of({frontend.ip ? Kind::Cluster : Kind::NodePortCluster, state.cluster.size()});
}

std::string entry_chain(const Frontend& frontend, const LiveFrontend& state) {
  using Kind = SlotChain::Kind;
  switch (state.route) {
    case Route::Nowhere:
      break;
    case Route::InternalCluster:
      return name_of({Kind::InternalCluster, state.cluster.size()});
    case Route::InternalLocal:
      return name_of({Kind::InternalLocal, state.local.size()});
    case Route::ExternalCluster:
      return name_of({frontend.ip ? Kind::ExternalCluster : Kind::NodePortExternalCluster,
                      state.cluster.size()});
    case Route::ExternalLocal:
      return std::string(sets_of(frontend).external_local);
    case Route::InternalAffinity:
      return affinity_internal_chain(state.affinity);
    case Route::ExternalAffinity:
      return affinity_external_chain(state.affinity);
  }
  return {};
}

}  // namespace

std::vector<Endpoint> LiveFrontend::endpoints() const {
  std::vector<Endpoint> all;
  const std::vector<Endpoint> first = cluster.endpoints();
  const std::vector<Endpoint> second = local.endpoints();
  std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(all));
  return all;
}

LiveFrontend wanted_frontend(const ServicePortName& name, const ServicePort& port,
                             const ServedFrontend& served, const LiveFrontend* before) {
  LiveFrontend state;
  state.owner = owner_comment(name);
  const bool internal = served.kind == FrontendKind::ClusterIp;
  state.refusal = internal ? port.internal_refusal() : port.external_refusal();
  // Policy Local without an endpoint here leads outsiders nowhere, but pods and the node it does.
  const bool leads = internal ? state.refusal == Refusal::None : port.endpoints.any;
  if (leads) lead(port, internal, state);
  if (state.route == Route::ExternalLocal) {
    state.short_circuit = !port.cluster_endpoints().empty();
    state.local_service = !port.local_endpoints().empty();
  }
  if (leads && port.affinity_seconds) {
    remember_clients(name, state);
  } else {
    seat(port, before, state);
  }
  if (served.kind == FrontendKind::LoadBalancerIp) state.allowed_sources = port.allowed_sources;
  return state;
}

std::vector<PlacedElement> frontend_elements(const Frontend& frontend, const LiveFrontend& state) {
  const FrontendSets& sets = sets_of(frontend);
  const nft::Bytes key = frontend_key(frontend);
  std::vector<PlacedElement> elements;
  const auto lead_to = [&](std::string_view map, std::string chain) {
    elements.push_back(
        {map, {key, nft::Verdict{nft::Verdict::Kind::Goto, std::move(chain)}, state.owner}});
  };
  if (state.route != Route::Nowhere) lead_to(sets.verdicts, entry_chain(frontend, state));
  if (state.short_circuit) lead_to(sets.short_circuit, list_chain(frontend, state, false));
  if (state.local_service) lead_to(sets.local_services, list_chain(frontend, state, true));
  if (state.refusal != Refusal::None) {
    elements.push_back(
        {state.refusal == Refusal::Reject ? sets.reject : sets.drop, {key, {}, state.owner}});
  }
  if (!state.allowed_sources.empty()) {
    elements.push_back({kFirewalledServices, {key, {}, state.owner}});
    for (const IpPrefix& sources : state.allowed_sources) {
      elements.push_back({kAllowedSources, allowed_source(frontend, sources)});
    }
  }
  return elements;
}

std::vector<SlotChain> slot_chains_of(const Frontend& frontend, const LiveFrontend& state) {
  using Kind = SlotChain::Kind;
  std::vector<SlotChain> chains;
  const std::optional<SlotChain> entry = slot_chain_of(entry_chain(frontend, state));
  if (entry) chains.push_back(*entry);
  if (state.cluster.size() != 0) {
    chains.push_back({frontend.ip ? Kind::Cluster : Kind::NodePortCluster, state.cluster.size()});
  }
  if (state.local.size() != 0) {
    chains.push_back({frontend.ip ? Kind::Local : Kind::NodePortLocal, state.local.size()});
  }
  return chains;
}

}  // namespace mkp
