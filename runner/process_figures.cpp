#include "runner/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace mkp {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

double number_at(const std::vector<std::string>& words, std::size_t index) {
  if (index >= words.size()) return 0;
  std::istringstream stream(words[index]);
  double value = 0;
  stream >> value;
  return stream ? value : 0;
}

// "btime 1796060000" of /proc/stat: when the machine was started.
double boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return number_at(words_of(line), 1);
  }
  return 0;
}

// proc(5): the process's own name, in parentheses, may hold anything; the third field is behind it.
void read_stat(ProcessFigures& figures) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return;
  const std::vector<std::string> fields = words_of(line.substr(name_end + 1));
  const auto field = [&](std::size_t number) { return number_at(fields, number - 3); };
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  figures.cpu_seconds = (field(14) + field(15)) / ticks;
  figures.start_time = boot_time() + field(22) / ticks;
  figures.virtual_bytes = field(23);
  figures.resident_bytes = field(24) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double soft_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

double open_files() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/fd", error);
  if (error) return 0;
  return static_cast<double>(std::distance(begin(all), end(all))) - 1;  // but the listing's own
}

// Of each group two lines: "IpExt: InNoRoutes ..." and "IpExt: 0 ...".
void read_traffic(ProcessFigures& figures) {
  std::ifstream file("/proc/self/net/netstat");
  std::string names;
  for (std::string values; std::getline(file, names) && std::getline(file, values);) {
    if (!names.starts_with("IpExt:")) continue;
    const std::vector<std::string> keys = words_of(names);
    const std::vector<std::string> numbers = words_of(values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == "InOctets") figures.received_bytes = number_at(numbers, i);
      if (keys[i] == "OutOctets") figures.sent_bytes = number_at(numbers, i);
    }
  }
}

}  // namespace

ProcessFigures process_figures() {
  ProcessFigures figures;
  read_stat(figures);
  read_traffic(figures);
  figures.max_virtual_bytes = soft_limit(RLIMIT_AS);
  figures.open_files = open_files();
  figures.max_open_files = soft_limit(RLIMIT_NOFILE);
  return figures;
}

}  // namespace mkp
