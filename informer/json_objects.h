#pragma once

#include <string_view>

#include "informer/decode_object.h"
#include "informer/decode_values.h"
#include "informer/json_reader.h"

namespace mkp {

// An object from its JSON. What is wrong is noted; the object then holds what could be read. `type`
// is what it says of itself, which items of lists do not.
void read_json(JsonReader& json, JsonValue value, Service& service, WireType& type);
void read_json(JsonReader& json, JsonValue value, EndpointSlice& slice, WireType& type);
void read_json(JsonReader& json, JsonValue value, Node& node, WireType& type);
void read_json(JsonReader& json, JsonValue value, ServiceCidr& cidr, WireType& type);

void read_json_meta(JsonReader& json, JsonValue value, ObjectMeta& meta, const WantedMeta& wanted);
// Whether the field is one of those that say what the object is.
bool read_json_type(JsonReader& json, std::string_view key, JsonValue value, WireType& type);

}  // namespace mkp
