#pragma once

#include <optional>
#include <string>

namespace mkp::api {

// The JSON bodies with which a client finds out what there is: /api, /apis, the resources of each
// group version, /version. Nothing for any other path.
std::optional<std::string> discovery_body(const std::string& path);

}  // namespace mkp::api
