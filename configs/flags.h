#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "configs/config.h"
#include "runner/result.h"

namespace mkp {

// What a dry run compares the wanted rules with: those of the kernel, or none.
enum class Against : std::uint8_t { Kernel, Empty };

// What this process is to do.
struct Options {
  Config config;  // valid, except with `cleanup`, which asks nothing of it
  std::optional<std::string> config_file;
  // Where the objects come from: this directory, or if it is empty an API server, to which
  // config.client_connection.kubeconfig and `master` lead, or else the pod's service account.
  std::string manifests;
  std::optional<std::string> master;  // a URL that takes the place of the kubeconfig's; not empty
  std::optional<std::string> write_config_to;
  bool once = false;
  bool dry_run = false;
  Against against = Against::Kernel;
  bool cleanup = false;
  std::vector<std::string> warnings;  // to be logged once logging is set up
};

// The answer to --help and --version: to be printed to standard output, and then exit 0.
struct Information {
  std::string text;
};

using CommandLine = std::variant<Options, Information>;

// Reads kube-proxy's command line and our own flags, the file that --config names, and validates
// the outcome.
//
// Which wins, as in kube-proxy: without --config the flags; with it the file and the defaults,
// whatever flags say, except for --hostname-override, the logging flags (the modules of --vmodule
// come before the file's) and the flags that are no part of a file, such as --cleanup or
// --write-config-to. kube-proxy ignores the other flags in silence; here there is a warning. `_`
// may be written for `-` in names.
//
// A failure has all reasons, a line each.
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

}  // namespace mkp
