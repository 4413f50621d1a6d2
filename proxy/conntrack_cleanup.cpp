#include "proxy/conntrack_cleanup.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

namespace mkp {
namespace {

using namespace std::chrono_literals;

// From the end of one visit to the start of the next: at least that, and that many times what the
// visit took.
constexpr Duration kPause = 100ms;
constexpr int kRest = 4;
// Flows are judged once more before they are forgotten, that many at a time.
constexpr std::size_t kPortion = 1'000;

constexpr IpFamily kFamilies[] = {IpFamily::Ipv4, IpFamily::Ipv6};

// What one visit has found.
struct Found {
  std::size_t flows = 0;
  std::vector<UdpFlow> stale;
  bool more = false;  // stale ones than `stale` may hold
};

}  // namespace

Backoff ConntrackCleanup::default_backoff() {
  return Backoff(Backoff::Limits{.first = 1s, .cap = 30s, .factor = 2.0, .jitter = 0.1});
}

void ConntrackCleanup::note(const UdpChanges& changes) {
  if (changes.empty()) return;
  frontends(changes.family).apply(changes);
  noted_.notify();
}

asio::awaitable<void> ConntrackCleanup::run() {
  for (;;) {
    while (!is_due()) co_await noted_.wait();
    const TimePoint start = clock_.now();
    const Result<> outcome = co_await visit_where_due();
    log_outcome(outcome);
    const TimePoint end = clock_.now();
    Duration pause = std::max(kPause, kRest * (end - start));
    if (!outcome) pause = std::max(pause, backoff_.next());
    if (outcome) backoff_.reset();
    co_await clock_.sleep_until(later(end, pause));
  }
}

asio::awaitable<Result<>> ConntrackCleanup::run_once() {
  while (is_due()) {
    Result<> outcome = co_await visit_where_due();
    if (!outcome) co_return outcome;
  }
  co_return Result<>();
}

asio::awaitable<Result<>> ConntrackCleanup::visit_where_due() {
  Result<> outcome;
  for (const IpFamily family : kFamilies) {
    if (!frontends(family).needs_visit()) continue;
    Result<Report> report = co_await visit(family);
    if (report) {
      tell(*report);
    } else if (outcome) {
      outcome = fail(std::move(report.error()),
                     fmt::format("UDP clients that keep their source port may keep talking to {} "
                                 "endpoints that are gone, until their flows time out",
                                 to_text(family)));
    }
  }
  co_return outcome;
}

asio::awaitable<Result<ConntrackCleanup::Report>> ConntrackCleanup::visit(IpFamily family) {
  UdpFrontends& judge = frontends(family);
  const std::uint64_t revision = judge.revision();
  const TimePoint start = clock_.now();
  Found found;
  Conntrack::Visit look_at = [&judge, &found](const UdpFlow& flow) {
    ++found.flows;
    if (!judge.is_stale(flow)) return;
    found.more = found.stale.size() == kMostStale;
    if (!found.more) found.stale.push_back(flow);
  };
  const Result<> visited = co_await conntrack_.visit_udp(family, std::move(look_at));
  if (!visited) co_return tl::unexpected<Error>(visited.error());
  const Result<std::size_t> forgotten = co_await forget(judge, found.stale);
  if (!forgotten) co_return tl::unexpected<Error>(forgotten.error());
  if (!found.more) judge.visited(revision);
  if (found.more && *forgotten == 0) {
    co_return fail(Errc::Unavailable, "forget flows: the kernel keeps all of them");
  }
  co_return Report{family, found.flows, *forgotten, clock_.now() - start};
}

// Those that have become healthy since they were seen are left alone: an endpoint may have come
// back.
asio::awaitable<Result<std::size_t>> ConntrackCleanup::forget(const UdpFrontends& judge,
                                                              const std::vector<UdpFlow>& flows) {
  std::size_t forgotten = 0;
  for (std::span<const UdpFlow> rest(flows); !rest.empty();) {
    const std::span<const UdpFlow> seen = rest.first(std::min(kPortion, rest.size()));
    rest = rest.subspan(seen.size());
    std::vector<UdpFlow> portion;
    portion.reserve(seen.size());
    std::ranges::copy_if(seen, std::back_inserter(portion),
                         [&judge](const UdpFlow& flow) { return judge.is_stale(flow); });
    if (portion.empty()) continue;
    const Result<std::size_t> done = co_await conntrack_.forget(std::move(portion));
    if (!done) co_return tl::unexpected<Error>(done.error());
    forgotten += *done;
  }
  co_return forgotten;
}

UdpFrontends& ConntrackCleanup::frontends(IpFamily family) {
  return frontends_[static_cast<std::size_t>(family)];
}

bool ConntrackCleanup::is_due() const {
  return std::ranges::any_of(frontends_, &UdpFrontends::needs_visit);
}

void ConntrackCleanup::tell(const Report& report) const {
  spdlog::debug("{} UDP flows of {} looked at in {:.3f} ms, {} of them stale and forgotten",
                report.visited, to_text(report.family),
                std::chrono::duration<double, std::milli>(report.duration).count(),
                report.forgotten);
  if (on_visit_) on_visit_(report);
}

// A failure that goes on is told once.
void ConntrackCleanup::log_outcome(const Result<>& outcome) {
  if (outcome) {
    if (failing_) spdlog::info("UDP flows follow the rules again");
    failing_.reset();
    return;
  }
  const bool known = failing_ == outcome.error().code;
  failing_ = outcome.error().code;
  spdlog::log(known ? spdlog::level::debug : spdlog::level::warn,
              "{}; it is tried again, and new flows are not affected", outcome.error().what);
}

}  // namespace mkp
