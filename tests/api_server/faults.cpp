#include "tests/api_server/faults.h"

#include <algorithm>

namespace mkp::api {

bool RequestMatch::operator()(const ApiRequest& request) const {
  if (!verb.empty() && verb != request.verb) return false;
  if (kind && (request.resource == nullptr || request.resource->kind != *kind)) return false;
  return request.header("user-agent").starts_with(client);
}

CannedAnswer canned(const StatusAnswer& status) {
  CannedAnswer answer{status.code, {{"Content-Type", "application/json"}}, to_json(status)};
  if (status.retry_after_seconds > 0) {
    answer.headers.emplace_back("Retry-After", std::to_string(status.retry_after_seconds));
  }
  return answer;
}

CannedAnswer bad_gateway() {
  return {502,
          {{"Content-Type", "text/html"}},
          "<html><head><title>502 Bad Gateway</title></head><body></body></html>\n"};
}

Fault FaultScript::take(const ApiRequest& request) {
  const auto found = std::ranges::find_if(
      faults_, [&request](const Fault& fault) { return fault.request(request); });
  if (found == faults_.end()) return {};
  Fault taken = *found;
  if (found->times != Fault::kForever && --found->times <= 0) faults_.erase(found);
  return taken;
}

}  // namespace mkp::api
