#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "proxy/rule_model.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// What a plan comes to, in numbers.
struct PlanSize {
  std::size_t added = 0;  // objects and elements of the packet filter
  std::size_t removed = 0;
  std::size_t service_ports = 0;  // that are served differently afterwards

  bool empty() const { return added == 0 && removed == 0; }
  PlanSize& operator+=(const PlanSize& other);
};

// The operations of one family that turn what is live into what is wanted. Made by a Backend, which
// outlives it. At most one plan of a backend is alive at a time.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual PlanSize size() const = 0;

  // A diff for people: grouped by Service port, first what changes in Kubernetes' words, each line
  // with '#' in front; then a line an object with '+' or '-' in front, in the packet filter's own
  // syntax. Empty for an empty plan.
  virtual std::string to_text() const = 0;

  // Of the frontends that go with a resync: where each has led so far. Other plans have none to
  // tell: who made the diff knows.
  struct GoneFrontend {
    Frontend frontend;
    std::vector<Endpoint> endpoints;  // sorted
  };
  virtual std::vector<GoneFrontend> gone_frontends() const = 0;

  // One kernel transaction. On failure nothing has changed, neither in the kernel nor here.
  // Errc::Expired: what the plan was made against is no longer what is live, so plan_resync() is
  // due.
  virtual Result<> apply() = 0;
};

// Between the rule model and the kernel, for one IP family. Knows what is live, because the kernel
// acknowledged it. Belongs to the sync thread.
class Backend {
 public:
  virtual ~Backend() = default;

  // Whether only plan_resync() can go on: before the first one, and whenever somebody else changed
  // something.
  virtual bool in_doubt() const = 0;

  // Asks the kernel whether somebody else changed anything since; then it is in_doubt().
  virtual Result<> look() = 0;

  // From what was applied to what is wanted now. Costs what changed. Not while in_doubt().
  virtual std::unique_ptr<Plan> plan(const RuleDiff& diff) = 0;

  // Reads what is live from the kernel and plans the way from there to the whole model.
  virtual Result<std::unique_ptr<Plan>> plan_resync(const RuleModel& model,
                                                    const NodeModel& node) = 0;

  // Removes what nothing refers to any more; null when there is no such thing. Some kernels (before
  // 6.2) still see a reference in the transaction that removes it, so this comes later.
  virtual std::unique_ptr<Plan> plan_cleanup() = 0;
};

}  // namespace mkp
