#include "configs/json_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "configs/config_reader.h"

namespace mkp {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kLargest = std::size_t{1} << 20;

// How many bytes at the beginning are one character; 0 when they are none.
std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || size > text.size()) return 0;
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_large = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

std::string number_text(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(value)) return json_quoted(text);
  // Large integers keep all their digits, as in 12345678901234567890.
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && (text.size() == 1 || text.front() != '0')) return text;
  return fmt::format("{}", value);
}

std::string scalar_json(const YAML::Node& scalar) {
  switch (kind_of(scalar)) {
    case ScalarKind::Null:
      return "null";
    case ScalarKind::Bool: {
      bool value = false;
      YAML::convert<bool>::decode(scalar, value);
      return value ? "true" : "false";
    }
    case ScalarKind::Number:
      return number_text(scalar.Scalar());
    case ScalarKind::Text:
      break;
  }
  return json_quoted(scalar.Scalar());
}

// False as soon as it is too much.
bool append(std::string& json, const YAML::Node& value, int depth) {
  if (depth > kDeepest || json.size() > kLargest) return false;
  const bool map = value.IsMap();
  if (!map && !value.IsSequence()) {
    json += scalar_json(value);
    return true;
  }
  json += map ? '{' : '[';
  const char* separator = "";
  for (const auto& item : value) {
    json += separator;
    separator = ",";
    if (map && !item.first.IsScalar()) return false;
    if (map) json += json_quoted(item.first.Scalar()) + ":";
    const YAML::Node inner = map ? item.second : YAML::Node(item);
    if (!append(json, inner, depth + 1)) return false;
  }
  json += map ? '}' : ']';
  return true;
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const char letter = text.front();
    if (size == 0) {
      quoted += "\\ufffd";
    } else if (letter == '"' || letter == '\\') {
      quoted += {'\\', letter};
    } else if (size == 1 && static_cast<unsigned char>(letter) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      quoted += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return quoted + "\"";
}

Result<std::string> json_of(const YAML::Node& value) {
  std::string json;
  if (append(json, value, 0)) return json;
  return fail(Errc::Invalid, "is nested too deeply, or too large, or has a key that is no text");
}

}  // namespace mkp
