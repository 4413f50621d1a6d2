#pragma once

#include <spdlog/common.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace mkp {

enum class LogFormat : std::uint8_t { Text, Json };

// Who reads our standard error. The journal keeps the time itself and takes a line's priority from
// its first bytes.
enum class LogReader : std::uint8_t { Anyone, Journal };

struct LogOptions {
  LogFormat format = LogFormat::Text;
  // As Kubernetes' -v: 0 and 1 show info and above, 2 and 3 debug too, 4 and more everything.
  int verbosity = 0;
};

struct LogEntry {
  spdlog::level::level_enum level = spdlog::level::info;
  std::chrono::system_clock::time_point time;
  std::string_view message;
};

// Makes spdlog's default logger, which all of us use, write one line a message to standard error.
// To be called before other threads log; again to change the options.
void set_up_logging(const LogOptions& options);

spdlog::level::level_enum level_of(int verbosity);

// One line with its end:
//   time=2026-01-31T12:00:00.123Z level=info msg="synced 3 Services"
//   {"time":"2026-01-31T12:00:00.123Z","level":"info","msg":"synced 3 Services"}
// For the journal without the time and, in both formats, with the priority in front ("<6>"). What
// would break the line or the quotes is escaped.
std::string log_line(const LogEntry& entry, LogFormat format, LogReader reader);

// The journal, when `journal_stream` (what systemd says in $JOURNAL_STREAM, "device:inode") names
// the file behind `descriptor`; a redirected one is anyone's.
LogReader reader_of(int descriptor, std::string_view journal_stream);

}  // namespace mkp
