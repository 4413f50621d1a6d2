#include "configs/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "configs/nearest_name.h"
#include "runner/duration_text.h"

namespace mkp {
namespace {

constexpr std::array<std::string_view, 11> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES",
                                                 "on",   "On",   "ON",   "y",   "Y"};
constexpr std::array<std::string_view, 11> kFalse{"false", "False", "FALSE", "no", "No", "NO",
                                                  "off",   "Off",   "OFF",   "n",  "N"};

template <class Texts>
bool is_in(const Texts& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool is_number(const std::string& text) {
  // strtod() also takes "inf" and "nan", which are text.
  if (text.find_first_of("0123456789") == std::string::npos) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() &&
         std::string_view("+-.0123456789").find(text.front()) != std::string_view::npos;
}

std::string_view noun_of(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a block of fields" : "a single value";
}

tl::unexpected<Error> invalid(std::string what) { return fail(Errc::Invalid, std::move(what)); }

std::vector<std::pair<YAML::Node, YAML::Node>> pairs_of(const YAML::Node& map) {
  std::vector<std::pair<YAML::Node, YAML::Node>> pairs;
  for (const auto& pair : map) pairs.emplace_back(pair.first, pair.second);
  return pairs;
}

}  // namespace

std::string_view noun_of(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::Null:
      return "nothing";
    case ScalarKind::Bool:
      return "true or false";
    case ScalarKind::Number:
      return "a number";
    case ScalarKind::Text:
      return "text";
  }
  return "";
}

ScalarKind kind_of(const YAML::Node& scalar) {
  if (scalar.IsNull()) return ScalarKind::Null;
  // "?" is yaml-cpp's tag of a plain scalar.
  if (scalar.Tag() != "?") return ScalarKind::Text;
  const std::string& text = scalar.Scalar();
  if (is_in(kTrue, text) || is_in(kFalse, text)) return ScalarKind::Bool;
  return is_number(text) ? ScalarKind::Number : ScalarKind::Text;
}

ConfigReader::ConfigReader(const YAML::Node& root, std::string_view file) : file_(file) {
  levels_.push_back({root, "", {}});
}

void ConfigReader::constant(const char* name, std::string_view expected) {
  const std::optional<YAML::Node> node = take(name);
  if (!node) return error(levels_.back().node, name, fmt::format("missing; must be {}", expected));
  if (!node->IsScalar() || node->Scalar() != expected) {
    error(*node, name, fmt::format("must be {}", expected));
  }
}

void ConfigReader::text_or_number(const char* name, Duration& value) {
  const std::optional<YAML::Node> node = take(name);
  if (!node) return;
  std::string text = node->IsScalar() ? node->Scalar() : "";
  if (node->IsScalar() && kind_of(*node) == ScalarKind::Number) text += "ns";
  const std::optional<Duration> duration = parse_duration(text);
  if (!duration) {
    return error(*node, path_of(name),
                 fmt::format("\"{}\" is not a duration such as 5s, nor nanoseconds", text));
  }
  if (*duration != Duration::zero()) value = *duration;
}

void ConfigReader::text_or_number(const char* name, std::string& value) {
  const std::optional<YAML::Node> node = take(name);
  if (!node) return;
  if (!node->IsScalar()) return error(*node, path_of(name), "expected a quantity such as 64Ki");
  if (!node->Scalar().empty()) value = node->Scalar();
}

void ConfigReader::listen(const char* name, ListenAddress& value) {
  const std::optional<YAML::Node> node = take(name);
  if (!node || (node->IsScalar() && node->Scalar().empty())) return;
  const Result<std::string> text = scalar_text(*node, ScalarKind::Text);
  if (!text) return error(*node, path_of(name), text.error().what);
  assign(name, *node, parse_listen_address(*text, value.port), value);
}

void ConfigReader::report_unknown_fields() {
  const Level& level = levels_.back();
  std::vector<std::string> seen;
  for (const auto& [key, value] : pairs_of(level.node)) {
    const std::string name = key.IsScalar() ? key.Scalar() : "";
    if (is_in(seen, name)) warn(key, path_of(name), "given twice; the last one counts");
    seen.push_back(name);
    if (is_in(level.known, name)) continue;
    const std::optional<std::string> meant = nearest_name(name, level.known);
    warn(key, path_of(name),
         meant ? fmt::format("unknown field, ignored; did you mean {}?", path_of(*meant))
               : "unknown field, ignored");
  }
}

Result<std::string> ConfigReader::scalar_text(const YAML::Node& node, ScalarKind wanted) {
  if (!node.IsScalar()) {
    return invalid(fmt::format("expected {}, not {}", noun_of(wanted), noun_of(node)));
  }
  const ScalarKind kind = kind_of(node);
  if (kind == wanted) return node.Scalar();
  if (wanted != ScalarKind::Text) {
    return invalid(fmt::format("\"{}\" is not {}", node.Scalar(), noun_of(wanted)));
  }
  return invalid(fmt::format("{} is {} where text belongs: put it in quotes, or give it a unit",
                             node.Scalar(), noun_of(kind)));
}

Result<std::string> ConfigReader::bool_text(const YAML::Node& node) {
  Result<std::string> text = scalar_text(node, ScalarKind::Bool);
  if (!text) return text;
  return value_text(is_in(kTrue, *text));
}

Result<std::string> ConfigReader::modules_text(const YAML::Node& node) {
  constexpr std::string_view kExpected = "expected a list of blocks with filePattern and verbosity";
  if (!node.IsSequence()) return invalid(std::string(kExpected));
  std::string joined;
  for (const YAML::Node& item : node) {
    if (!item.IsMap()) return invalid(std::string(kExpected));
    const YAML::Node pattern = item["filePattern"];
    const YAML::Node verbosity = item["verbosity"];
    if (!pattern || !pattern.IsScalar() || !verbosity || !verbosity.IsScalar()) {
      return invalid(std::string(kExpected));
    }
    joined +=
        fmt::format("{}{}={}", joined.empty() ? "" : ",", pattern.Scalar(), verbosity.Scalar());
  }
  return joined;
}

Result<std::string> ConfigReader::gates_text(const YAML::Node& node) {
  if (!node.IsMap()) return invalid("expected feature gates, each with true or false");
  std::string joined;
  for (const auto& [gate, state] : pairs_of(node)) {
    const Result<std::string> text = bool_text(state);
    if (!text) return fail(text.error(), gate.Scalar());
    joined += fmt::format("{}{}={}", joined.empty() ? "" : ",", gate.Scalar(), *text);
  }
  return joined;
}

std::optional<YAML::Node> ConfigReader::take(const char* name) {
  Level& level = levels_.back();
  level.known.emplace_back(name);
  std::optional<YAML::Node> taken;
  for (const auto& [key, value] : pairs_of(level.node)) {
    if (key.IsScalar() && key.Scalar() == name) taken.emplace(value);
  }
  if (taken && taken->IsNull()) return std::nullopt;
  return taken;
}

// The items joined by commas; nothing when one of them is wrong.
std::optional<std::string> ConfigReader::read_list(const char* name, const YAML::Node& node,
                                                   Result<> (*check)(std::string_view)) {
  if (!node.IsSequence()) {
    error(node, path_of(name), fmt::format("expected a list, not {}", noun_of(node)));
    return std::nullopt;
  }
  std::optional<std::string> joined = "";
  std::size_t index = 0;
  for (const YAML::Node& item : node) {
    const std::string path = fmt::format("{}[{}]", path_of(name), index++);
    const Result<std::string> text = scalar_text(item, ScalarKind::Text);
    const Result<> result = text ? check(*text) : checked(text);
    if (!result) error(item, path, result.error().what);
    if (!result) joined.reset();
    if (joined) *joined += (joined->empty() ? "" : ",") + *text;
  }
  return joined;
}

std::string ConfigReader::path_of(std::string_view name) const {
  return levels_.back().path + std::string(name);
}

void ConfigReader::error(const YAML::Node& node, const std::string& path, std::string_view what) {
  errors_.push_back({node.Mark().line, message(node, path, what)});
}

void ConfigReader::warn(const YAML::Node& node, const std::string& path, std::string_view what) {
  warnings_.push_back({node.Mark().line, message(node, path, what)});
}

std::string ConfigReader::message(const YAML::Node& node, const std::string& path,
                                  std::string_view what) const {
  return fmt::format("{}:{}: {}: {}", file_, node.Mark().line + 1, path, what);
}

std::vector<std::string> ConfigReader::in_order(std::vector<Message> messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.line < b.line; });
  std::vector<std::string> texts;
  texts.reserve(messages.size());
  for (Message& message : messages) texts.push_back(std::move(message.text));
  return texts;
}

}  // namespace mkp
