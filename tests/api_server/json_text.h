#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace mkp::api {

// A JSON string, quotes included. UTF-8 goes through as it is.
inline std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

// Builds one JSON object, member by member.
class JsonObject {
 public:
  // `json` is any JSON value.
  JsonObject& member(std::string_view name, std::string_view json) {
    text_ += text_.empty() ? "" : ",";
    text_ += quoted(name);
    text_ += ':';
    text_ += json;
    return *this;
  }
  JsonObject& string(std::string_view name, std::string_view value) {
    return member(name, quoted(value));
  }
  // Nothing for an empty value, as the API leaves those out.
  JsonObject& nonempty(std::string_view name, std::string_view value) {
    return value.empty() ? *this : string(name, value);
  }
  JsonObject& number(std::string_view name, long long value) {
    return member(name, std::to_string(value));
  }
  JsonObject& nonzero(std::string_view name, long long value) {
    return value == 0 ? *this : number(name, value);
  }
  JsonObject& boolean(std::string_view name, bool value) {
    return member(name, value ? "true" : "false");
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// "[a,b]" of what `to_json` makes of the elements.
template <class Range, class ToJson>
std::string json_array(const Range& elements, ToJson to_json) {
  std::string text = "[";
  for (const auto& element : elements) {
    if (text.size() > 1) text += ',';
    text += to_json(element);
  }
  return text + "]";
}

}  // namespace mkp::api
