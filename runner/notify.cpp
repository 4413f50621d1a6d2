#include "runner/notify.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <string>

namespace mkp {
namespace {

Result<> send(const std::string& assignments) {
  const int sent = sd_notify(/*unset_environment=*/0, assignments.c_str());
  if (sent < 0) return fail_errno(-sent, "notify systemd");
  return {};
}

// An end of line would start another assignment.
std::string status_line(std::string_view status) {
  std::string line = "STATUS=" + std::string(status);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

Result<> notify_ready(std::string_view status) { return send("READY=1\n" + status_line(status)); }

Result<> notify_status(std::string_view status) { return send(status_line(status)); }

Result<> notify_watchdog() { return send("WATCHDOG=1"); }

Result<> notify_stopping(std::string_view status) {
  return send("STOPPING=1\n" + status_line(status));
}

std::optional<Duration> watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &microseconds) <= 0) return std::nullopt;
  constexpr std::uint64_t kLongest = Duration::max().count() / 1000;
  return std::chrono::microseconds(std::min(microseconds, kLongest));
}

}  // namespace mkp
