#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runner/clock.h"
#include "runner/ip_address.h"
#include "runner/wall_time.h"

namespace mkp {

// Our metrics, each declared once: kube-proxy's under its names, with its labels and buckets, so
// that its dashboards and alerts hold; what is only ours under mini_kube_proxy_. No label takes a
// value that a user of the cluster can choose. What has labels appears once it is noted, the rest
// at once. Belongs to the loop thread.
class Metrics {
 public:
  // What kubernetes_build_info says.
  struct Build {
    std::string version;  // "0.1.0"
  };
  explicit Metrics(const Build& build);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // One sync of one family, whether or not it succeeded.
  struct Sync {
    bool full = false;  // the kernel's rules were looked at as a whole
    bool succeeded = false;
    Duration took{};
    Duration work{};    // of that: model, diff and plan
    Duration kernel{};  // dumps and transactions
    std::uint64_t transactions = 0;
  };
  void synced(IpFamily family, const Sync& sync, WallTime at);
  // A sync was asked for.
  void queued(IpFamily family, WallTime at);
  // Chains that nobody uses any more could not be removed.
  void cleanup_failed(IpFamily family);
  // From a change of endpoints in the cluster until the rules held.
  void programmed(IpFamily family, Duration since_change);
  // Service ports that have endpoints, but none that a policy of Local allows here.
  void no_local_endpoints(IpFamily family, std::int64_t internal, std::int64_t external);

  // Changes heard of since the start, and those of them that wait for a sync.
  struct Changes {
    std::uint64_t services_total = 0;
    std::uint64_t services_pending = 0;
    std::uint64_t endpoints_total = 0;
    std::uint64_t endpoints_pending = 0;
  };
  void changes(const Changes& now);

  void healthz_answered(unsigned status);
  void livez_answered(unsigned status);
  // UDP flows of the family were looked at; that many were stale and are forgotten.
  void flows_visited(IpFamily family, Duration took, std::uint64_t forgotten);
  // Ports of per-Service health checks that should be open and cannot be.
  void refused_health_ports(std::uint64_t count);
  // A collection was listed anew; `resource` is "services", "endpointslices" ...
  void relisted(std::string_view resource);

  // The API client's requests. `code`: "200", or "<error>" where there was no answer; `method` and
  // `verb`: "GET"; `host`: of the API server.
  void rest_request(std::string_view code, std::string_view method, std::string_view host);
  void rest_request_took(std::string_view verb, std::string_view host, Duration took);
  void rest_request_held_back(std::string_view verb, std::string_view host, Duration by);
  // Bodies, in bytes.
  void rest_request_body(std::string_view verb, std::string_view host, std::size_t bytes);
  void rest_response_body(std::string_view verb, std::string_view host, std::size_t bytes);

  // All of them, and those of this process, in Prometheus' text format 0.0.4; sorted.
  std::string text() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace mkp
