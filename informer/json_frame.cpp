#include "informer/json_frame.h"

#include <fmt/format.h>

#include <bit>

namespace mkp {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kNone = std::string_view::npos;

bool is_blank(char c) { return kBlanks.find(c) != kNone; }

// The first place from `at` on that is not white space; the text's end when there is none.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// The place behind the string that begins at `quote`; kNone when it does not end here.
std::size_t end_of_string(std::string_view text, std::size_t quote) {
  for (std::size_t at = quote + 1;;) {
    at = text.find('"', at);
    if (at == kNone) return kNone;
    std::size_t slash = at;
    while (text[slash - 1] == '\\') --slash;  // stops at the quote at the latest
    ++at;
    if ((at - 1 - slash) % 2 == 0) return at;
  }
}

// The place behind the object that begins at `begin`; kNone when it does not end here.
std::size_t end_of_object(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return kNone;
}

// Whether the object that `close` ends, read backwards from there, begins at the text's beginning.
// True whenever the whole object ends there. Costs the size of the object that ends there.
bool closes_all(std::string_view text, std::size_t close) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = close + 1; at-- > 0;) {
    const char c = text[at];
    if (c == '"') {
      std::size_t slash = at;
      while (slash > 0 && text[slash - 1] == '\\') --slash;
      if ((at - slash) % 2 == 0) in_string = !in_string;
      at = slash;
    } else if (!in_string && (c == '}' || c == ']')) {
      ++depth;
    } else if (!in_string && (c == '{' || c == '[') && --depth == 0) {
      return at == 0;
    }
  }
  return false;
}

// Whether an object that begins at the text's beginning, and did not end before `seen`, may end
// now: at a brace with nothing behind it, or with another object's beginning.
bool may_have_ended(std::string_view text, std::size_t seen) {
  for (std::size_t close = text.find('}', seen); close != kNone;
       close = text.find('}', close + 1)) {
    const std::size_t next = skip_blanks(text, close + 1);
    if ((next == text.size() || text[next] == '{') && closes_all(text, close)) return true;
  }
  return false;
}

// The end of a line that is surely a whole object's: within one, no '{' can follow upon "}\n", and
// within a string no line can end. kNone when that cannot be told.
std::size_t end_of_line(std::string_view text, std::size_t seen) {
  const std::size_t newline = text.find('\n', seen);
  if (newline == kNone || newline == 0 || text[newline - 1] != '}') return kNone;
  return newline + 1 < text.size() && text[newline + 1] == '{' ? newline : kNone;
}

std::size_t find_end(std::string_view text, std::size_t seen) {
  if (const std::size_t end = end_of_line(text, seen); end != kNone) return end;
  // Text that is no JSON may have ended where nothing was expected to: so the whole is looked at
  // again whenever it has doubled.
  const bool has_doubled = std::bit_width(seen) != std::bit_width(text.size());
  return has_doubled || may_have_ended(text, seen) ? end_of_object(text, 0) : kNone;
}

}  // namespace

Result<std::size_t> json_frame_size(std::string_view bytes, std::size_t seen, std::size_t most) {
  const std::size_t begin = skip_blanks(bytes, 0);
  const auto too_large = [most] {
    return fail(Errc::Invalid, fmt::format("an event of over {} bytes is no JSON frame", most));
  };
  if (begin == bytes.size()) {
    if (bytes.size() > most) return too_large();
    return 0;
  }
  if (bytes[begin] != '{') return fail(Errc::Invalid, "an event is no JSON object");
  const std::size_t end = find_end(bytes.substr(begin), seen > begin ? seen - begin : 0);
  if ((end == kNone && bytes.size() > most) || (end != kNone && begin + end > most)) {
    return too_large();
  }
  return end == kNone ? 0 : skip_blanks(bytes, begin + end);
}

}  // namespace mkp
