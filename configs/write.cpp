#include "configs/write.h"

#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "configs/fields.h"
#include "configs/text_values.h"

namespace mkp {
namespace {

// A visitor (fields.h) that writes each field.
class ConfigWriter {
 public:
  ConfigWriter() {
    out_ << YAML::BeginMap;
    field("apiVersion", std::string("kubeproxy.config.k8s.io/v1alpha1"));
    field("kind", std::string("KubeProxyConfiguration"));
  }

  std::string finish() {
    out_ << YAML::EndMap;
    return std::string(out_.c_str()) + "\n";
  }

  template <class Inner>
  void block(const char* name, const Inner& inner) {
    out_ << YAML::Key << name << YAML::Value << YAML::BeginMap;
    inner();
    out_ << YAML::EndMap;
  }

  template <class T>
  void field(const char* name, const T& value) {
    out_ << YAML::Key << name << YAML::Value;
    // Text may look like something else without quotes; the rest never does.
    if constexpr (!std::is_arithmetic_v<T>) out_ << YAML::DoubleQuoted;
    out_ << value_text(value);
  }

  void field(const char* name, const std::vector<LoggingConfig::Module>& modules) {
    out_ << YAML::Key << name << YAML::Value << YAML::BeginSeq;
    for (const LoggingConfig::Module& module : modules) {
      out_ << YAML::BeginMap;
      field("filePattern", module.file_pattern);
      field("verbosity", module.verbosity);
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }

  void field(const char* name, const std::map<std::string, bool>& gates) {
    out_ << YAML::Key << name << YAML::Value << YAML::BeginMap;
    for (const auto& [gate, enabled] : gates) field(gate.c_str(), enabled);
    out_ << YAML::EndMap;
  }

  template <class T>
  void defaulted(const char* name, const T& value) {
    field(name, value);
  }

  template <class T>
  void text_or_number(const char* name, const T& value) {
    field(name, value);
  }

  void listen(const char* name, const ListenAddress& value) { field(name, value); }

  template <class T>
  void list(const char* name, const T& value) {
    const std::string text = value_text(value);
    out_ << YAML::Key << name << YAML::Value << YAML::BeginSeq;
    for (const std::string_view item : split_list(text)) {
      out_ << YAML::DoubleQuoted << std::string(item);
    }
    out_ << YAML::EndSeq;
  }

 private:
  YAML::Emitter out_;
};

}  // namespace

std::string to_yaml(const Config& config) {
  ConfigWriter writer;
  visit_config(writer, config);
  return writer.finish();
}

Result<> write_config_file(const Config& config, const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"),
                                                       &std::fclose);
  if (!file) return fail_errno(errno, "write " + path);
  const std::string text = to_yaml(config);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  // A full disk may show only here.
  if (std::fclose(file.release()) != 0 || !written) return fail_errno(errno, "write " + path);
  return {};
}

}  // namespace mkp
