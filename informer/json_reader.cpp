#include "informer/json_reader.h"

#include "informer/decode_text.h"

namespace mkp {

namespace {

using simdjson::ondemand::json_type;

// What stands between the quotes of a token that begins with one; nothing when it has escapes.
std::optional<std::string_view> unescaped(std::string_view token) {
  const std::size_t end = token.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = token.substr(1, end - 1);
  if (text.find('\\') != std::string_view::npos) return std::nullopt;
  return text;
}

}  // namespace

std::string_view JsonReader::text(JsonValue value, std::string_view name) {
  if (!is(value, json_type::string, name, "a text")) return {};
  std::string_view text;
  if (const std::optional<std::string_view> plain = unescaped(value.raw_json_token())) {
    text = *plain;
  } else if (value.get_string().get(text) != simdjson::SUCCESS) {
    problem_->note(name, "is a text with an escape that cannot be read");
    return {};
  }
  if (is_clean_text(text)) return text;
  problem_->note(name, "is not valid UTF-8");
  return {};
}

std::vector<std::string> JsonReader::texts(JsonValue value, std::string_view name) {
  std::vector<std::string> texts;
  elements(value, name, [&](JsonValue element) { texts.emplace_back(text(element, name)); });
  return texts;
}

std::optional<std::int64_t> JsonReader::number(JsonValue value, std::string_view name) {
  if (!is(value, json_type::number, name, "a number")) return std::nullopt;
  std::int64_t number = 0;
  if (value.get_int64().get(number) == simdjson::SUCCESS) return number;
  problem_->note(name, "is not a whole number");
  return std::nullopt;
}

std::optional<bool> JsonReader::truth(JsonValue value, std::string_view name) {
  if (!is(value, json_type::boolean, name, "true or false")) return std::nullopt;
  bool truth = false;
  if (!take(value.get_bool().get(truth))) return std::nullopt;
  return truth;
}

bool JsonReader::present(JsonValue value) {
  json_type type = json_type::null;
  return take(value.type().get(type)) && type != json_type::null;
}

bool JsonReader::is(JsonValue& value, json_type type, std::string_view name,
                    std::string_view words) {
  json_type found = json_type::null;
  if (!take(value.type().get(found))) return false;
  if (found == type) return true;
  if (found != json_type::null) problem_->note(name, std::string("is not ") + std::string(words));
  return false;
}

std::string_view JsonReader::key_of(simdjson::ondemand::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\') ++end;  // the parser has made sure that there is a quote
  if (*end == '"') return {begin, static_cast<std::size_t>(end - begin)};
  std::string_view key;
  if (!take(field.unescaped_key().get(key))) return {};
  return key;
}

}  // namespace mkp
