#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "informer/decode_problem.h"

namespace mkp {

using JsonValue = simdjson::ondemand::value;

// Reads values in the order in which they stand in the text, each at most once; alone in knowing
// simdjson, together with JsonDocument. Absent and null are the same, as for an API server. A value
// of the wrong type is noted and reads as absent. Text that is no JSON at all breaks everything
// that is read from it: broken() says so, and nothing is noted.
class JsonReader {
 public:
  explicit JsonReader(DecodeProblem& problem) : problem_(&problem) {}

  // Calls visit(key, value) for each field of an object; the key is a view that lives as long as
  // the call. `name` is the object's own, for the notes.
  template <class Visit>
  void fields(JsonValue value, std::string_view name, Visit visit) {
    if (!is(value, simdjson::ondemand::json_type::object, name, "an object")) return;
    const DecodeProblem::Within within(*problem_, name);
    simdjson::ondemand::object object;
    if (!take(value.get_object().get(object))) return;
    for (simdjson::simdjson_result<simdjson::ondemand::field> next : object) {
      simdjson::ondemand::field field;
      if (!take(std::move(next).get(field))) return;
      const std::string_view key = key_of(field);
      if (broken()) return;
      visit(key, field.value());
      if (broken()) return;
    }
  }

  // Calls visit(element) for each element of a list.
  template <class Visit>
  void elements(JsonValue value, std::string_view name, Visit visit) {
    if (!is(value, simdjson::ondemand::json_type::array, name, "a list")) return;
    simdjson::ondemand::array array;
    if (!take(value.get_array().get(array))) return;
    for (simdjson::simdjson_result<JsonValue> next : array) {
      JsonValue element;
      if (!take(std::move(next).get(element))) return;
      visit(element);
      if (broken()) return;
    }
  }

  std::string_view text(JsonValue value, std::string_view name);  // a view as a key is
  std::vector<std::string> texts(JsonValue value, std::string_view name);
  std::optional<std::int64_t> number(JsonValue value, std::string_view name);
  std::optional<bool> truth(JsonValue value, std::string_view name);
  bool present(JsonValue value);  // not null

  bool broken() const { return error_ != simdjson::SUCCESS; }
  const char* error() const { return simdjson::error_message(error_); }
  // What `other` has found out about the text counts for this one, too.
  void join(const JsonReader& other) { take(other.error_); }

  // Whether it went well. Keeps the first failure.
  bool take(simdjson::error_code error) {
    if (error != simdjson::SUCCESS && !broken()) error_ = error;
    return error == simdjson::SUCCESS;
  }

  DecodeProblem& problem() { return *problem_; }

 private:
  // Whether the value is of this type. Another one but null is noted.
  bool is(JsonValue& value, simdjson::ondemand::json_type type, std::string_view name,
          std::string_view words);
  std::string_view key_of(simdjson::ondemand::field& field);

  DecodeProblem* problem_;
  simdjson::error_code error_ = simdjson::SUCCESS;
};

}  // namespace mkp
