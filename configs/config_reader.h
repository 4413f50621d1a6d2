#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "configs/text_values.h"

namespace mkp {

// What a plain scalar is by the rules of YAML 1.1, which Kubernetes follows; what stands in quotes
// is text.
enum class ScalarKind : std::uint8_t { Null, Bool, Number, Text };
ScalarKind kind_of(const YAML::Node& scalar);
// For messages: "a number".
std::string_view noun_of(ScalarKind kind);

// Walks one YAML document in step with the fields of Config (see fields.h for the verbs), and
// gathers what is wrong with it.
class ConfigReader {
 public:
  // `root` is a map; `file` is what messages call it, and is borrowed.
  ConfigReader(const YAML::Node& root, std::string_view file);

  // A field that must be there with this very text.
  void constant(const char* name, std::string_view expected);

  template <class Inner>
  void block(const char* name, const Inner& inner) {
    const std::optional<YAML::Node> node = take(name);
    if (!node) return;
    if (!node->IsMap()) return error(*node, path_of(name), "expected a block of fields");
    levels_.push_back({*node, path_of(name) + ".", {}});
    inner();
    report_unknown_fields();
    levels_.pop_back();
  }

  template <class T>
  void field(const char* name, T& value) {
    const std::optional<YAML::Node> node = take(name);
    if (node) assign(name, *node, read<T>(*node), value);
  }

  template <class T>
  void defaulted(const char* name, T& value) {
    const std::optional<YAML::Node> node = take(name);
    if (!node || (node->IsScalar() && node->Scalar().empty())) return;
    Result<T> result = read<T>(*node);
    // An enum has no zero but the empty text.
    if constexpr (!std::is_enum_v<T>) {
      if (result && *result == T{}) return;
    }
    assign(name, *node, std::move(result), value);
  }

  void text_or_number(const char* name, Duration& value);
  void text_or_number(const char* name, std::string& value);
  void listen(const char* name, ListenAddress& value);

  template <class T>
  void list(const char* name, T& value) {
    const std::optional<YAML::Node> node = take(name);
    if (!node) return;
    const auto check = [](std::string_view text) { return checked(parse_value<T>(text)); };
    const std::optional<std::string> items = read_list(name, *node, check);
    if (items && !items->empty()) assign(name, *node, parse_value<T>(*items), value);
  }

  // Of the present block: warns of names that were not visited, or that are there twice.
  void report_unknown_fields();

  // By line.
  std::vector<std::string> errors() const { return in_order(errors_); }
  std::vector<std::string> warnings() const { return in_order(warnings_); }

 private:
  struct Level {
    YAML::Node node;
    std::string path;  // what stands before its names in messages
    std::vector<std::string> known;
  };
  struct Message {
    int line = 0;
    std::string text;
  };

  template <class T>
  static Result<> checked(const Result<T>& result) {
    if (!result) return tl::unexpected<Error>(result.error());
    return {};
  }

  // In the form that parse_value() reads; Errc::Invalid when the YAML is of another type than a T
  // is written as.
  template <class T>
  static Result<T> read(const YAML::Node& node) {
    Result<std::string> text;
    if constexpr (std::is_same_v<T, std::vector<LoggingConfig::Module>>) {
      text = modules_text(node);
    } else if constexpr (std::is_same_v<T, std::map<std::string, bool>>) {
      text = gates_text(node);
    } else if constexpr (std::is_same_v<T, bool>) {
      text = bool_text(node);
    } else if constexpr (std::is_arithmetic_v<T>) {
      text = scalar_text(node, ScalarKind::Number);
    } else {
      text = scalar_text(node, ScalarKind::Text);
    }
    if (!text) return tl::unexpected<Error>(text.error());
    return parse_value<T>(*text);
  }

  static Result<std::string> scalar_text(const YAML::Node& node, ScalarKind wanted);
  static Result<std::string> bool_text(const YAML::Node& node);
  static Result<std::string> modules_text(const YAML::Node& node);
  static Result<std::string> gates_text(const YAML::Node& node);

  template <class T>
  void assign(const char* name, const YAML::Node& node, Result<T> result, T& value) {
    if (!result) return error(node, path_of(name), result.error().what);
    value = std::move(*result);
  }

  std::optional<YAML::Node> take(const char* name);
  std::optional<std::string> read_list(const char* name, const YAML::Node& node,
                                       Result<> (*check)(std::string_view));
  std::string path_of(std::string_view name) const;
  void error(const YAML::Node& node, const std::string& path, std::string_view what);
  void warn(const YAML::Node& node, const std::string& path, std::string_view what);
  std::string message(const YAML::Node& node, const std::string& path, std::string_view what) const;
  static std::vector<std::string> in_order(std::vector<Message> messages);

  std::string_view file_;
  std::vector<Level> levels_;
  std::vector<Message> errors_;
  std::vector<Message> warnings_;
};

}  // namespace mkp
