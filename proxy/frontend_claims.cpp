#include "proxy/frontend_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace mkp {

void FrontendClaims::withdraw(const Frontend& frontend, const ServiceName& service,
                              std::set<ServiceName>& affected) {
  const auto entry = claims_.find(frontend);
  if (entry == claims_.end()) return;
  std::vector<Claim>& claims = entry->second;
  std::erase_if(claims, [&](const Claim& claim) { return claim.port.service == service; });
  if (claims.empty()) {
    claims_.erase(entry);
  } else {
    affected.insert(claims.front().port.service);
  }
}

std::set<ServiceName> FrontendClaims::claim(const ServiceName& service,
                                            std::int64_t creation_timestamp,
                                            const RuleModel& ports) {
  std::set<ServiceName> affected;
  if (const auto before = claimed_.find(service); before != claimed_.end()) {
    for (const Frontend& frontend : before->second) withdraw(frontend, service, affected);
    claimed_.erase(before);
  }
  std::vector<Frontend> all;
  for (const auto& [name, port] : ports) {
    for (const ServedFrontend& served : port.frontends) {
      const Frontend& frontend = served.frontend;
      std::vector<Claim>& claims = claims_[frontend];
      Claim mine{creation_timestamp, name};
      claims.insert(std::upper_bound(claims.begin(), claims.end(), mine), mine);
      // Whoever comes right behind us may have owned it until now.
      for (const Claim& other : claims) affected.insert(other.port.service);
      all.push_back(frontend);
    }
  }
  if (!all.empty()) claimed_.emplace(service, std::move(all));
  affected.erase(service);
  return affected;
}

std::vector<std::string> FrontendClaims::keep_owned(RuleModel& ports) const {
  std::vector<std::string> lost;
  for (auto& [name, port] : ports) {
    std::erase_if(port.frontends, [&](const ServedFrontend& served) {
      const Frontend& frontend = served.frontend;
      const auto entry = claims_.find(frontend);
      if (entry == claims_.end() || entry->second.front().port == name) return false;
      lost.push_back(
          fmt::format("Service {}: {} belongs to Service {}, which is older or, of the same age, "
                      "comes first by name; this one gets no "
                      "traffic there",
                      to_text(name), to_text(frontend), to_text(entry->second.front().port)));
      return true;
    });
  }
  return lost;
}

}  // namespace mkp
