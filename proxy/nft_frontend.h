#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/ruleset.h"
#include "proxy/nft_slot_chains.h"
#include "proxy/rule_model.h"
#include "proxy/slot_table.h"

namespace mkp {

// One frontend as the kernel has it, or shall have it. A value in normal form: whatever two equal
// ones are made of in the kernel is the same.
struct LiveFrontend {
  // What its verdict leads to.
  enum class Route : std::uint8_t {
    Nowhere,
    InternalCluster,
    InternalLocal,
    ExternalCluster,
    ExternalLocal,
    InternalAffinity,  // the Service port's own chains, see nft_affinity.h
    ExternalAffinity,
  };
  Route route = Route::Nowhere;
  // The endpoints of either list that new connections are led to; both of size 0 with affinity.
  SlotTable cluster;
  SlotTable local;
  std::string affinity;        // the Service port's name in its chains; empty without affinity
  bool short_circuit = false;  // of ExternalLocal: there is somewhere for pods and the node to go
  bool local_service = false;  // of ExternalLocal: ... for everybody else
  Refusal refusal = Refusal::None;        // of what is led nowhere
  std::vector<IpPrefix> allowed_sources;  // sorted, disjoint; empty: everybody
  std::string owner;                      // the comment of its elements: "shop/web:http"

  bool operator==(const LiveFrontend&) const = default;

  // Where it leads, for people and for tests: sorted and unique. Not what affinity's chains say.
  std::vector<Endpoint> endpoints() const;
};

// The frontend as `port` wants it, differing as little as can be from `before` (null: there is
// none).
LiveFrontend wanted_frontend(const ServicePortName& name, const ServicePort& port,
                             const ServedFrontend& served, const LiveFrontend* before);

struct PlacedElement {
  std::string_view set;
  nft::Element element;
  bool operator==(const PlacedElement&) const = default;
};

// Its elements but for the slots, in a fixed order.
std::vector<PlacedElement> frontend_elements(const Frontend& frontend, const LiveFrontend& state);

// The chains by which it leads to its slots.
std::vector<SlotChain> slot_chains_of(const Frontend& frontend, const LiveFrontend& state);

}  // namespace mkp
