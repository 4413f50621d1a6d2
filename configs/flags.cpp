#include "configs/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "configs/defaults.h"
#include "configs/fields.h"
#include "configs/flag_setter.h"
#include "configs/flag_table.h"
#include "configs/load.h"
#include "configs/nearest_name.h"
#include "configs/validate.h"

namespace mkp {
namespace {

constexpr const char* kOurs = "This program's";
constexpr const char* kKubernetes = "As in kube-proxy";
constexpr const char* kUnused = "As in kube-proxy, but nothing uses what they set yet";

// The texts of the command line, before anything is made of them.
struct Given {
  std::map<std::string, std::string> config_flags;  // by name, those that were given
  std::optional<std::string> config_file;
  std::optional<std::string> write_config_to;
  std::optional<std::string> manifests;
  std::optional<std::string> master;
  std::optional<std::string> against;
  std::optional<std::string> healthz_port;
  std::optional<std::string> metrics_port;
  std::string version;  // empty when not asked for
  bool help = false;
  bool once = false;
  bool dry_run = false;
  bool cleanup = false;
  bool init_only = false;
  std::vector<std::string> unexpected;
};

// Kubernetes' spellings that CLI11 does not know: `_` for `-` in names, -v=2, and --name= for an
// empty value.
std::vector<std::string> usual_spelling(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.starts_with("-v=")) word.insert(0, "-");
    if (!word.starts_with("--")) {
      words.push_back(std::move(word));
      continue;
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    std::replace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), '_', '-');
    const bool empty_value = equals + 1 == word.size();
    if (empty_value) word.pop_back();
    words.push_back(std::move(word));
    if (empty_value) words.emplace_back();
  }
  return words;
}

void add_ours(CLI::App& app, Given& given) {
  app.add_option("--manifests", given.manifests,
                 "directory of YAML or JSON manifests to read Services and EndpointSlices from, "
                 "instead of an "
                 "API server")
      ->type_name("DIR")
      ->take_last()
      ->group(kOurs);
  app.add_flag("--once", given.once, "sync once what is there, then exit: 0, or 1 with the reason")
      ->group(kOurs);
  app.add_flag("--dry-run", given.dry_run,
               "write nothing to the kernel; print what a sync would change. With --once it exits "
               "0 for no difference, 1 for some, 2 for an error")
      ->group(kOurs);
  app.add_option("--against", given.against,
                 "what --dry-run compares with: kernel, the default, or empty, which takes no "
                 "privilege and shows every rule")
      ->type_name("kernel|empty")
      ->take_last()
      ->group(kOurs);
}

void add_process_flags(CLI::App& app, Given& given) {
  const auto add = [&app](const char* name, std::optional<std::string>& value, const char* text) {
    app.add_option(name, value, text)->type_name("VALUE")->take_last()->group(kKubernetes);
  };
  add("--config", given.config_file,
      "KubeProxyConfiguration to read; it replaces what the flags below say, except for "
      "--hostname-override and those of logging");
  add("--write-config-to", given.write_config_to, "write the effective configuration, then exit");
  add("--master", given.master,
      "URL of the API server, in place of the one in the kubeconfig; alone, without credentials");
  add("--healthz-port", given.healthz_port,
      "deprecated: the port of --healthz-bind-address; 0: no health server");
  add("--metrics-port", given.metrics_port,
      "deprecated: the port of --metrics-bind-address; 0: no metrics server");
  app.add_flag("--cleanup", given.cleanup, "remove all rules of ours and nothing else, then exit")
      ->group(kKubernetes);
  app.add_flag("--init-only", given.init_only, "not built yet")->group(kKubernetes);
  app.add_flag("--version", given.version, "print the version, then exit")->group(kKubernetes);
  app.add_flag("-h,--help", given.help, "print this, then exit")->group(kKubernetes);
}

// `texts` gets a place for each flag; CLI11 keeps references to them.
void add_config_flags(CLI::App& app, std::map<std::string, std::string>& texts) {
  for (const ConfigFlag& flag : config_flags()) {
    const std::string name = flag.name;
    const std::string names = name == "v" ? "-v,--v" : "--" + name;
    const bool unused = flag.meaning.empty();
    const std::string meaning =
        unused ? fmt::format("sets {}", fmt::join(flag.paths, ", ")) : std::string(flag.meaning);
    std::string& text = texts[name];
    CLI::Option* option = nullptr;
    if (flag.takes == ConfigFlag::Takes::Switch) {
      option = app.add_flag(names, text, meaning);
    } else {
      option = app.add_option(names, text, meaning)->type_name("VALUE");
      if (flag.takes == ConfigFlag::Takes::List) {
        option->join(',');
      } else {
        option->take_last();
      }
    }
    option->group(unused ? kUnused : kKubernetes);
  }
}

Result<Given> read_words(CLI::App& app, std::vector<std::string> words) {
  Given given;
  std::map<std::string, std::string> texts;
  app.set_help_flag();
  app.allow_extras();
  add_ours(app, given);
  add_process_flags(app, given);
  add_config_flags(app, texts);
  std::string no_effect;
  app.add_option("--boot-id-file,--machine-id-file", no_effect)->take_last()->group("");
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return fail(Errc::Invalid, error.what());
  }
  for (auto& [name, text] : texts) {
    if (app.count("--" + name) > 0) given.config_flags[name] = std::move(text);
  }
  given.unexpected = app.remaining();
  return given;
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

void report_unexpected(const CLI::App& app, const Given& given, std::vector<std::string>& errors) {
  for (const std::string& word : given.unexpected) {
    if (!word.starts_with('-')) {
      errors.push_back(fmt::format("unexpected argument: {}", word));
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    const std::optional<std::string> meant = nearest_name(name, names_of(app));
    errors.push_back(fmt::format("unknown flag: {}", name) +
                     (meant ? fmt::format(", did you mean {}?", *meant) : ""));
  }
}

// The flags that count, by the fields they set. Says which don't.
std::map<std::string, FlagSetter::Setting> settings_of(const Given& given, Options& options) {
  std::map<std::string, FlagSetter::Setting> settings;
  for (const ConfigFlag& flag : config_flags()) {
    const auto found = given.config_flags.find(flag.name);
    if (found == given.config_flags.end()) continue;
    const std::string shown = fmt::format("--{}", flag.name);
    if (given.config_file && flag.rank == ConfigFlag::Rank::BelowFile) {
      options.warnings.push_back(fmt::format("{} has no effect beside --config; set {} in {}",
                                             shown, fmt::join(flag.paths, " and "),
                                             *given.config_file));
      continue;
    }
    for (const std::string_view path : flag.paths) {
      settings[std::string(path)] = {shown, found->second};
    }
  }
  return settings;
}

// Empty when it was not given.
std::string text_of(const Given& given, const char* flag) {
  const auto found = given.config_flags.find(flag);
  return found == given.config_flags.end() ? std::string() : found->second;
}

// A deprecated port flag: 0 switches the server off; any other port is for an address without one.
void apply_port(const char* flag, const std::optional<std::string>& text,
                const std::map<std::string, FlagSetter::Setting>& settings, const char* field,
                ListenAddress& address, std::vector<std::string>& errors) {
  if (!text) return;
  const Result<std::int32_t> port = parse_value<std::int32_t>(*text);
  if (!port || *port < 0 || *port > 65535) {
    errors.push_back(fmt::format("{}: \"{}\" is not a port", flag, *text));
    return;
  }
  const auto setting = settings.find(field);
  const bool bare = setting != settings.end() && parse_ip_address(setting->second.text).has_value();
  if (*port == 0 || bare) address.port = static_cast<std::uint16_t>(*port);
}

void apply_flags(const Given& given, Options& options, std::vector<std::string>& errors) {
  Config& config = options.config;
  const std::vector<LoggingConfig::Module> modules_of_file = config.logging.vmodule;
  if (!given.config_file) {
    config = defaults_for(text_of(given, "proxy-mode"), text_of(given, "bind-address"));
  }
  const std::map<std::string, FlagSetter::Setting> settings = settings_of(given, options);
  FlagSetter setter(settings);
  visit_config(setter, config);
  errors.insert(errors.end(), setter.errors().begin(), setter.errors().end());
  if (settings.contains("logging.vmodule")) {
    config.logging.vmodule.insert(config.logging.vmodule.end(), modules_of_file.begin(),
                                  modules_of_file.end());
  }
  if (given.config_file) {
    if (given.healthz_port)
      options.warnings.emplace_back("--healthz-port has no effect beside --config");
    if (given.metrics_port)
      options.warnings.emplace_back("--metrics-port has no effect beside --config");
    return;
  }
  apply_port("--healthz-port", given.healthz_port, settings, "healthzBindAddress",
             config.healthz_bind_address, errors);
  apply_port("--metrics-port", given.metrics_port, settings, "metricsBindAddress",
             config.metrics_bind_address, errors);
}

// There is one source of objects: a directory or an API server.
void check_source(const Given& given, const Config& config, std::vector<std::string>& errors) {
  if (given.master && given.master->empty()) errors.emplace_back("--master: is empty");
  if (!given.manifests) return;
  if (given.manifests->empty()) errors.emplace_back("--manifests: is empty");
  const auto refuse = [&errors](const std::string& other) {
    errors.push_back(fmt::format(
        "--manifests beside {}: objects come from a directory or from an API server; give one of "
        "them",
        other));
  };
  if (given.master) refuse("--master");
  if (config.client_connection.kubeconfig.empty()) return;
  refuse(given.config_file ? "clientConnection.kubeconfig of " + *given.config_file
                           : "--kubeconfig");
}

void check_process_flags(const Given& given, Options& options, std::vector<std::string>& errors) {
  if (given.against && !given.dry_run) errors.emplace_back("--against needs --dry-run");
  if (given.against && *given.against != "kernel" && *given.against != "empty") {
    errors.push_back(fmt::format("--against: \"{}\" is not kernel or empty", *given.against));
  }
  if (given.against == "empty") options.against = Against::Empty;
  if (given.init_only) errors.emplace_back("--init-only is not built yet");
  if (given.cleanup && given.dry_run) {
    errors.emplace_back(
        "--cleanup writes and --dry-run does not: give one of them (nft list table ip "
        "mini-kube-proxy shows what a clean-up would remove)");
  }
  if (!given.cleanup && !given.write_config_to) check_source(given, options.config, errors);
}

Result<CommandLine> options_of(Given given, std::vector<std::string> errors) {
  Options options;
  options.config_file = given.config_file;
  options.manifests = given.manifests.value_or("");
  options.master = given.master;
  options.write_config_to = given.write_config_to;
  options.once = given.once;
  options.dry_run = given.dry_run;
  options.cleanup = given.cleanup;
  if (given.config_file) {
    Result<LoadedConfig> loaded = load_config_file(*given.config_file);
    if (loaded) {
      options.config = std::move(loaded->config);
      options.warnings = std::move(loaded->warnings);
    } else {
      errors.push_back(loaded.error().what);
    }
  }
  apply_flags(given, options, errors);
  check_process_flags(given, options, errors);
  if (errors.empty() && !options.cleanup) {
    const Result<> valid = validate(options.config);
    if (!valid) errors.push_back(valid.error().what);
  }
  if (!errors.empty()) return fail(Errc::Invalid, fmt::format("{}", fmt::join(errors, "\n")));
  return options;
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "Programs this node's nftables rules so that traffic to Kubernetes Services reaches their "
      "endpoints.",
      "mini-kube-proxy");
  Result<Given> given = read_words(app, usual_spelling(argc, argv));
  if (!given) return tl::unexpected<Error>(given.error());
  if (given->help) return Information{app.help()};
  if (!given->version.empty() && given->version != "false") {
    return Information{"mini-kube-proxy " MKP_VERSION "\n"};
  }
  std::vector<std::string> errors;
  report_unexpected(app, *given, errors);
  return options_of(std::move(*given), std::move(errors));
}

}  // namespace mkp
