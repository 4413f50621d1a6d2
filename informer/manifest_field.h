#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "informer/manifest_tree.h"

namespace mkp {

// What is wrong with one field of a document.
struct FieldProblem {
  int line = 0;
  std::string field;
  std::string what;
};

// One field of a document on its way to becoming a value. Absent and null are the same, as for an
// API server, and read as the type's zero value. A value of the wrong type is noted in `problems`
// and reads as absent.
class ManifestField {
 public:
  using Index = ManifestTree::Index;

  // The document itself, or one item of a List.
  ManifestField(const ManifestTree& tree, Index root, std::vector<FieldProblem>& problems)
      : tree_(&tree), problems_(&problems), root_(root), node_(tree.resolve(root)) {}

  Index node() const { return node_; }
  bool present() const;
  bool is_mapping() const;

  // The field of a mapping. A field that is given twice is a problem.
  ManifestField operator[](std::string_view key) const;
  // Whether a mapping has the key, whatever its value.
  bool has(std::string_view key) const;
  std::vector<ManifestField> elements() const;

  std::string text() const;
  std::vector<std::string> texts() const;
  std::optional<bool> truth() const;
  // A whole number within [least, most]; `name` is what such a number is: "a port".
  std::optional<std::int64_t> number(std::int64_t least, std::int64_t most,
                                     std::string_view name) const;
  template <class Enum, std::size_t N>
  std::optional<Enum> choice(
      const std::array<std::pair<std::string_view, Enum>, N>& choices) const {
    const std::string given = text();
    if (given.empty()) return std::nullopt;
    std::string known;
    for (const auto& [word, value] : choices) {
      if (word == given) return value;
      if (!known.empty()) known += ", ";
      known += word;
    }
    note(quoted(given) + " is not one of " + known);
    return std::nullopt;
  }

  void note(std::string what) const;
  int line() const;

 private:
  ManifestField() = default;
  static std::string quoted(std::string_view text);
  std::string described() const;  // "a list", for a message about a wrong type

  const ManifestTree* tree_ = nullptr;
  std::vector<FieldProblem>* problems_ = nullptr;
  Index root_ = ManifestTree::kNone;
  Index node_ = ManifestTree::kNone;  // kNone when absent
  // Of an absent one: the nearest field around it that is there, and the names from there on.
  Index above_ = ManifestTree::kNone;
  std::vector<std::string_view> names_;
};

}  // namespace mkp
