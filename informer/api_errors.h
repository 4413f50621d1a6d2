#pragma once

#include <string>
#include <string_view>

#include "informer/http_response.h"
#include "informer/wire_format.h"
#include "runner/result.h"

namespace mkp {

// What a caller may make of a Status: see ObjectSource.
Errc code_of(const ApiStatus& status);

// The Status of an answer that is no success: from its body, or made up from its number, with up
// to 2 KiB of a text body in words, when that is none.
ApiStatus status_of(const HttpHead& head, std::string_view body);

// As an Error: its message, and for what is forbidden who gives the right.
Error to_error(const ApiStatus& status);

}  // namespace mkp
