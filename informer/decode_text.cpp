#include "informer/decode_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

namespace mkp {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_ascii(const char* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return (eight & 0x8080808080808080U) == 0;
}

// The length of the character at the beginning of `text`, which is not empty; 0 when there is none.
std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  // What shorter ones can say, surrogates, and what is beyond U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return size;
}

// A number of exactly `count` digits at `at`.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  const char* end = text.data() + at + count;
  const auto [stop, error] = std::from_chars(text.data() + at, end, value);
  if (error != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

// Seconds that a zone ("Z", "+02:00") is ahead of UTC.
std::optional<int> zone_seconds(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || zone[3] != ':' || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const std::optional<int> hours = digits(zone, 1, 2);
  const std::optional<int> minutes = digits(zone, 4, 2);
  if (!hours || !minutes) return std::nullopt;
  const int seconds = *hours * 3600 + *minutes * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::size_t valid_utf8_size(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= sizeof(std::uint64_t) && is_ascii(text.data() + at)) {
      at += sizeof(std::uint64_t);
      continue;
    }
    const std::size_t size = character_size(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return at;
}

bool is_clean_text(std::string_view text) {
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), ascii)) return true;
  return valid_utf8_size(text) == text.size() && text.find(kReplacement) == std::string_view::npos;
}

std::string with_valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size() + kReplacement.size());
  while (!text.empty()) {
    const std::size_t size = valid_utf8_size(text);
    valid += text.substr(0, size);
    text.remove_prefix(size);
    if (text.empty()) break;
    valid += kReplacement;
    text.remove_prefix(1);
  }
  return valid;
}

std::optional<std::int64_t> seconds_since_1970(std::string_view text) {
  constexpr std::size_t kLengths[] = {4, 2, 2, 2, 2, 2};
  constexpr std::string_view kBetween = "--T::";
  int parts[6] = {};
  std::size_t at = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::optional<int> part = digits(text, at, kLengths[i]);
    if (!part) return std::nullopt;
    parts[i] = *part;
    at += kLengths[i];
    if (i < 5 && (at >= text.size() || text[at++] != kBetween[i])) return std::nullopt;
  }
  if (at < text.size() && text[at] == '.') {
    at = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
  }
  const std::optional<int> zone = zone_seconds(text.substr(at));
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!zone || !day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  const int seconds = parts[3] * 3600 + parts[4] * 60 + parts[5] - *zone;
  return days * 86400 + seconds;
}

}  // namespace mkp
