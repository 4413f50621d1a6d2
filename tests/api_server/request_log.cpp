#include <fmt/format.h>

#include <algorithm>

#include "tests/api_server/server_state.h"

namespace mkp::api {

void RequestLog::add(const ApiRequest& request, TimePoint now) {
  records_.push_back(
      {now, request.verb,
       request.resource == nullptr ? request.path : std::string(request.resource->resource),
       request.target, request.header("user-agent"), request.header("accept-encoding"),
       request.body});
}

std::size_t RequestLog::count(const std::string& verb, const std::string& resource,
                              const std::string& client) const {
  return static_cast<std::size_t>(std::ranges::count_if(records_, [&](const RequestRecord& record) {
    return record.verb == verb && record.resource == resource && record.client.starts_with(client);
  }));
}

std::string RequestLog::text() const {
  std::string text;
  for (const RequestRecord& record : records_) {
    text += fmt::format("{} {}\n", record.verb, record.resource);
  }
  return text;
}

}  // namespace mkp::api
