#pragma once

#include <string>

#include "informer/objects.h"
#include "tests/api_server/selectors.h"

namespace mkp::api {

// What an object has besides what a proxy reads of it.
struct Extras {
  Labels labels{};
  Labels annotations{};
};

// An object of ours as an API server writes it. JSON: without kind and apiVersion, which lists
// leave out. Labels and annotations that our structs have as fields are added to those in `extras`.
std::string to_json(const Service& service, const Extras& extras = {});
std::string to_json(const EndpointSlice& slice, const Extras& extras = {});
std::string to_json(const Node& node, const Extras& extras = {});
std::string to_json(const ServiceCidr& cidr, const Extras& extras = {});

// The object's own message, without the envelope.
std::string to_protobuf(const Service& service, const Extras& extras = {});
std::string to_protobuf(const EndpointSlice& slice, const Extras& extras = {});
std::string to_protobuf(const Node& node, const Extras& extras = {});
std::string to_protobuf(const ServiceCidr& cidr, const Extras& extras = {});

// The labels of the object itself and those in `extras`.
Extras all_extras(const Service& service, Extras extras);
Extras all_extras(const EndpointSlice& slice, Extras extras);
Extras all_extras(const Node& node, Extras extras);
Extras all_extras(const ServiceCidr& cidr, Extras extras);

// The API's words, for both encodings.
std::string_view type_name(Service::Type type);
std::string_view family_name(AddressType type);
std::string_view policy_name(TrafficPolicy policy);

}  // namespace mkp::api
