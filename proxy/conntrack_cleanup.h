#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>

#include "informer/signal.h"
#include "netlink/conntrack.h"
#include "proxy/udp_changes.h"
#include "proxy/udp_frontends.h"
#include "runner/backoff.h"
#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// Makes the UDP flows that exist follow the rules: forgets the stale ones, so that the next packet
// of their clients is led anew. Looks at the kernel's flows only when some can have become stale,
// the first time at once; then never sooner than 100 ms after it last did, nor more than a fifth of
// the time. Belongs to the loop thread.
class ConntrackCleanup {
 public:
  // One visit of the flows of one IP family.
  struct Report {
    IpFamily family = IpFamily::Ipv4;
    std::size_t visited = 0;    // flows
    std::size_t forgotten = 0;  // of these
    Duration duration{};
  };

  // Stale flows that one visit remembers. If there are more it is followed by another.
  static constexpr std::size_t kMostStale = 16'384;

  // From 1 s, doubling up to 30 s, each stretched by up to a tenth.
  static Backoff default_backoff();

  ConntrackCleanup(Conntrack& conntrack, Clock& clock, Backoff backoff = default_backoff())
      : conntrack_(conntrack), clock_(clock), backoff_(std::move(backoff)) {}
  ConntrackCleanup(const ConntrackCleanup&) = delete;
  ConntrackCleanup& operator=(const ConntrackCleanup&) = delete;

  // Is told of each visit that succeeded. Must be quick.
  void on_visit(std::function<void(const Report&)> listener) { on_visit_ = std::move(listener); }

  // Takes in what a sync has changed, once the kernel has acknowledged it: a flow forgotten before
  // that would be led the old way again. Never waits.
  void note(const UdpChanges& changes);

  // Deals with what is noted, as it comes. Ends by cancellation only. Failures are logged here, and
  // tried again.
  asio::awaitable<void> run();

  // For who has no run(): deals with everything noted so far, at once. A failure says what it means
  // for traffic; what was noted stays to be dealt with.
  asio::awaitable<Result<>> run_once();

 private:
  UdpFrontends& frontends(IpFamily family);
  bool is_due() const;
  asio::awaitable<Result<>> visit_where_due();
  asio::awaitable<Result<Report>> visit(IpFamily family);
  asio::awaitable<Result<std::size_t>> forget(const UdpFrontends& frontends,
                                              const std::vector<UdpFlow>& flows);
  void tell(const Report& report) const;
  void log_outcome(const Result<>& outcome);

  Conntrack& conntrack_;
  Clock& clock_;
  Backoff backoff_;
  std::function<void(const Report&)> on_visit_;
  std::array<UdpFrontends, 2> frontends_;  // by IpFamily
  Signal noted_;
  std::optional<Errc> failing_;  // as logged
};

}  // namespace mkp
