#include "runner/wall_time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <system_error>

namespace mkp {
namespace {

using namespace std::chrono_literals;

// Takes RFC 3339 apart from the front.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  // Exactly that many digits.
  int number(std::size_t digits) {
    int value = 0;
    const std::string_view part = rest_.substr(0, digits);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    good_ = good_ && part.size() == digits && error == std::errc() &&
            end == part.data() + part.size() && part.front() != '-';
    rest_.remove_prefix(part.size());
    return value;
  }

  bool skip(char letter) {
    if (rest_.empty() || rest_.front() != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char letter) { good_ = skip(letter) && good_; }

  std::chrono::nanoseconds fraction() {
    if (!skip('.')) return 0ns;
    std::int64_t value = 0;
    std::int64_t unit = 100'000'000;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      value += (rest_[digits] - '0') * unit;
      unit /= 10;
    }
    good_ = good_ && digits > 0;
    rest_.remove_prefix(digits);
    return std::chrono::nanoseconds(value);
  }

  // How far the zone is ahead of UTC.
  std::chrono::minutes zone() {
    if (skip('Z') || skip('z')) return 0min;
    const bool behind = skip('-');
    if (!behind) expect('+');
    const std::chrono::hours hours(number(2));
    expect(':');
    const std::chrono::minutes minutes(number(2));
    good_ = good_ && hours < 24h && minutes < 60min;
    return behind ? -(hours + minutes) : hours + minutes;
  }

  bool is_done() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

std::string to_text(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  std::string text =
      fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(seconds.time_since_epoch().count()));
  if (const auto fraction = (time - seconds).count(); fraction != 0) {
    text += fmt::format(".{:09}", fraction);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "Z";
}

std::optional<WallTime> parse_wall_time(std::string_view text) {
  TimeReader read(text);
  const std::chrono::year year(read.number(4));
  read.expect('-');
  const std::chrono::month month(static_cast<unsigned>(read.number(2)));
  read.expect('-');
  const std::chrono::day day(static_cast<unsigned>(read.number(2)));
  if (!read.skip('t')) read.expect('T');
  const std::chrono::hours hours(read.number(2));
  read.expect(':');
  const std::chrono::minutes minutes(read.number(2));
  read.expect(':');
  const std::chrono::seconds seconds(read.number(2));
  const std::chrono::nanoseconds fraction = read.fraction();
  const std::chrono::minutes ahead = read.zone();
  const std::chrono::year_month_day date{year, month, day};
  const bool valid = read.is_done() && date.ok() && hours < 24h && minutes < 60min &&
                     seconds <= 60s && year >= std::chrono::year(1678) &&
                     year <= std::chrono::year(2261);
  if (!valid) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + hours + minutes + seconds + fraction - ahead;
}

double unix_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace mkp
