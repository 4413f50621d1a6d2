#pragma once

#include <memory>
#include <string>

#include "informer/manifest_field.h"
#include "informer/object_types.h"
#include "informer/objects.h"

namespace mkp {

// An object as an API server would give it out, made from the fields that a manifest has: its
// defaults are filled in (protocol, cluster IPs and families, policies, affinity time, readiness).
// What is wrong is noted with the field. `metadata` is read apart, by manifest_metadata.
std::shared_ptr<Service> manifest_service(const ManifestField& document);
std::shared_ptr<EndpointSlice> manifest_endpoint_slice(const ManifestField& document);
std::shared_ptr<Node> manifest_node(const ManifestField& document);
std::shared_ptr<ServiceCidr> manifest_service_cidr(const ManifestField& document);

// The resource version is left empty: it is no manifest's to give.
ObjectMeta manifest_metadata(const ManifestField& document, ObjectKind kind);

// Whether kube-proxy's selectors leave it out: Services for another proxy or without an address of
// their own, slices of headless Services.
bool is_left_out(const ManifestField& document, ObjectKind kind);

// "shop/web", or the name alone for what belongs to no namespace.
std::string manifest_key(const ObjectMeta& meta);

std::shared_ptr<Object> new_object(ObjectKind kind);
// Both are of `kind`.
bool same_object(ObjectKind kind, const Object& one, const Object& other);
std::shared_ptr<Object> copy_object(ObjectKind kind, const Object& object);
ObjectMeta& metadata_of(ObjectKind kind, Object& object);

}  // namespace mkp
