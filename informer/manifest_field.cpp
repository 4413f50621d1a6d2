#include "informer/manifest_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mkp {

namespace {

using Kind = ManifestTree::Kind;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_null(std::string_view text) { return is_one_of(text, {"", "~", "null", "Null", "NULL"}); }

std::optional<bool> as_truth(std::string_view text) {
  if (is_one_of(text, {"true", "True", "TRUE"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return false;
  return std::nullopt;
}

template <class Number>
bool is_all_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return end == text.data() + text.size() && error != std::errc::invalid_argument;
}

// Whether an API server would get a JSON number for this text.
bool reads_as_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return false;
  const char first = text.front() == '-' && text.size() > 1 ? text[1] : text[0];
  if ((first < '0' || first > '9') && first != '.') return false;
  return is_all_of<std::int64_t>(text) || is_all_of<double>(text);
}

}  // namespace

bool ManifestField::present() const {
  if (node_ == ManifestTree::kNone) return false;
  const ManifestTree::Node& node = tree_->at(node_);
  if (node.kind == Kind::Null) return false;
  return node.kind != Kind::Scalar || !node.plain || !is_null(tree_->text(node_));
}

bool ManifestField::is_mapping() const {
  return node_ != ManifestTree::kNone && tree_->at(node_).kind == Kind::Mapping;
}

ManifestField ManifestField::operator[](std::string_view key) const {
  ManifestField field = *this;
  if (node_ != ManifestTree::kNone) {
    field.above_ = node_;
    field.names_.clear();
  }
  field.names_.push_back(key);
  field.node_ = ManifestTree::kNone;
  if (!present()) return field;
  if (!is_mapping()) {
    note(described() + " where fields are expected");
    return field;
  }
  const ManifestTree::Found found = tree_->find(node_, key);
  field.node_ = found.value;
  if (found.given > 1) field.note("is given twice");
  return field;
}

bool ManifestField::has(std::string_view key) const {
  return is_mapping() && tree_->find(node_, key).value != ManifestTree::kNone;
}

std::vector<ManifestField> ManifestField::elements() const {
  std::vector<ManifestField> all;
  if (!present()) return all;
  if (tree_->at(node_).kind != Kind::Sequence) {
    note(described() + " where a list is expected");
    return all;
  }
  for (Index at = tree_->at(node_).first_child; at != ManifestTree::kNone;
       at = tree_->at(at).next) {
    ManifestField element = *this;
    element.node_ = tree_->resolve(at);
    all.push_back(element);
  }
  return all;
}

std::string ManifestField::text() const {
  if (!present()) return "";
  const ManifestTree::Node& node = tree_->at(node_);
  const std::string_view text = node.kind == Kind::Scalar ? tree_->text(node_) : std::string_view();
  if (node.kind != Kind::Scalar || (node.plain && (as_truth(text) || reads_as_number(text)))) {
    note(described() + " where a text is expected");
    return "";
  }
  return std::string(text);
}

std::vector<std::string> ManifestField::texts() const {
  std::vector<std::string> all;
  for (const ManifestField& element : elements()) {
    if (!element.present()) {
      element.note("null where a text is expected");
      continue;
    }
    all.push_back(element.text());
  }
  return all;
}

std::optional<bool> ManifestField::truth() const {
  if (!present()) return std::nullopt;
  const ManifestTree::Node& node = tree_->at(node_);
  if (node.kind == Kind::Scalar && node.plain) {
    if (const std::optional<bool> value = as_truth(tree_->text(node_))) return value;
  }
  note(described() + " where true or false is expected");
  return std::nullopt;
}

std::optional<std::int64_t> ManifestField::number(std::int64_t least, std::int64_t most,
                                                  std::string_view name) const {
  if (!present()) return std::nullopt;
  const ManifestTree::Node& node = tree_->at(node_);
  const std::string_view text = node.kind == Kind::Scalar ? tree_->text(node_) : std::string_view();
  if (node.kind != Kind::Scalar || !node.plain || !is_all_of<std::int64_t>(text)) {
    note(described() + " where a whole number is expected");
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < least || value > most) {
    note(fmt::format("{} is not {} ({}-{})", text, name, least, most));
    return std::nullopt;
  }
  return value;
}

void ManifestField::note(std::string what) const {
  std::string field;
  if (node_ != ManifestTree::kNone) {
    field = tree_->path(root_, node_);
  } else {
    field = tree_->path(root_, above_);
    for (const std::string_view name : names_) {
      if (!field.empty()) field += '.';
      field += name;
    }
  }
  // The first thing that is wrong with a field is enough, however often it is asked for.
  const auto same_field = [&, at = line()](const FieldProblem& known) {
    return known.line == at && known.field == field;
  };
  if (std::any_of(problems_->begin(), problems_->end(), same_field)) return;
  problems_->push_back({line(), std::move(field), std::move(what)});
}

int ManifestField::line() const {
  for (const Index at : {node_, above_, root_}) {
    if (at != ManifestTree::kNone) return tree_->at(at).line;
  }
  return 0;
}

std::string ManifestField::quoted(std::string_view text) {
  constexpr std::size_t kShown = 64;
  if (text.size() <= kShown) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}...\"", text.substr(0, kShown));
}

std::string ManifestField::described() const {
  const ManifestTree::Node& node = tree_->at(node_);
  switch (node.kind) {
    case Kind::Sequence:
      return "a list";
    case Kind::Mapping:
      return "a mapping";
    case Kind::Scalar:
      return node.plain ? std::string(tree_->text(node_)) : quoted(tree_->text(node_));
    case Kind::Null:
    case Kind::Alias:
      break;
  }
  return "null";
}

}  // namespace mkp
