#include "runner/duration_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>

namespace mkp {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// A name that another one starts with comes after it.
constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                      {"us", 1'000},
                                      {"\u00b5s", 1'000},
                                      {"\u03bcs", 1'000},
                                      {"ms", 1'000'000},
                                      {"s", 1'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"h", 3'600'000'000'000}}};

std::string_view take_digits(std::string_view& text) {
  std::size_t used = 0;
  while (used < text.size() && text[used] >= '0' && text[used] <= '9') ++used;
  const std::string_view digits = text.substr(0, used);
  text.remove_prefix(used);
  return digits;
}

std::optional<std::int64_t> take_unit(std::string_view& text) {
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.nanoseconds;
  }
  return std::nullopt;
}

bool add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

// Adds whole.fraction units to `sum`; false when that overflows.
bool add(std::int64_t& sum, std::string_view whole, std::string_view fraction, std::int64_t unit) {
  std::int64_t number = 0;
  for (const char digit : whole) {
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, digit - '0', &number)) {
      return false;
    }
  }
  if (!add_product(sum, number, unit)) return false;
  std::int64_t part = unit;
  for (const char digit : fraction) {
    part /= 10;
    if (part == 0) break;
    if (!add_product(sum, digit - '0', part)) return false;
  }
  return true;
}

std::string fraction_text(std::int64_t value, std::int64_t unit, std::string_view name) {
  std::string text = std::to_string(value / unit);
  std::string digits = std::to_string(unit + value % unit).substr(1);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  if (!digits.empty()) text += '.' + digits;
  return text.append(name);
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = take_digits(text);
    }
    if (whole.empty() && fraction.empty()) return std::nullopt;
    const std::optional<std::int64_t> unit = take_unit(text);
    if (!unit || !add(sum, whole, fraction, *unit)) return std::nullopt;
  }
  return Duration(negative ? -sum : sum);
}

std::string to_text(Duration duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0s";
  // The longest negative duration has no positive counterpart; it is one nanosecond from the next
  // one.
  if (count < 0) {
    return '-' + to_text(Duration(-std::max(count, -std::numeric_limits<std::int64_t>::max())));
  }
  if (count < 1'000) return fraction_text(count, 1, "ns");
  if (count < 1'000'000) return fraction_text(count, 1'000, "\u00b5s");
  if (count < 1'000'000'000) return fraction_text(count, 1'000'000, "ms");
  const std::int64_t minutes = count / 60'000'000'000;
  std::string seconds = fraction_text(count % 60'000'000'000, 1'000'000'000, "s");
  if (minutes == 0) return seconds;
  if (minutes < 60) return fmt::format("{}m{}", minutes, seconds);
  return fmt::format("{}h{}m{}", minutes / 60, minutes % 60, seconds);
}

}  // namespace mkp
