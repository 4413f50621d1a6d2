#pragma once

#include <cstdint>

#include "informer/objects.h"

namespace mkp {

// What a Node object that was never seen means. One that is gone changes nothing.
enum class UnseenNode : std::uint8_t {
  Eligible,  // manifests need not hold one
  NotEligible,
};

// Whether load balancers should go on sending traffic to this node: not while its Node object is
// being deleted, or the cluster autoscaler is about to delete it. Connections drain meanwhile
// (KEP-3836).
class NodeEligibility {
 public:
  void note(const Node& node);

  bool is_eligible(UnseenNode unseen) const;

 private:
  enum class State : std::uint8_t { Unseen, Staying, Leaving };
  State state_ = State::Unseen;
};

}  // namespace mkp
