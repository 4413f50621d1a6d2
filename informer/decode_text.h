#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mkp {

// How many bytes at the beginning of `text` are whole characters of UTF-8; all of them when the
// text is valid.
std::size_t valid_utf8_size(std::string_view text);

// Whether it is what a server may give out as a string: valid UTF-8 without U+FFFD, by which
// writers of JSON stand for what was not.
bool is_clean_text(std::string_view text);

// The text with U+FFFD for each byte that belongs to no character.
std::string with_valid_utf8(std::string_view text);

// RFC 3339: 2026-11-30T18:55:51Z, perhaps with a fraction, which is dropped.
std::optional<std::int64_t> seconds_since_1970(std::string_view text);

}  // namespace mkp
