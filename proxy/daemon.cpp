#include "proxy/daemon.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <utility>
#include <variant>

#include "configs/unused_fields.h"
#include "configs/validate.h"
#include "configs/write.h"
#include "netlink/family_support.h"
#include "netlink/kernel_features.h"
#include "netlink/nftables_socket.h"
#include "netlink/route_addresses.h"
#include "runner/backoff.h"
#include "runner/notify.h"

namespace mkp {
namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

constexpr Duration kAddressPause = 100ms;
// As kube-proxy waits for them.
constexpr Duration kPodCidrPatience = 5min;
// A change waits for the rest of its reading, but no longer than that: what a relist brings belongs
// to no reading.
constexpr Duration kLongestHold = 100ms;
constexpr Duration kOncePatience = 30s;

}  // namespace

Daemon::Daemon(Options options) : options_(std::move(options)) {}

int Daemon::run() {
  for (const std::string& warning : options_.warnings) spdlog::warn("{}", warning);
  if (options_.write_config_to) {
    const Result<> written = write_config_file(options_.config, *options_.write_config_to);
    if (!written) spdlog::error("{}", written.error().what);
    return written ? 0 : 1;
  }
  if (options_.cleanup) {
    const Result<> done = clean_up();
    if (!done) spdlog::error("{}", done.error().what);
    return done ? 0 : 1;
  }
  if (const Result<> prepared = prepare(); !prepared) {
    spdlog::error("{}", prepared.error().what);
    return failed();
  }
  int status = failed();
  const auto keep_status = [&](const std::exception_ptr& failure, int result) {
    if (failure) std::rethrow_exception(failure);
    status = result;
  };
  asio::co_spawn(loop_, options_.once ? once() : serve(), keep_status);
  loop_.run();
  if (source_->api() != nullptr) source_->api()->close();
  return status;
}

Result<> Daemon::clean_up() {
  if (Result<> opened = open_kernel(); !opened) return opened;
  for (const IpFamily family : {IpFamily::Ipv4, IpFamily::Ipv6}) {
    if (Result<> removed = remove_rules(*kernel_, family); !removed) return removed;
  }
  spdlog::info("the rules of mini-kube-proxy are removed from this network namespace");
  return {};
}

Result<> Daemon::open_kernel() {
  if (options_.dry_run && options_.against == Against::Empty) {
    kernel_ = std::make_unique<EmptyNftables>();
    return {};
  }
  if (!options_.dry_run) {
    Result<TableOwner> owner = TableOwner::acquire(kTable);
    if (!owner) return fail(owner.error(), "own the rules of this network namespace");
    owner_ = std::move(*owner);
  }
  Result<std::unique_ptr<nft::NftablesSocket>> socket = nft::NftablesSocket::open();
  if (!socket) return fail(socket.error(), "open nf_tables");
  kernel_ = std::move(*socket);
  return {};
}

Result<std::string> Daemon::own_name() const {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    return fail_errno(errno, "read the host name");
  return node_name(options_.config, host.data());
}

Result<> Daemon::prepare() {
  const Result<std::string> name = own_name();
  if (!name) return tl::unexpected<Error>(name.error());
  for (const std::string& field : unused_fields(options_.config)) {
    spdlog::warn(
        "{} is set, but nothing uses it yet: traffic is forwarded as if it had its default", field);
  }
  families_ = {IpFamily::Ipv4};
  if (family_enabled(IpFamily::Ipv6)) {
    families_.push_back(IpFamily::Ipv6);
  } else if (!options_.dry_run || options_.against == Against::Kernel) {
    spdlog::warn(
        "IPv6 is off on this node: Services get no traffic on their IPv6 addresses, IPv4 is not "
        "affected");
  }
  if (options_.config.detect_local_mode == DetectLocalMode::ClusterCidr &&
      options_.config.cluster_cidr.empty() && !options_.config.nftables.masquerade_all) {
    spdlog::warn(
        "clusterCIDR is not set: nobody's address is replaced on the way to a cluster IP, so "
        "clients outside the cluster may get no answer, and pods use frontends of "
        "externalTrafficPolicy Local as those outside do");
  }
  if (Result<> opened = open_kernel(); !opened) return opened;
  for (const IpFamily family : families_) {
    if (options_.dry_run) break;  // to probe the kernel is to write to it
    if (Result<> able = nft::check_kernel(*kernel_, family); !able) return able;
  }
  Result<std::unique_ptr<ClusterSource>> source = ClusterSource::open(options_, *name, clock_);
  if (!source) return tl::unexpected<Error>(std::move(source.error()));
  source_ = std::move(*source);
  const ApiCluster* api = source_->api();
  rules_ = std::make_unique<NodeRules>(*kernel_, options_.config, families_, clock_,
                                       api != nullptr ? api->address() : std::nullopt);
  const auto sources = [this](ObjectKind kind) -> ObjectSource& { return source_->source(kind); };
  feed_ = std::make_unique<ClusterFeed>(sources, clock_, *name, options_.config.bind_address);
  Result<std::unique_ptr<RouteAddresses>> addresses = RouteAddresses::open();
  if (!addresses) return fail(addresses.error(), "follow the addresses of this node");
  addresses_ = std::move(*addresses);
  return list_addresses();
}

Result<> Daemon::list_addresses() {
  Result<std::vector<IpAddress>> addresses = addresses_->list();
  if (!addresses) return fail(addresses.error(), "list the addresses of this node");
  feed_->note_addresses(std::move(*addresses));
  return {};
}

// --- one sync, then the end ---

asio::awaitable<int> Daemon::once() {
  // Named: g++ 12 destroys the outcome of a conditional expression twice in a statement with
  // co_await.
  asio::awaitable<int> task = options_.dry_run ? preview_once() : sync_once();
  const auto ended = co_await (feed_->run() || std::move(task));
  co_return std::holds_alternative<int>(ended) ? std::get<int>(ended) : failed();
}

asio::awaitable<int> Daemon::sync_once() {
  if (!co_await hear_once()) co_return failed();
  Result<> done = co_await sync();
  if (done && cleanup_at_) {
    co_await clock_.sleep_until(*cleanup_at_);
    done = co_await remove_idle_chains();
  }
  if (!done) spdlog::error("{}", done.error().what);
  const Result<> followed = co_await flows_.run_once();
  if (!followed) spdlog::warn("{}", followed.error().what);
  const bool problems = report_problems();
  co_return done && !problems ? 0 : 1;
}

// One who waits for one sync does not wait for ever.
asio::awaitable<bool> Daemon::hear_once() {
  const auto heard =
      co_await (feed_->wait_for_sync() || clock_.sleep_until(later(clock_.now(), kOncePatience)));
  if (heard.index() == 0) co_return true;
  spdlog::error(
      "{} has not given all Services and EndpointSlices within {} s (see above); nothing was "
      "changed",
      source_->name(), std::chrono::duration_cast<std::chrono::seconds>(kOncePatience).count());
  co_return false;
}

asio::awaitable<int> Daemon::preview_once() {
  if (!co_await hear_once()) co_return failed();
  const Result<PlanSize> size = co_await preview();
  if (!size) spdlog::error("{}", size.error().what);
  if (report_problems() || !size) co_return 2;
  co_return size->added + size->removed == 0 ? 0 : 1;
}

// Says how much of the manifests was left out; what exactly, the source has logged.
bool Daemon::report_problems() const {
  const std::size_t count = source_->problems() + rules_->proxier().services_with_problems();
  if (count != 0) {
    spdlog::error(
        "{} problems in {} (see above): what they name is not served as written, everything else "
        "is",
        count, source_->name());
  }
  return count != 0;
}

// --- the daemon ---

asio::awaitable<int> Daemon::serve() {
  signals_.emplace(loop_, SIGINT, SIGTERM);
  if (!options_.dry_run) make_servers();
  co_await (feed_->run() || source_->run() || feed_watchdog() || follow_addresses() ||
            follow_flows() || serve_node() || sync_until_signalled());
  servers_.reset();  // the loop would wait for their listeners
  if (!stopping_) co_return failed();
  if (const Result<> told = notify_stopping("stopping; the rules stay in place"); !told) {
    spdlog::debug("{}", told.error().what);
  }
  spdlog::info(options_.dry_run ? "stopped; nothing was written"
                                : "stopped; the rules stay in place and go on working");
  co_return 0;
}

asio::awaitable<void> Daemon::sync_until_signalled() {
  co_await (stop_on_signal() || feed_->wait_for_sync());
  if (stopping_) co_return;
  co_await (stop_on_signal() || wait_for_pod_cidrs());
  if (stopping_) co_return;
  const auto work = [this]() -> asio::awaitable<Result<>> {
    return options_.dry_run ? print_preview() : sync();
  };
  const NftablesConfig& periods = options_.config.nftables;
  const BoundedFrequencyRunner::Limits limits{.min_interval = periods.min_sync_period,
                                              .max_interval = kFullSyncPeriod,
                                              .burst = 1,
                                              .first_retry = 1s,
                                              .retry_cap = periods.sync_period};
  runner_ = std::make_unique<BoundedFrequencyRunner>("sync", work, limits, clock_);
  if (source_->on_reading([this] { run_when_quiet(); })) {
    feed_->on_change([this] {
      note_queued();
      runner_->retry_after(kLongestHold);
    });
  } else {
    feed_->on_change([this] {
      note_queued();
      runner_->run();
    });
  }
  run_when_quiet();
  // A run under way is finished: the loop ends behind it.
  co_await (stop_on_signal() && runner_->loop());
}

// By detectLocalMode NodeCIDR nobody can tell pods without the Node's podCIDRs: rules of a former
// process that can stay until they are heard of, or until it is no use to wait.
asio::awaitable<void> Daemon::wait_for_pod_cidrs() {
  if (options_.config.detect_local_mode != DetectLocalMode::NodeCidr || feed_->knows_pod_cidrs()) {
    co_return;
  }
  spdlog::warn(
      "waiting for the podCIDRs of this node's Node object, which detectLocalMode NodeCIDR goes "
      "by: "
      "rules stay as they are until it has some, but no longer than {} s",
      std::chrono::duration_cast<std::chrono::seconds>(kPodCidrPatience).count());
  feed_->on_change([this] { feed_changed_.notify(); });
  const TimePoint deadline = later(clock_.now(), kPodCidrPatience);
  while (!feed_->knows_pod_cidrs() && clock_.now() < deadline) {
    co_await (feed_changed_.wait() || clock_.sleep_until(deadline));
  }
}

asio::awaitable<void> Daemon::stop_on_signal() {
  if (!signals_) co_return;
  const auto [cancelled, signal] =
      co_await signals_->async_wait(asio::as_tuple(asio::use_awaitable));
  if (cancelled) co_return;
  spdlog::info("stopping, on signal {}", signal);
  stopping_ = true;
  if (runner_) runner_->stop();
}

// One reading may bring several objects; they belong in one sync.
void Daemon::run_when_quiet() {
  if (feed_->has_pending()) {
    asio::post(loop_, [this] { run_when_quiet(); });
  } else if (feed_->has_changes()) {
    runner_->run();
  }
}

asio::awaitable<void> Daemon::feed_watchdog() {
  const std::optional<Duration> interval = watchdog_interval();
  for (;;) {
    TimePoint next = TimePoint::max();
    if (interval) next = later(clock_.now(), *interval / 2);
    co_await clock_.sleep_until(next);
    // A sync that does not come back, in the kernel say, is no life.
    const std::optional<TimePoint> since =
        runner_ && runner_->status().running ? runner_->status().last_start : std::nullopt;
    if (interval && since && clock_.now() - *since > *interval) continue;
    if (const Result<> told = notify_watchdog(); !told) {
      spdlog::warn(
          "systemd could not be told that this process is alive and may restart it; traffic is not "
          "affected: {}",
          told.error().what);
    }
  }
}

// Ends with the program only: without news of addresses everything else still goes on.
asio::awaitable<void> Daemon::follow_addresses() {
  Backoff pause({.first = 1s, .cap = 30s});
  for (;;) {
    Result<> told = co_await addresses_->changed();
    if (told) told = list_addresses();
    if (told) {
      pause.reset();
      // However fast they come and go: each listing reads all of them.
      co_await clock_.sleep_until(later(clock_.now(), kAddressPause));
      continue;
    }
    spdlog::warn(
        "changes of this node's addresses are not followed for a while, so node ports may be open "
        "at "
        "too few or too many of them; other traffic is not affected: {}",
        told.error().what);
    co_await clock_.sleep_until(later(clock_.now(), pause.next()));
  }
}

asio::awaitable<void> Daemon::follow_flows() {
  // A dry run changes nothing, and so no flow has another place to go.
  if (options_.dry_run) co_await clock_.sleep_until(TimePoint::max());
  co_await flows_.run();
}

}  // namespace mkp
