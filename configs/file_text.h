#pragma once

#include <string>
#include <string_view>

#include "runner/result.h"

namespace mkp {

// Everything in a file, which may be a pipe. One of more than 16 MiB is refused.
Result<std::string> read_file(const std::string& path);

// "" unless the file's group or others may read it: then a sentence that names the file and its
// mode. `what` is the secret in it: "the key of user \"node\"".
std::string warning_if_others_read(const std::string& path, std::string_view what);

}  // namespace mkp
