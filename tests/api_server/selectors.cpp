#include "tests/api_server/selectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace mkp::api {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// At commas that no parenthesis holds and no backslash precedes.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '(') {
      ++depth;
    } else if (text[at] == ')') {
      --depth;
    } else if (text[at] == ',' && depth == 0) {
      parts.push_back(text.substr(start, at - start));
      start = at + 1;
    }
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::optional<long> number(std::string_view text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t!=<>()\\") == std::string_view::npos;
}

tl::unexpected<Error> not_a_requirement(std::string_view text) {
  return fail(Errc::Invalid, fmt::format("unable to parse requirement: found '{}'", text));
}

std::string unescaped(std::string_view text) {
  std::string value;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value += text[at];
  }
  return value;
}

bool is_known(ObjectKind kind, std::string_view field) {
  if (field == "metadata.name") return true;
  switch (kind) {
    case ObjectKind::Node:
      return field == "spec.unschedulable";
    case ObjectKind::Service:
      return field == "metadata.namespace" || field == "spec.clusterIP" || field == "spec.type";
    default:
      return field == "metadata.namespace";
  }
}

Error unknown_field(ObjectKind kind, std::string_view field) {
  const bool core = kind == ObjectKind::Service || kind == ObjectKind::Node;
  return {Errc::Invalid,
          core ? fmt::format("field label not supported: {}", field)
               : fmt::format("\"{}\" is not a known field selector: only \"metadata.name\", "
                             "\"metadata.namespace\"",
                             field)};
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  if (trimmed(text).empty()) return selector;
  for (const std::string_view part : split(text)) {
    Result<Requirement> requirement = parse_requirement(trimmed(part));
    if (!requirement) return tl::unexpected(requirement.error());
    selector.requirements_.push_back(std::move(*requirement));
  }
  return selector;
}

Result<LabelSelector::Requirement> LabelSelector::parse_requirement(std::string_view text) {
  if (text.starts_with('!')) {
    const std::string_view key = trimmed(text.substr(1));
    if (!is_key(key)) return not_a_requirement(text);
    return Requirement{std::string(key), Operator::Absent, {}};
  }
  const std::size_t sign = text.find_first_of("!=<>");
  if (sign == std::string_view::npos) {
    const std::size_t space = text.find_first_of(" \t(");
    if (space != std::string_view::npos) return parse_set(text, space);
    if (!is_key(text)) return not_a_requirement(text);
    return Requirement{std::string(text), Operator::Exists, {}};
  }
  static constexpr std::array<std::pair<std::string_view, Operator>, 5> kSigns{{
      {"!=", Operator::NotIn},
      {"==", Operator::In},
      {"=", Operator::In},
      {">", Operator::Greater},
      {"<", Operator::Less},
  }};
  const auto found = std::ranges::find_if(
      kSigns, [&](const auto& known) { return text.substr(sign).starts_with(known.first); });
  const std::string_view key = trimmed(text.substr(0, sign));
  if (found == kSigns.end() || !is_key(key)) return not_a_requirement(text);
  const std::string_view value = trimmed(text.substr(sign + found->first.size()));
  const bool ordered = found->second == Operator::Greater || found->second == Operator::Less;
  if (ordered ? !number(value) : !value.empty() && !is_key(value)) return not_a_requirement(text);
  return Requirement{std::string(key), found->second, {std::string(value)}};
}

Result<LabelSelector::Requirement> LabelSelector::parse_set(std::string_view text,
                                                            std::size_t space) {
  const std::string_view key = text.substr(0, space);
  const std::string_view rest = trimmed(text.substr(space));
  const bool in = rest.starts_with("in");
  if (!is_key(key) || (!in && !rest.starts_with("notin"))) return not_a_requirement(text);
  const std::string_view values = trimmed(rest.substr(in ? 2 : 5));
  if (!values.starts_with('(') || !values.ends_with(')')) return not_a_requirement(text);
  Requirement requirement{std::string(key), in ? Operator::In : Operator::NotIn, {}};
  for (const std::string_view value : split(values.substr(1, values.size() - 2))) {
    requirement.values.insert(std::string(trimmed(value)));
  }
  return requirement;
}

bool LabelSelector::holds(const Requirement& requirement, const Labels& labels) {
  const auto label = labels.find(requirement.key);
  const bool exists = label != labels.end();
  switch (requirement.op) {
    case Operator::Exists:
      return exists;
    case Operator::Absent:
      return !exists;
    case Operator::In:
      return exists && requirement.values.contains(label->second);
    case Operator::NotIn:
      return !exists || !requirement.values.contains(label->second);
    case Operator::Greater:
    case Operator::Less:
      break;
  }
  const std::optional<long> value = exists ? number(label->second) : std::nullopt;
  if (!value) return false;
  const long bound = number(*requirement.values.begin()).value_or(0);
  return requirement.op == Operator::Greater ? *value > bound : *value < bound;
}

bool LabelSelector::matches(const Labels& labels) const {
  return std::ranges::all_of(
      requirements_, [&](const Requirement& requirement) { return holds(requirement, labels); });
}

Result<FieldSelector> FieldSelector::parse(ObjectKind kind, std::string_view text) {
  FieldSelector selector;
  if (text.empty()) return selector;
  for (const std::string_view part : split(text)) {
    Result<Requirement> requirement = parse_requirement(part, text);
    if (!requirement) return tl::unexpected(requirement.error());
    if (!is_known(kind, requirement->field)) {
      return tl::unexpected(unknown_field(kind, requirement->field));
    }
    selector.requirements_.push_back(std::move(*requirement));
  }
  return selector;
}

Result<FieldSelector::Requirement> FieldSelector::parse_requirement(std::string_view text,
                                                                    std::string_view whole) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0) {
    return fail(Errc::Invalid,
                fmt::format("invalid selector: '{}'; can't understand '{}'", whole, text));
  }
  const bool equal = text[sign - 1] != '!';
  const std::size_t value = text.substr(sign).starts_with("==") ? sign + 2 : sign + 1;
  return Requirement{std::string(text.substr(0, equal ? sign : sign - 1)),
                     unescaped(text.substr(value)), equal};
}

bool FieldSelector::matches(const std::map<std::string, std::string>& fields) const {
  return std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    const auto field = fields.find(requirement.field);
    const std::string value = field == fields.end() ? "" : field->second;
    return (value == requirement.value) == requirement.equal;
  });
}

}  // namespace mkp::api
