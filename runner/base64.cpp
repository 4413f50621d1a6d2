#include "runner/base64.h"

#include <cstdint>

namespace mkp {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t group =
        byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
    const std::size_t digits = bytes.size() - at >= 3 ? 4 : bytes.size() - at + 1;
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit < digits ? kAlphabet[group >> (18 - 6 * digit) & 63] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r') continue;
    if (letter == '=') {
      ++padding;
      continue;
    }
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos || padding > 0) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(value);
    ++digits;
    if (digits % 4 != 0) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(group >> shift & 255);
    group = 0;
  }
  const std::size_t rest = digits % 4;
  if (rest == 1 || (rest == 0 ? padding != 0 : rest + padding != 4)) return std::nullopt;
  if (rest >= 2) bytes += static_cast<char>(group >> (rest == 2 ? 4 : 10) & 255);
  if (rest == 3) bytes += static_cast<char>(group >> 2 & 255);
  return bytes;
}

}  // namespace mkp
