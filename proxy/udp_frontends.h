#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "netlink/conntrack.h"
#include "proxy/types.h"
#include "proxy/udp_changes.h"

namespace mkp {

// The UDP frontends of this node in one IP family, as the flows that exist see them: the judge of
// which of them are stale. Does no I/O.
//
// A packet of a flow that exists is led as its first one was, whatever the rules say by now. A flow
// is stale when its destination is a frontend and who answers is none of the endpoints that serve
// there: an endpoint that is gone, or the destination itself, as the flow is older than the
// frontend. All flows to a frontend without endpoints are stale, for it refuses. To what is no
// frontend any more only those flows are stale that we have led to an endpoint; the others, and all
// that were never to a frontend of ours, are somebody else's.
class UdpFrontends {
 public:
  // For changes of this family.
  void apply(const UdpChanges& changes);

  bool is_stale(const UdpFlow& flow) const;

  // Whether apply() has told of something that can have made a flow stale, since the revision last
  // given to visited(). More endpoints for a frontend that has some can't.
  bool needs_visit() const { return due_ > visited_; }

  // A number for what apply() has told so far.
  std::uint64_t revision() const { return revision_; }
  // No flow is left that is_stale() as of that revision. What was told of former frontends and
  // endpoints until then is forgotten.
  void visited(std::uint64_t revision);

  // Former frontends' endpoints that are remembered. Never more than kMostFormer, which only a node
  // whose connection tracking can't be read for long gets near: flows beyond are left to time out.
  std::size_t former_count() const { return former_.size(); }
  static constexpr std::size_t kMostFormer = std::size_t{1} << 18;

 private:
  using Endpoints = std::vector<Endpoint>;  // sorted
  using Led = std::pair<Frontend, Endpoint>;

  void apply(const UdpChanges::Change& change);
  void end_unnamed(const std::vector<UdpChanges::Change>& named);
  void apply_node_port_ips(const std::vector<IpAddress>& ips);
  void remember_former(const Frontend& frontend, const Endpoints& endpoints);
  const Endpoints* find(const Frontend& frontend) const;
  bool has_node_ports() const;

  std::unordered_map<Frontend, Endpoints> serving_;
  std::set<IpAddress> node_port_ips_;
  // Where we led flows that may still exist, and what answered on node ports, each with the
  // revision in which it ended. Kept for frontends that go on, too: they may go before the next
  // visit.
  std::map<Led, std::uint64_t> former_;
  std::map<IpAddress, std::uint64_t> former_node_port_ips_;
  std::uint64_t revision_ = 0;
  std::uint64_t due_ = 0;
  std::uint64_t visited_ = 0;
};

}  // namespace mkp
