#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "informer/objects.h"
#include "runner/result.h"

namespace mkp::api {

using Labels = std::map<std::string, std::string>;

// The labelSelector of a list or watch: requirements that must all hold.
class LabelSelector {
 public:
  // Empty text selects everything. A failure's text is what the API server says of it.
  static Result<LabelSelector> parse(std::string_view text);
  bool matches(const Labels& labels) const;
  bool selects_all() const { return requirements_.empty(); }

 private:
  enum class Operator : std::uint8_t { Exists, Absent, In, NotIn, Greater, Less };
  struct Requirement {
    std::string key;
    Operator op = Operator::Exists;
    std::set<std::string> values;
  };

  static Result<Requirement> parse_requirement(std::string_view text);
  static Result<Requirement> parse_set(std::string_view text, std::size_t space);
  static bool holds(const Requirement& requirement, const Labels& labels);

  std::vector<Requirement> requirements_;
};

// The fieldSelector: what fields of an object must be, or must not be.
class FieldSelector {
 public:
  // Fails for fields that the API server does not know of that kind.
  static Result<FieldSelector> parse(ObjectKind kind, std::string_view text);
  // A field that is missing is empty.
  bool matches(const std::map<std::string, std::string>& fields) const;
  bool selects_all() const { return requirements_.empty(); }
  // Requires metadata.name to be this.
  void require_name(const std::string& name) {
    requirements_.push_back({"metadata.name", name, true});
  }

 private:
  struct Requirement {
    std::string field;
    std::string value;
    bool equal = true;
  };

  static Result<Requirement> parse_requirement(std::string_view text, std::string_view whole);

  std::vector<Requirement> requirements_;
};

}  // namespace mkp::api
