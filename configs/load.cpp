#include "configs/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "configs/config_reader.h"
#include "configs/defaults.h"
#include "configs/fields.h"
#include "configs/file_text.h"

namespace mkp {
namespace {

constexpr std::string_view kApiVersion = "kubeproxy.config.k8s.io/v1alpha1";
constexpr std::string_view kKind = "KubeProxyConfiguration";

// Empty when it is absent or no text.
std::string text_of(const YAML::Node& root, const char* name) {
  const YAML::Node node = root[name];
  return node && node.IsScalar() ? node.Scalar() : std::string();
}

Result<LoadedConfig> read_document(const YAML::Node& root, std::string_view file) {
  ConfigReader reader(root, file);
  reader.constant("apiVersion", kApiVersion);
  reader.constant("kind", kKind);
  LoadedConfig loaded{.config = defaults_for(text_of(root, "mode"), text_of(root, "bindAddress")),
                      .warnings = {}};
  visit_config(reader, loaded.config);
  reader.report_unknown_fields();
  if (const std::vector<std::string> errors = reader.errors(); !errors.empty()) {
    return fail(Errc::Invalid, fmt::format("{}", fmt::join(errors, "\n")));
  }
  loaded.warnings = reader.warnings();
  return loaded;
}

}  // namespace

Result<LoadedConfig> load_config(std::string_view text, std::string_view file) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty() || !documents.front().IsMap()) {
      return fail(Errc::Invalid, fmt::format("{}:1: expected a {}", file, kKind));
    }
    Result<LoadedConfig> loaded = read_document(documents.front(), file);
    if (loaded && documents.size() > 1) {
      loaded->warnings.push_back(
          fmt::format("{}: only the first of its {} documents is read", file, documents.size()));
    }
    return loaded;
  } catch (const YAML::Exception& error) {
    return fail(Errc::Invalid, fmt::format("{}:{}: {}", file, error.mark.line + 1, error.msg));
  }
}

Result<LoadedConfig> load_config_file(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected<Error>(text.error());
  return load_config(*text, path);
}

}  // namespace mkp
