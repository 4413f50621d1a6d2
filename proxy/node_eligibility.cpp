#include "proxy/node_eligibility.h"

#include <algorithm>
#include <string_view>

namespace mkp {
namespace {

constexpr std::string_view kAutoscalerTaint = "ToBeDeletedByClusterAutoscaler";

}  // namespace

void NodeEligibility::note(const Node& node) {
  const bool leaving = node.deleting || std::ranges::find(node.taint_keys, kAutoscalerTaint) !=
                                            node.taint_keys.end();
  state_ = leaving ? State::Leaving : State::Staying;
}

bool NodeEligibility::is_eligible(UnseenNode unseen) const {
  return state_ == State::Unseen ? unseen == UnseenNode::Eligible : state_ == State::Staying;
}

}  // namespace mkp
