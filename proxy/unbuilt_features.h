#pragma once

#include <string_view>
#include <vector>

#include "informer/objects.h"

namespace mkp {

// What a Service asks for that is not served yet, in the words of its manifest: "node ports
// (spec.ports[].nodePort)". Its cluster IPs are served all the same.
std::vector<std::string_view> unbuilt_features(const Service& service);

}  // namespace mkp
