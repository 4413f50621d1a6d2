#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>

#include "configs/flags.h"
#include "proxy/daemon.h"
#include "runner/log.h"

int main(int argc, char** argv) {
  try {
    mkp::set_up_logging({});
    mkp::Result<mkp::CommandLine> command_line = mkp::parse_command_line(argc, argv);
    if (!command_line) {
      // A line for each thing that is wrong.
      std::istringstream lines(command_line.error().what);
      for (std::string line; std::getline(lines, line);) spdlog::error("{}", line);
      // A dry run's 1 would mean that something differs.
      const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
      const bool dry_run = std::any_of(arguments.begin(), arguments.end(),
                                       [](std::string_view one) { return one == "--dry-run"; });
      return dry_run ? 2 : 1;
    }
    if (const auto* information = std::get_if<mkp::Information>(&*command_line)) {
      std::fputs(information->text.c_str(), stdout);
      return 0;
    }
    auto& options = std::get<mkp::Options>(*command_line);
    mkp::set_up_logging(
        {.format = options.config.logging.format, .verbosity = options.config.logging.verbosity});
    return mkp::Daemon(std::move(options)).run();
  } catch (const std::exception& failure) {
    spdlog::critical("mini-kube-proxy ends, the rules stay in place: {}", failure.what());
  } catch (...) {
    spdlog::critical("mini-kube-proxy ends, the rules stay in place: unknown failure");
  }
  return 1;
}
