#include "runner/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <memory>

namespace mkp {
namespace {

// syslog's priorities, as sd-daemon(3) has them.
int priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return 2;
    case spdlog::level::err:
      return 3;
    case spdlog::level::warn:
      return 4;
    case spdlog::level::info:
      return 6;
    default:
      return 7;
  }
}

std::string_view name_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return "critical";
    case spdlog::level::err:
      return "error";
    case spdlog::level::warn:
      return "warning";
    case spdlog::level::info:
      return "info";
    case spdlog::level::debug:
      return "debug";
    default:
      return "trace";
  }
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds.count()),
                     (since_epoch - seconds).count());
}

// The text in double quotes, escaped as JSON has it.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (letter == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      result += letter;
    }
  }
  return result += '"';
}

class LineFormatter final : public spdlog::formatter {
 public:
  LineFormatter(LogFormat format, LogReader reader) : format_(format), reader_(reader) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const LogEntry entry{message.level, message.time,
                         std::string_view(message.payload.data(), message.payload.size())};
    const std::string line = log_line(entry, format_, reader_);
    out.append(line.data(), line.data() + line.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(format_, reader_);
  }

 private:
  LogFormat format_;
  LogReader reader_;
};

}  // namespace

void set_up_logging(const LogOptions& options) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  const LogReader reader = reader_of(STDERR_FILENO, stream == nullptr ? "" : stream);
  auto logger = std::make_shared<spdlog::logger>("mini-kube-proxy",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::make_unique<LineFormatter>(options.format, reader));
  logger->set_level(level_of(options.verbosity));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

spdlog::level::level_enum level_of(int verbosity) {
  if (verbosity >= 4) return spdlog::level::trace;
  return verbosity >= 2 ? spdlog::level::debug : spdlog::level::info;
}

std::string log_line(const LogEntry& entry, LogFormat format, LogReader reader) {
  const bool journal = reader == LogReader::Journal;
  const std::string prefix = journal ? fmt::format("<{}>", priority_of(entry.level)) : "";
  const std::string message = quoted(entry.message);
  if (format == LogFormat::Json) {
    const std::string time = journal ? "" : fmt::format("\"time\":\"{}\",", time_text(entry.time));
    return fmt::format("{}{{{}\"level\":\"{}\",\"msg\":{}}}\n", prefix, time, name_of(entry.level),
                       message);
  }
  const std::string time = journal ? "" : fmt::format("time={} ", time_text(entry.time));
  return fmt::format("{}{}level={} msg={}\n", prefix, time, name_of(entry.level), message);
}

LogReader reader_of(int descriptor, std::string_view journal_stream) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0) return LogReader::Anyone;
  return journal_stream == fmt::format("{}:{}", file.st_dev, file.st_ino) ? LogReader::Journal
                                                                          : LogReader::Anyone;
}

}  // namespace mkp
