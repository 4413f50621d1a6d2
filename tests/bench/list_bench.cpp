// From the request to the objects in the informers, for all Services and EndpointSlices of a real
// API server, beside what curl needs to fetch the same bytes through a pipe to nowhere.
//   unshare --net list_bench [SERVICES [ROUNDS]]
// Each line is a process of its own that asks for both kinds at once, over TLS; times are from its
// start to its last byte or object, and the median of the rounds, which take turns. Prints a table,
// and one JSON object a line behind it. Without arguments 45,000 and 5; the status is 1 when a goal
// is missed that the number of Services lets one tell.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informer/shared_informer.h"
#include "proxy/api_cluster.h"
#include "tests/bench/piped_program.h"
#include "tests/cluster/control_plane.h"

namespace mkp {
namespace {

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr const char* kJson = "application/json";

// --- the process with informers: list_bench --informers KUBECONFIG CONTENT_TYPE (stream | list)
// ---

// Any source, as one that knows no streaming lists.
class WithoutStreamingLists final : public ObjectSource {
 public:
  explicit WithoutStreamingLists(ObjectSource& source) : source_(source) {}
  asio::awaitable<Result<Listing>> list(ListQuery query) override {
    return source_.list(std::move(query));
  }
  asio::awaitable<Result<std::unique_ptr<EventStream>>> watch(WatchQuery query) override {
    return source_.watch(std::move(query));
  }
  bool supports_initial_events() const override { return false; }

 private:
  ObjectSource& source_;
};

// In MiB: VmHWM or VmRSS.
double memory(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what)) return std::stod(line.substr(what.size() + 1)) / 1024.0;
  }
  return 0;
}

int run_informers(const std::string& kubeconfig, const std::string& content_type, bool stream) {
  spdlog::set_level(spdlog::level::warn);
  Config config;
  config.client_connection.kubeconfig = kubeconfig;
  config.client_connection.content_type = content_type;
  SteadyClock clock;
  auto opened = ApiCluster::open(config, "", "worker-1", Environment::of_this_process(), clock);
  if (!opened) {
    fmt::print(stderr, "{}\n", opened.error().what);
    return 1;
  }
  ApiCluster& cluster = **opened;
  WithoutStreamingLists listed_services(cluster.source(ObjectKind::Service));
  WithoutStreamingLists listed_slices(cluster.source(ObjectKind::EndpointSlice));
  const auto source = [&](ObjectKind kind, ObjectSource& listed) -> ObjectSource& {
    return stream ? cluster.source(kind) : listed;
  };
  SharedInformer services(source(ObjectKind::Service, listed_services), clock, {.name = "Service"});
  SharedInformer slices(source(ObjectKind::EndpointSlice, listed_slices), clock,
                        {.name = "EndpointSlice"});
  asio::io_context loop;
  asio::co_spawn(loop, services.run(), asio::detached);
  asio::co_spawn(loop, slices.run(), asio::detached);
  while (!services.has_synced() || !slices.has_synced()) loop.run_one();
  fmt::print("{} {} {:.1f} {:.1f}\n", services.indexer().size(), slices.indexer().size(),
             memory("VmHWM:"), memory("VmRSS:"));
  std::fflush(stdout);
  ::_exit(0);  // the watches need no ending
}

// --- the measurement ---

struct Measured {
  std::vector<double> seconds;  // a round each
  double peak_mib = 0;
  double settled_mib = 0;

  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

class ListBench {
 public:
  ListBench(cluster::ControlPlane& cluster, std::string self, int services)
      : cluster_(cluster), self_(std::move(self)), services_(services) {}

  bool run(int rounds) {
    if (!wait_for_the_server()) return false;
    for (int round = 0; round <= rounds; ++round) {
      // The first round is for caches.
      for (const char* type : {kProtobuf, kJson}) {
        const std::string name = type == kProtobuf ? "protobuf" : "JSON";
        if (!measure_round(name, type, round > 0)) return false;
      }
    }
    return true;
  }

  // Whether the goals are met.
  bool print() {
    const auto ratio = [this](const char* ours, const char* curl) {
      return measured_[ours].median() / measured_[curl].median();
    };
    fmt::print("{:<26} {:>9} {:>10} {:>12}\n", "", "seconds", "peak MiB", "settled MiB");
    std::string json;
    for (const auto& [what, figures] : measured_) {
      fmt::print("{:<26} {:>9.3f} {:>10.1f} {:>12.1f}\n", what, figures.median(), figures.peak_mib,
                 figures.settled_mib);
      json += fmt::format(
          R"({{"services":{},"what":"{}","seconds":{:.3f},"peak_mib":{:.1f},"settled_mib":{:.1f}}})"
          "\n",
          services_, what, figures.median(), figures.peak_mib, figures.settled_mib);
    }
    fmt::print(
        "informers by curl: protobuf stream {:.2f}, list {:.2f}; JSON stream {:.2f}, list {:.2f}\n",
        ratio("protobuf stream, informers", "protobuf stream, curl"),
        ratio("protobuf list, informers", "protobuf list, curl"),
        ratio("JSON stream, informers", "JSON stream, curl"),
        ratio("JSON list, informers", "JSON list, curl"));
    std::fputs(json.c_str(), stdout);
    const double goal = 1.3;
    return ratio("protobuf stream, informers", "protobuf stream, curl") <= goal &&
           measured_["protobuf stream, informers"].peak_mib < 100;
  }

 private:
  struct Request {
    std::string path;
    std::string selectors;
  };
  static std::vector<Request> requests() {
    return {{"/api/v1/services",
             "fieldSelector=spec.clusterIP%21%3DNone&labelSelector=%21service.kubernetes.io%2F"
             "service-proxy-name"},
            {"/apis/discovery.k8s.io/v1/endpointslices",
             "labelSelector=%21service.kubernetes.io%2Fheadless"}};
  }

  bool measure_round(const std::string& name, const std::string& type, bool counts) {
    for (const bool stream : {true, false}) {
      const std::string how = name + (stream ? " stream" : " list");
      if (!measure_curl(how + ", curl", type, stream, counts)) return false;
      if (!measure_informers(how + ", informers", type, stream, counts)) return false;
    }
    return true;
  }

  struct Listed {
    int services = 0;
    int slices = 0;
    double peak_mib = 0;
    double settled_mib = 0;
  };
  // Nothing when objects were missing.
  std::optional<Listed> list(const std::string& type, bool stream) {
    const PipedProgram program(
        {self_, "--informers", cluster_.proxy_kubeconfig(), type, stream ? "stream" : "list"});
    Listed listed;
    const bool understood =
        std::sscanf(program.read_all().c_str(), "%d %d %lf %lf", &listed.services, &listed.slices,
                    &listed.peak_mib, &listed.settled_mib) == 4;
    if (!understood || listed.services < services_ || listed.slices < services_) {
      return std::nullopt;
    }
    return listed;
  }

  // Its caches follow etcd, where the objects were put, after a while.
  bool wait_for_the_server() {
    constexpr int kTries = 20;
    for (int i = 0; i < kTries; ++i) {
      if (list(kProtobuf, true)) return true;
    }
    fmt::print(stderr, "the server does not get to know {} Services\n", services_);
    return false;
  }

  bool measure_informers(const std::string& what, const std::string& type, bool stream,
                         bool counts) {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<Listed> listed = list(type, stream);
    const auto took = std::chrono::steady_clock::now() - start;
    if (!listed) fmt::print(stderr, "{}: not all objects came\n", what);
    if (!listed || !counts) return listed.has_value();
    Measured& all = measured_[what];
    all.seconds.push_back(std::chrono::duration<double>(took).count());
    all.peak_mib = std::max(all.peak_mib, listed->peak_mib);
    all.settled_mib = std::max(all.settled_mib, listed->settled_mib);
    return true;
  }

  std::vector<std::string> curl(const Request& request, const std::string& type, bool stream) {
    const std::string query = stream ? "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&"
                                       "resourceVersionMatch=NotOlderThan&timeoutSeconds=300&"
                                     : "resourceVersion=0&";
    std::vector<std::string> command = {
        "curl",
        "--silent",
        "--http1.1",
        "--no-buffer",
        "--cacert",
        cluster_.file("ca.crt"),
        "--header",
        "Accept: " + type,
        "--header",
        "Authorization: Bearer " + proxy_token(),
        fmt::format("https://{}:6443{}?{}{}", cluster::ControlPlane::kAddress, request.path, query,
                    request.selectors)};
    if (!stream) command.emplace_back("--compressed");  // as we ask for lists
    return command;
  }

  bool measure_curl(const std::string& what, const std::string& type, bool stream, bool counts) {
    std::vector<std::size_t>& sizes = sizes_[what];
    if (sizes.empty()) {
      for (const Request& request : requests()) {
        sizes.push_back(
            PipedProgram(curl(request, type, stream)).size_until("k8s.io/initial-events-end"));
      }
    }
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<PipedProgram>> programs;
    for (const Request& request : requests()) {
      programs.push_back(std::make_unique<PipedProgram>(curl(request, type, stream)));
    }
    const bool all = drain({{programs[0].get(), sizes[0]}, {programs[1].get(), sizes[1]}});
    const auto took = std::chrono::steady_clock::now() - start;
    if (!all) fmt::print(stderr, "{}: ended too early\n", what);
    if (counts) measured_[what].seconds.push_back(std::chrono::duration<double>(took).count());
    return all;
  }

  std::string proxy_token() const {
    std::string token;
    std::getline(std::ifstream(cluster_.file("proxy.token")), token);
    return token;
  }

  cluster::ControlPlane& cluster_;
  std::string self_;
  int services_;
  std::map<std::string, Measured> measured_;
  std::map<std::string, std::vector<std::size_t>> sizes_;
};

int measure(const std::string& self, int services, int rounds) {
  const auto cluster = cluster::ControlPlane::start();
  if (!cluster) {
    fmt::print(stderr, "{}\n", cluster.error().what);
    return 1;
  }
  const auto attached = (*cluster)->attach();
  const Result<> seeded = (*cluster)->seed(services, 1);
  if (!attached || !seeded) {
    fmt::print(stderr, "{}\n", attached ? seeded.error().what : attached.error().what);
    return 1;
  }
  ListBench bench(**cluster, self, services);
  if (!bench.run(rounds)) return 1;
  // A small list is over before its time can be told from a process's start.
  const bool fine = bench.print();
  return fine || services < 10000 ? 0 : 1;
}

}  // namespace
}  // namespace mkp

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): a benchmark may just end
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 4 && arguments[0] == "--informers") {
    return mkp::run_informers(arguments[1], arguments[2], arguments[3] == "stream");
  }
  const int services = arguments.empty() ? 45000 : std::atoi(arguments[0].c_str());
  const int rounds = arguments.size() < 2 ? 5 : std::max(1, std::atoi(arguments[1].c_str()));
  return mkp::measure("/proc/self/exe", services, rounds);
}
