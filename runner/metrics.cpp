#include "runner/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/utsname.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "runner/process_figures.h"

namespace mkp {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::MetricFamily;
using Buckets = Histogram::BucketBoundaries;

// kube-proxy's buckets for syncs: 1 ms, doubled 14 times.
const Buckets& sync_buckets() {
  static const Buckets buckets{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128,
                               0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384};
  return buckets;
}

// ... from a change to the rules: each second of the first minute, then ever wider.
const Buckets& programming_buckets() {
  static const Buckets buckets = [] {
    Buckets bounds{0.25, 0.5};
    for (int second = 1; second < 60; second += 1) bounds.push_back(second);
    for (int second = 60; second < 120; second += 5) bounds.push_back(second);
    for (int second = 120; second <= 300; second += 30) bounds.push_back(second);
    return bounds;
  }();
  return buckets;
}

// client-go's for requests.
const Buckets& request_buckets() {
  static const Buckets buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  return buckets;
}

// ... for bodies, in bytes.
const Buckets& size_buckets() {
  static const Buckets buckets{64,    256,    512,       1024,      4096,      16384,
                               65536, 262144, 1'048'576, 4'194'304, 16'777'216};
  return buckets;
}

Labels of_request(std::string_view verb, std::string_view host) {
  return {{"host", std::string(host)}, {"verb", std::string(verb)}};
}

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// "linux/amd64", as Go says it.
std::string platform() {
  utsname system{};
  ::uname(&system);
  const std::string machine = system.machine;
  if (machine == "x86_64") return "linux/amd64";
  return "linux/" + (machine == "aarch64" ? "arm64" : machine);
}

Labels of(IpFamily family) { return {{"ip_family", std::string(to_text(family))}}; }

// A counter cannot be set; `now` never falls.
void raise_to(Counter& counter, std::uint64_t now) {
  counter.Increment(static_cast<double>(now) - counter.Value());
}

MetricFamily process_metric(const char* name, const char* help, prometheus::MetricType type,
                            double value) {
  MetricFamily family{name, help, type, {}};
  prometheus::ClientMetric metric;
  metric.counter.value = value;
  metric.gauge.value = value;
  family.metric.push_back(metric);
  return family;
}

std::vector<MetricFamily> process_metrics() {
  using prometheus::MetricType;
  const ProcessFigures now = process_figures();
  return {
      process_metric("process_cpu_seconds_total", "User and system time spent.",
                     MetricType::Counter, now.cpu_seconds),
      process_metric("process_max_fds", "Most file descriptors that may be open.",
                     MetricType::Gauge, now.max_open_files),
      process_metric("process_network_receive_bytes_total",
                     "Bytes received in this network namespace.", MetricType::Counter,
                     now.received_bytes),
      process_metric("process_network_transmit_bytes_total",
                     "Bytes sent in this network namespace.", MetricType::Counter, now.sent_bytes),
      process_metric("process_open_fds", "File descriptors that are open.", MetricType::Gauge,
                     now.open_files),
      process_metric("process_resident_memory_bytes", "Memory in use.", MetricType::Gauge,
                     now.resident_bytes),
      process_metric("process_start_time_seconds", "Start of the process, in seconds since 1970.",
                     MetricType::Gauge, now.start_time),
      process_metric("process_virtual_memory_bytes", "Address space in use.", MetricType::Gauge,
                     now.virtual_bytes),
      process_metric("process_virtual_memory_max_bytes", "Most address space that may be in use.",
                     MetricType::Gauge, now.max_virtual_bytes),
  };
}

}  // namespace

// Each in the order of kube-proxy's documentation.
struct Metrics::Families {
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Family<Histogram>& histogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  prometheus::Registry registry;

  Family<Histogram>& sync_duration = histogram("kubeproxy_sync_proxy_rules_duration_seconds",
                                               "How long a sync of the rules took.");
  Family<Histogram>& full_sync_duration =
      histogram("kubeproxy_sync_full_proxy_rules_duration_seconds",
                "How long a sync took that looked at all rules of the kernel.");
  Family<Histogram>& partial_sync_duration =
      histogram("kubeproxy_sync_partial_proxy_rules_duration_seconds",
                "How long a sync took that looked at what changed.");
  Family<Gauge>& last_sync = gauge("kubeproxy_sync_proxy_rules_last_timestamp_seconds",
                                   "When the rules were last brought up to date.");
  Family<Gauge>& last_queued = gauge("kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds",
                                     "When a sync of the rules was last asked for.");
  Counter& endpoint_changes = counter("kubeproxy_sync_proxy_rules_endpoint_changes_total",
                                      "Changes of EndpointSlices heard of.")
                                  .Add({});
  Gauge& pending_endpoint_changes = gauge("kubeproxy_sync_proxy_rules_endpoint_changes_pending",
                                          "Changes of EndpointSlices that wait for a sync.")
                                        .Add({});
  Counter& service_changes =
      counter("kubeproxy_sync_proxy_rules_service_changes_total", "Changes of Services heard of.")
          .Add({});
  Gauge& pending_service_changes = gauge("kubeproxy_sync_proxy_rules_service_changes_pending",
                                         "Changes of Services that wait for a sync.")
                                       .Add({});
  Family<Histogram>& programming =
      histogram("kubeproxy_network_programming_duration_seconds",
                "From a change of endpoints in the cluster until this node's rules held.");
  Family<Gauge>& no_local_endpoints =
      gauge("kubeproxy_sync_proxy_rules_no_local_endpoints_total",
            "Service ports that have endpoints, but none that their traffic policy Local allows "
            "on this node.");
  Family<Counter>& sync_failures =
      counter("kubeproxy_sync_proxy_rules_nftables_sync_failures_total", "Syncs that failed.");
  Family<Counter>& cleanup_failures =
      counter("kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total",
              "Removals of unused chains that failed.");
  Family<Counter>& healthz = counter("kubeproxy_proxy_healthz_total", "Answers of /healthz.");
  Family<Counter>& livez = counter("kubeproxy_proxy_livez_total", "Answers of /livez.");
  Family<Histogram>& flows_duration =
      histogram("kubeproxy_conntrack_reconciler_sync_duration_seconds",
                "How long it took to look at the UDP flows.");
  Family<Counter>& flows_deleted = counter("kubeproxy_conntrack_reconciler_deleted_entries_total",
                                           "Stale UDP flows that were forgotten.");

  Family<Counter>& rest_requests =
      counter("rest_client_requests_total", "Requests to the API server.");
  Family<Histogram>& rest_duration =
      histogram("rest_client_request_duration_seconds", "How long requests took.");
  Family<Histogram>& rest_held_back =
      histogram("rest_client_rate_limiter_duration_seconds", "How long requests were held back.");
  Family<Histogram>& rest_request_size =
      histogram("rest_client_request_size_bytes", "Bodies of requests.");
  Family<Histogram>& rest_response_size =
      histogram("rest_client_response_size_bytes", "Bodies of answers, but for streams.");

  Family<Counter>& resyncs = counter("mini_kube_proxy_resyncs_total",
                                     "Successful syncs of all rules, the first one included.");
  Family<Counter>& transactions =
      counter("mini_kube_proxy_transactions_total", "Transactions that the kernel acknowledged.");
  Family<Histogram>& work_duration = histogram("mini_kube_proxy_sync_work_duration_seconds",
                                               "The share of model, diff and plan in a sync.");
  Family<Histogram>& kernel_duration =
      histogram("mini_kube_proxy_sync_kernel_duration_seconds", "The kernel's share in a sync.");
  Family<Counter>& relists =
      counter("mini_kube_proxy_relists_total", "Collections that were listed anew.");
  Gauge& refused_ports = gauge("mini_kube_proxy_refused_health_ports",
                               "Health check ports of Services that could not be opened.")
                             .Add({});
};

Metrics::Metrics(const Build& build) : families_(std::make_unique<Families>()) {
  // "0.1.0": major, minor and the rest.
  const std::size_t dot = build.version.find('.');
  const std::size_t minor = dot == std::string::npos ? build.version.size() : dot + 1;
  const std::size_t minor_end = std::min(build.version.find('.', minor), build.version.size());
  families_->gauge("kubernetes_build_info", "What is running here; always 1.")
      .Add({{"build_date", "1970-01-01T00:00:00Z"},
            {"compiler", "g++"},
            {"git_commit", ""},
            {"git_tree_state", ""},
            {"git_version", "v" + build.version},
            {"go_version", ""},
            {"major", build.version.substr(0, dot)},
            {"minor", build.version.substr(minor, minor_end - minor)},
            {"platform", platform()}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::synced(IpFamily family, const Sync& sync, WallTime at) {
  const Labels labels = of(family);
  Families& all = *families_;
  all.sync_duration.Add(labels, sync_buckets()).Observe(seconds(sync.took));
  Family<Histogram>& kind = sync.full ? all.full_sync_duration : all.partial_sync_duration;
  kind.Add(labels, sync_buckets()).Observe(seconds(sync.took));
  if (!sync.succeeded) {
    all.sync_failures.Add(labels).Increment();
    return;
  }
  all.last_sync.Add(labels).Set(unix_seconds(at));
  all.work_duration.Add(labels, sync_buckets()).Observe(seconds(sync.work));
  all.kernel_duration.Add(labels, sync_buckets()).Observe(seconds(sync.kernel));
  all.transactions.Add(labels).Increment(static_cast<double>(sync.transactions));
  all.resyncs.Add(labels).Increment(sync.full ? 1 : 0);
}

void Metrics::queued(IpFamily family, WallTime at) {
  families_->last_queued.Add(of(family)).Set(unix_seconds(at));
}

void Metrics::cleanup_failed(IpFamily family) {
  families_->cleanup_failures.Add(of(family)).Increment();
}

void Metrics::programmed(IpFamily family, Duration since_change) {
  families_->programming.Add(of(family), programming_buckets()).Observe(seconds(since_change));
}

void Metrics::no_local_endpoints(IpFamily family, std::int64_t internal, std::int64_t external) {
  const auto set = [&](const char* policy, std::int64_t count) {
    Labels labels = of(family);
    labels.emplace("traffic_policy", policy);
    families_->no_local_endpoints.Add(labels).Set(static_cast<double>(count));
  };
  set("internal", internal);
  set("external", external);
}

void Metrics::changes(const Changes& now) {
  raise_to(families_->service_changes, now.services_total);
  raise_to(families_->endpoint_changes, now.endpoints_total);
  families_->pending_service_changes.Set(static_cast<double>(now.services_pending));
  families_->pending_endpoint_changes.Set(static_cast<double>(now.endpoints_pending));
}

void Metrics::healthz_answered(unsigned status) {
  families_->healthz.Add({{"code", std::to_string(status)}}).Increment();
}

void Metrics::livez_answered(unsigned status) {
  families_->livez.Add({{"code", std::to_string(status)}}).Increment();
}

void Metrics::flows_visited(IpFamily family, Duration took, std::uint64_t forgotten) {
  families_->flows_duration.Add(of(family), sync_buckets()).Observe(seconds(took));
  families_->flows_deleted.Add(of(family)).Increment(static_cast<double>(forgotten));
}

void Metrics::refused_health_ports(std::uint64_t count) {
  families_->refused_ports.Set(static_cast<double>(count));
}

void Metrics::relisted(std::string_view resource) {
  families_->relists.Add({{"resource", std::string(resource)}}).Increment();
}

void Metrics::rest_request(std::string_view code, std::string_view method, std::string_view host) {
  families_->rest_requests
      .Add({{"code", std::string(code)},
            {"host", std::string(host)},
            {"method", std::string(method)}})
      .Increment();
}

void Metrics::rest_request_took(std::string_view verb, std::string_view host, Duration took) {
  families_->rest_duration.Add(of_request(verb, host), request_buckets()).Observe(seconds(took));
}

void Metrics::rest_request_held_back(std::string_view verb, std::string_view host, Duration by) {
  families_->rest_held_back.Add(of_request(verb, host), request_buckets()).Observe(seconds(by));
}

void Metrics::rest_request_body(std::string_view verb, std::string_view host, std::size_t bytes) {
  families_->rest_request_size.Add(of_request(verb, host), size_buckets())
      .Observe(static_cast<double>(bytes));
}

void Metrics::rest_response_body(std::string_view verb, std::string_view host, std::size_t bytes) {
  families_->rest_response_size.Add(of_request(verb, host), size_buckets())
      .Observe(static_cast<double>(bytes));
}

std::string Metrics::text() const {
  std::vector<MetricFamily> all = families_->registry.Collect();
  std::vector<MetricFamily> process = process_metrics();
  std::move(process.begin(), process.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(), [](const MetricFamily& left, const MetricFamily& right) {
    return left.name < right.name;
  });
  for (MetricFamily& family : all) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& left, const auto& right) { return left.label < right.label; });
  }
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace mkp
