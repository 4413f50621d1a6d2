#pragma once

#include <cstddef>
#include <string_view>

#include "runner/result.h"

namespace mkp {

// JSON objects, one after the other, with white space between them or none: a server writes one a
// line, but nothing depends on that. How many bytes at the beginning of `bytes` are white space,
// one whole object and the white space behind it; 0 when more bytes are needed. Invalid for what
// cannot become such, and for more than `most` bytes. Whether the object is JSON inside is left to
// whoever decodes it.
//
// `seen`: how many bytes the last call had, 0 for the first. The cost of all calls for a frame is
// about that of one, however small the pieces are in which it comes: the end is looked for again
// only where the new bytes may hold it.
Result<std::size_t> json_frame_size(std::string_view bytes, std::size_t seen, std::size_t most);

}  // namespace mkp
