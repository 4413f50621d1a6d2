#include "proxy/feed_trouble.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr Duration kReminder = 10min;

std::string_view meaning(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Service:
    case ObjectKind::EndpointSlice:
      break;
    case ObjectKind::Node:
      return "node ports, zones and podCIDRs of this node stay as they are known";
    case ObjectKind::ServiceCidr:
      return "what is addressed to a cluster IP that no Service has is not dropped where it is not "
             "already";
  }
  return "what is known stays in use, and changes do not arrive";
}

}  // namespace

void FeedTrouble::note(const Error& error) {
  refused_ = refused_ || error.code == Errc::NotFound;
  noted_.notify();
  const TimePoint now = clock_.now();
  const bool known = error.what == logged_ && now - logged_at_ < kReminder;
  // Expired is a server's routine; who is out of reach is reported once for all kinds.
  const bool routine = error.code == Errc::Expired || error.code == Errc::Unreachable;
  if (known || routine) {
    spdlog::debug("{}: {}", to_text(kind_), error.what);
    return;
  }
  logged_ = error.what;
  logged_at_ = now;
  log(error);
}

void FeedTrouble::log(const Error& error) const {
  if (kind_ == ObjectKind::ServiceCidr && error.code == Errc::NotFound) {
    spdlog::info("this API server has no ServiceCIDRs (Kubernetes has them since 1.33): {}",
                 meaning(kind_));
    return;
  }
  spdlog::error("{}: {}; {}, and it is tried again", to_text(kind_), error.what, meaning(kind_));
}

asio::awaitable<void> FeedTrouble::wait_until_refused() const {
  while (!refused_) co_await noted_.wait();
}

}  // namespace mkp
