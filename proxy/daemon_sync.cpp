// What the daemon does in a sync, and around it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "proxy/daemon.h"
#include "runner/notify.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// Kernels before 6.2 see a chain as referenced for a moment after the element that named it is
// gone.
constexpr Duration kChainRest = 1s;

// What a sync's job has to say to the loop.
struct SyncAnswer {
  Result<SyncReport> report;
  std::vector<UdpChanges> udp;
  bool serves = false;
  bool cleanup_due = false;
  std::vector<FamilyOutcome> outcomes;
};

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void log_sync(const SyncReport& report) {
  if (report.transactions == 0 && report.resyncs == 0) {
    spdlog::debug("nothing to change in the rules");
    return;
  }
  spdlog::log(
      report.resyncs ? spdlog::level::info : spdlog::level::debug,
      "{} Service ports changed: {} objects added, {} removed in {} transactions; {:.3f} ms "
      "to work out, {:.3f} ms "
      "in the kernel",
      report.size.service_ports, report.size.added, report.size.removed, report.transactions,
      milliseconds(report.compute), milliseconds(report.kernel));
}

std::string summary(const PlanSize& size) {
  if (size.added == 0 && size.removed == 0) return "no change\n";
  return fmt::format("{} to add, {} to remove; {} Service ports change\n", size.added, size.removed,
                     size.service_ports);
}

Result<> print(const FamilyProxier::Preview& preview) {
  const std::string text = preview.text + summary(preview.size);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !written) return fail_errno(errno, "print the diff");
  return {};
}

}  // namespace

asio::awaitable<Result<>> Daemon::sync() {
  const auto taken = std::make_shared<ClusterChanges>(feed_->take());
  if (servers_) servers_->note_taken(*taken);
  const auto job = [this, changes = taken] {
    Proxier& proxier = rules_->proxier();
    Result<SyncReport> synced = proxier.sync(std::move(*changes));
    return SyncAnswer{std::move(synced), proxier.take_udp_changes(), proxier.serves(),
                      proxier.cleanup_due(), proxier.take_outcomes()};
  };
  const SyncAnswer answer = co_await sync_thread_.run(job);
  if (servers_) servers_->note_outcomes(answer.outcomes);
  for (const UdpChanges& change : answer.udp) flows_.note(change);
  if (answer.report) log_sync(*answer.report);
  // A family that fails takes nothing from the other.
  if (answer.serves) announce_ready();
  const Result<> removed = co_await tidy_up(answer.cleanup_due);
  if (!answer.report) {
    co_return fail(answer.report.error(),
                   "rules could not be brought up to date and stay as they were");
  }
  co_return removed;
}

// Removes chains once they have rested; says that there are some to whoever runs the next sync.
asio::awaitable<Result<>> Daemon::tidy_up(bool due) {
  if (!due) cleanup_at_.reset();
  if (due && !cleanup_at_) cleanup_at_ = later(clock_.now(), kChainRest);
  if (!runner_ || !cleanup_at_) co_return Result<>{};
  if (clock_.now() < *cleanup_at_) {
    runner_->retry_after(*cleanup_at_ - clock_.now());
    co_return Result<>{};
  }
  const Result<> removed = co_await remove_idle_chains();
  co_return removed;
}

asio::awaitable<Result<>> Daemon::remove_idle_chains() {
  cleanup_at_.reset();
  const auto job = [this] {
    Proxier& proxier = rules_->proxier();
    Result<SyncReport> cleaned = proxier.cleanup();
    return SyncAnswer{
        std::move(cleaned), {}, proxier.serves(), proxier.cleanup_due(), proxier.take_outcomes()};
  };
  const SyncAnswer answer = co_await sync_thread_.run(job);
  if (servers_) servers_->note_outcomes(answer.outcomes);
  const Result<SyncReport>& report = answer.report;
  if (!report) co_return fail(report.error(), "remove unused chains, which no traffic takes");
  log_sync(*report);
  co_return Result<>{};
}

void Daemon::announce_ready() {
  if (!runner_ || std::exchange(ready_, true)) return;
  spdlog::info("the rules of this node are in place");
  if (const Result<> told = notify_ready("the rules of this node are in place"); !told) {
    spdlog::warn(
        "systemd could not be told that the start is over and may restart this process; traffic is "
        "not "
        "affected: {}",
        told.error().what);
  }
}

asio::awaitable<Result<PlanSize>> Daemon::preview() {
  const auto job = [this, changes = std::make_shared<ClusterChanges>(feed_->take())] {
    return rules_->proxier().preview(std::move(*changes));
  };
  const Result<FamilyProxier::Preview> preview = co_await sync_thread_.run(job);
  if (!preview && preview.error().code == Errc::Denied) {
    co_return fail(preview.error(), "a dry run without privileges takes --against empty");
  }
  if (!preview) co_return tl::unexpected<Error>(preview.error());
  if (Result<> printed = print(*preview); !printed) {
    co_return tl::unexpected<Error>(std::move(printed.error()));
  }
  co_return preview->size;
}

asio::awaitable<Result<>> Daemon::print_preview() {
  const Result<PlanSize> size = co_await preview();
  if (!size) co_return tl::unexpected<Error>(size.error());
  co_return Result<>{};
}

}  // namespace mkp
