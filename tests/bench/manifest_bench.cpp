// The whole program on a big directory of manifests: one sync from an empty kernel, and one over
// what it left.
//   unshare --net manifest_bench [SERVICES ENDPOINTS [SERVICES ENDPOINTS ...]]
// Prints a table, and one JSON object a line behind it. Without arguments 1,000 x 2 and 10,000 x 2.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tests/end_to_end/kernel_view.h"
#include "tests/end_to_end/manifest_files.h"
#include "tests/end_to_end/program_run.h"

namespace mkp {
namespace {

struct Measured {
  double wall_ms = 0;     // process start to exit
  double compute_ms = 0;  // model, diff and plan
  double kernel_ms = 0;   // dumps and transactions
  int transactions = 0;
  double peak_mib = 0;
};

std::string address(int network, int number) {
  return fmt::format("10.{}.{}.{}", network + number / 62500, number / 250 % 250, 1 + number % 250);
}

void write_cluster(const ManifestFiles& files, int services, int endpoints) {
  for (int i = 0; i < services; ++i) {
    const std::string name = fmt::format("svc-{:05}", i);
    std::vector<std::string> addresses;
    addresses.reserve(static_cast<std::size_t>(endpoints));
    for (int n = 0; n < endpoints; ++n) addresses.push_back(address(180, i * endpoints + n));
    files.write(name + ".yaml", service_manifest(name, address(96, i)));
    files.write(name + "-x.yaml", slice_manifest(name, addresses));
  }
}

std::optional<Measured> measure_once(const ManifestFiles& files) {
  const auto start = std::chrono::steady_clock::now();
  ProgramRun run({"--config", files.config(), "--manifests", files.path(), "--once", "-v2"});
  const int status = run.wait();
  Measured measured;
  measured.wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  measured.peak_mib = static_cast<double>(run.peak_memory()) / 1024.0;
  const std::string log = run.standard_error();
  if (status != 0) {
    std::fputs(log.c_str(), stderr);
    return std::nullopt;
  }
  static const std::regex kSynced(
      R"(in (\d+) transactions; ([\d.]+) ms to work out, ([\d.]+) ms in the kernel)");
  std::smatch match;
  if (std::regex_search(log, match, kSynced)) {
    measured.transactions = std::stoi(match[1]);
    measured.compute_ms = std::stod(match[2]);
    measured.kernel_ms = std::stod(match[3]);
  }
  return measured;
}

void print(int services, int endpoints, const char* what, const Measured& measured,
           std::string& json) {
  fmt::print("{:>7} x {:<3} {:<10} {:>10.1f} {:>10.1f} {:>10.1f} {:>6} {:>9.1f}\n", services,
             endpoints, what, measured.wall_ms, measured.compute_ms, measured.kernel_ms,
             measured.transactions, measured.peak_mib);
  json += fmt::format(
      R"({{"services":{},"endpoints":{},"run":"{}","wall_ms":{:.1f},"compute_ms":{:.1f},"kernel_ms":{:.1f},)"
      R"("transactions":{},"peak_mib":{:.1f}}})"
      "\n",
      services, endpoints, what, measured.wall_ms, measured.compute_ms, measured.kernel_ms,
      measured.transactions, measured.peak_mib);
}

bool measure(int services, int endpoints, std::string& json) {
  KernelView kernel;
  kernel.remove_tables();
  const ManifestFiles files;
  write_cluster(files, services, endpoints);
  const std::optional<Measured> cold = measure_once(files);
  if (!cold) return false;
  const std::optional<Measured> again = measure_once(files);
  if (!again) return false;
  print(services, endpoints, "cold", *cold, json);
  print(services, endpoints, "unchanged", *again, json);
  if (again->transactions != 0)
    fmt::print("a sync over the applied state sent {} transactions\n", again->transactions);
  return again->transactions == 0;
}

}  // namespace
}  // namespace mkp

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): a benchmark may just end
  std::vector<int> numbers;
  for (int i = 1; i < argc; ++i) numbers.push_back(std::atoi(argv[i]));
  if (numbers.empty()) numbers = {1000, 2, 10000, 2};
  fmt::print("{:>13} {:<10} {:>10} {:>10} {:>10} {:>6} {:>9}\n", "services", "run", "wall ms",
             "work ms", "kernel ms", "trans.", "peak MiB");
  std::string json;
  bool fine = true;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    fine = mkp::measure(numbers[i], numbers[i + 1], json) && fine;
  }
  std::fputs(json.c_str(), stdout);
  return fine ? 0 : 1;
}
