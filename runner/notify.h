#pragma once

#include <optional>
#include <string_view>

#include "runner/clock.h"
#include "runner/result.h"

namespace mkp {

// What systemd is told about this process (sd_notify(3)). All of it does nothing, and succeeds,
// when systemd does not ask to be told ($NOTIFY_SOCKET is not set). Losing such a message is no
// reason to stop: log it and go on.

// Start-up is over.
Result<> notify_ready(std::string_view status);

// One line for `systemctl status`.
Result<> notify_status(std::string_view status);

// We are alive. To be sent well within watchdog_interval(), by whatever would hang if we hung.
Result<> notify_watchdog();

// Shutting down in good order.
Result<> notify_stopping(std::string_view status);

// After how much silence systemd kills us; nothing when no watchdog watches this process.
std::optional<Duration> watchdog_interval();

}  // namespace mkp
