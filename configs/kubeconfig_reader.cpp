#include "configs/kubeconfig_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "configs/config_reader.h"
#include "runner/base64.h"

namespace mkp {
namespace {

std::string_view noun_of(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "a block of fields";
  return noun_of(kind_of(node));
}

}  // namespace

std::optional<YAML::Node> KubeconfigReader::any(const KubeconfigBlock& block, const char* name) {
  std::optional<YAML::Node> taken;
  for (const auto& pair : block.node) {
    if (pair.first.IsScalar() && pair.first.Scalar() == name) taken.emplace(pair.second);
  }
  if (taken && taken->IsNull()) taken.reset();
  return taken;
}

std::string KubeconfigReader::text_of(const KubeconfigBlock& block, const YAML::Node& node,
                                      std::string_view name) {
  if (node.IsScalar() && kind_of(node) == ScalarKind::Text) return node.Scalar();
  const bool scalar = node.IsScalar();
  error(block, node, name,
        fmt::format("expected text, not {}{}", noun_of(node), scalar ? ": put it in quotes" : ""));
  return "";
}

std::string KubeconfigReader::text(const KubeconfigBlock& block, const char* name) {
  const std::optional<YAML::Node> node = any(block, name);
  return node ? text_of(block, *node, name) : std::string();
}

std::string KubeconfigReader::resolved(const std::string& text) const {
  return text.empty() || text.starts_with('/') ? text : folder_ + text;
}

std::string KubeconfigReader::path(const KubeconfigBlock& block, const char* name) {
  return resolved(text(block, name));
}

std::string KubeconfigReader::data(const KubeconfigBlock& block, const char* name) {
  const std::optional<YAML::Node> node = any(block, name);
  if (!node) return "";
  std::optional<std::string> bytes = from_base64(text_of(block, *node, name));
  if (!bytes) error(block, *node, name, "is not base64");
  return bytes.value_or("");
}

bool KubeconfigReader::flag(const KubeconfigBlock& block, const char* name) {
  const std::optional<YAML::Node> node = any(block, name);
  if (!node) return false;
  bool value = false;
  const bool is_flag = node->IsScalar() && kind_of(*node) == ScalarKind::Bool;
  if (is_flag && YAML::convert<bool>::decode(*node, value)) return value;
  error(block, *node, name, fmt::format("expected true or false, not {}", noun_of(*node)));
  return false;
}

std::vector<std::string> KubeconfigReader::texts_of(const KubeconfigBlock& block,
                                                    const YAML::Node& node,
                                                    const std::string& name) {
  std::vector<std::string> texts;
  if (!node.IsSequence()) {
    error(block, node, name, fmt::format("expected a list, not {}", noun_of(node)));
    return texts;
  }
  for (const YAML::Node& item : node) {
    texts.push_back(text_of(block, item, fmt::format("{}[{}]", name, texts.size())));
  }
  return texts;
}

std::vector<std::string> KubeconfigReader::texts(const KubeconfigBlock& block, const char* name) {
  const std::optional<YAML::Node> node = any(block, name);
  return node ? texts_of(block, *node, name) : std::vector<std::string>();
}

std::map<std::string, std::vector<std::string>> KubeconfigReader::text_lists(
    const KubeconfigBlock& block, const char* name) {
  std::map<std::string, std::vector<std::string>> lists;
  const std::optional<KubeconfigBlock> inner = this->block(block, name);
  if (!inner) return lists;
  for (const auto& pair : inner->node) {
    const std::string key = text_of(*inner, pair.first, "a key");
    if (!pair.second.IsNull()) lists[key] = texts_of(*inner, pair.second, key);
  }
  return lists;
}

std::optional<KubeconfigBlock> KubeconfigReader::block(const KubeconfigBlock& outer,
                                                       const char* name) {
  const std::optional<YAML::Node> node = any(outer, name);
  if (!node) return std::nullopt;
  if (node->IsMap()) return KubeconfigBlock{*node, outer.object, outer.path + name + "."};
  error(outer, *node, name, fmt::format("expected a block of fields, not {}", noun_of(*node)));
  return std::nullopt;
}

std::vector<KubeconfigBlock> KubeconfigReader::blocks(const KubeconfigBlock& outer,
                                                      const char* name) {
  std::vector<KubeconfigBlock> blocks;
  const std::optional<YAML::Node> node = any(outer, name);
  if (!node) return blocks;
  if (!node->IsSequence()) {
    error(outer, *node, name, fmt::format("expected a list, not {}", noun_of(*node)));
    return blocks;
  }
  std::size_t index = 0;
  for (const YAML::Node& item : *node) {
    const std::string item_name = fmt::format("{}[{}]", name, index++);
    if (item.IsMap()) {
      blocks.push_back({item, outer.object, outer.path + item_name + "."});
    } else {
      error(outer, item, item_name,
            fmt::format("expected a block of fields, not {}", noun_of(item)));
    }
  }
  return blocks;
}

void KubeconfigReader::error(const KubeconfigBlock& block, const YAML::Node& at,
                             std::string_view name, std::string_view what) {
  const int line = at.Mark().line + 1;
  findings_.push_back(
      {line, fmt::format("line {}: {}{}{}{}: {}", line, block.object,
                         block.object.empty() ? "" : ": ", block.path, name, what)});
}

std::vector<std::string> KubeconfigReader::errors() const {
  std::vector<Finding> sorted = findings_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Finding& a, const Finding& b) { return a.line < b.line; });
  std::vector<std::string> texts;
  texts.reserve(sorted.size());
  for (Finding& finding : sorted) texts.push_back(std::move(finding.text));
  return texts;
}

}  // namespace mkp
