#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mkp {

// With the alphabet of + and /, and padding.
std::string to_base64(std::string_view bytes);

// Passes over line breaks; nothing when anything else is not as to_base64() writes it.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace mkp
