#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "proxy/rule_model.h"

namespace mkp {

// Who owns each frontend of one IP family. Two Services may claim the same address, protocol and
// port; the older one owns it (creationTimestamp, then namespace, name and port name), so that
// every node decides alike, and the other takes over when the owner goes. Belongs to the sync
// thread.
class FrontendClaims {
 public:
  // Replaces all claims of a Service by those of `ports`; none at all for a Service that is gone.
  // Says which other Services won or lost a frontend by that: their rules must be worked out again.
  std::set<ServiceName> claim(const ServiceName& service, std::int64_t creation_timestamp,
                              const RuleModel& ports);

  // Takes out of `ports` what somebody else owns. Says what was lost to whom, a sentence each.
  std::vector<std::string> keep_owned(RuleModel& ports) const;

 private:
  struct Claim {
    std::int64_t creation_timestamp = 0;
    ServicePortName port;
    auto operator<=>(const Claim&) const = default;
  };

  void withdraw(const Frontend& frontend, const ServiceName& service,
                std::set<ServiceName>& affected);

  std::unordered_map<Frontend, std::vector<Claim>> claims_;  // each sorted: the first owns
  std::map<ServiceName, std::vector<Frontend>> claimed_;
};

}  // namespace mkp
