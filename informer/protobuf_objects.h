#pragma once

#include <string_view>

#include "informer/decode_problem.h"
#include "informer/decode_values.h"
#include "informer/objects.h"

namespace mkp {

// An object from its message, without the envelope. What is wrong is noted; the object then holds
// what could be read.
void read_protobuf(std::string_view message, Service& service, DecodeProblem& problem);
void read_protobuf(std::string_view message, EndpointSlice& slice, DecodeProblem& problem);
void read_protobuf(std::string_view message, Node& node, DecodeProblem& problem);
void read_protobuf(std::string_view message, ServiceCidr& cidr, DecodeProblem& problem);

// meta/v1 ObjectMeta, which is field 1 of every object.
void read_protobuf_meta(std::string_view message, ObjectMeta& meta, const WantedMeta& wanted,
                        DecodeProblem& problem);

}  // namespace mkp
