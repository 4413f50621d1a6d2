#include "proxy/health_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "configs/json_text.h"

namespace mkp {
namespace {

constexpr const char* kJson = "application/json";
// Go's zero time: never.
constexpr const char* kNever = "0001-01-01T00:00:00Z";

// An answer's own time when all is well, which it has been in old versions as well; else when a
// family was last updated.
std::string last_updated_text(const ProxyHealth& health, bool well, const Moment& now) {
  if (well) return to_text(now.read);
  std::optional<TimePoint> newest;
  for (const auto& [family, updated] : health.last_updated()) {
    newest = std::max(newest.value_or(updated), updated);
  }
  return newest ? to_text(now.read - (now.measured - *newest)) : kNever;
}

std::string status_text(const ProxyHealth& health, const Moment& now) {
  std::string families;
  for (const auto& [family, updated] : health.last_updated()) {
    families += fmt::format(
        "{}\"{}\":{{\"lastUpdated\":\"{}\",\"healthy\":{}}}", families.empty() ? "" : ",",
        to_text(family), to_text(now.read - (now.measured - updated)), health.is_healthy(family));
  }
  return families.empty() ? "" : ",\"status\":{" + families + "}";
}

HttpServer::Answer page(const ProxyHealth& health, std::optional<bool> node_eligible,
                        const Moment& now) {
  const bool healthy = health.is_healthy();
  const bool well = healthy && node_eligible.value_or(true);
  const std::string node = node_eligible ? fmt::format("\"nodeEligible\":{},", *node_eligible) : "";
  return {
      .status = well ? 200U : 503U,
      .content_type = kJson,
      .body = fmt::format("{{\"lastUpdated\":\"{}\",\"currentTime\":\"{}\",{}\"healthy\":{}{}}}",
                          last_updated_text(health, well, now), to_text(now.read), node, healthy,
                          status_text(health, now))};
}

}  // namespace

HttpServer::Answer healthz_page(const ProxyHealth& health, bool node_eligible, const Moment& now) {
  return page(health, node_eligible, now);
}

HttpServer::Answer livez_page(const ProxyHealth& health, const Moment& now) {
  return page(health, std::nullopt, now);
}

HttpServer::Answer service_health_page(const ServiceName& service, std::size_t local_endpoints,
                                       bool proxy_healthy) {
  return {
      .status = local_endpoints > 0 && proxy_healthy ? 200U : 503U,
      .content_type = kJson,
      .headers = {{"X-Load-Balancing-Endpoint-Weight", std::to_string(local_endpoints)}},
      .body = fmt::format("{{\n\t\"service\": {{\n\t\t\"namespace\": {},\n\t\t\"name\": {}\n\t}},"
                          "\n\t\"localEndpoints\": {},\n\t\"serviceProxyHealthy\": {}\n}}",
                          json_quoted(service.name_space), json_quoted(service.name),
                          local_endpoints, proxy_healthy)};
}

}  // namespace mkp
