#include "tests/api_server/discovery.h"

#include <fmt/format.h>

#include <set>

#include "tests/api_server/json_text.h"
#include "tests/api_server/resources.h"

namespace mkp::api {
namespace {

std::string versions_of(std::string_view group_version) {
  const std::string_view version = group_version.substr(group_version.find('/') + 1);
  return JsonObject().string("groupVersion", group_version).string("version", version).text();
}

std::string groups() {
  std::set<std::string_view> names;
  for (const Resource& resource : kResources) {
    if (!resource.group.empty()) names.insert(resource.api_version());
  }
  return json_array(names, [](std::string_view group_version) {
    const std::string version = versions_of(group_version);
    return JsonObject()
        .string("name", group_version.substr(0, group_version.find('/')))
        .member("versions", "[" + version + "]")
        .member("preferredVersion", version)
        .text();
  });
}

std::string resource_json(const Resource& resource) {
  JsonObject object;
  object.string("name", resource.resource)
      .string("singularName", resource.singular)
      .boolean("namespaced", resource.namespaced)
      .string("kind", resource.kind_name)
      .member("verbs", R"(["get","list","watch"])");
  if (!resource.short_name.empty()) {
    object.member("shortNames", "[" + quoted(resource.short_name) + "]");
  }
  return object.text();
}

// Nothing when there is no such group version.
std::optional<std::string> resources_of(std::string_view group_version) {
  std::string list;
  for (const Resource& resource : kResources) {
    if (resource.api_version() != group_version) continue;
    list += (list.empty() ? "" : ",") + resource_json(resource);
  }
  if (list.empty()) return std::nullopt;
  return JsonObject()
      .string("kind", "APIResourceList")
      .string("apiVersion", "v1")
      .string("groupVersion", group_version)
      .member("resources", "[" + list + "]")
      .text();
}

}  // namespace

std::optional<std::string> discovery_body(const std::string& path) {
  if (path == "/version") {
    return R"({"major":"1","minor":"37","gitVersion":"v1.37.2","gitCommit":"","gitTreeState":"",)"
           R"("buildDate":"","goVersion":"","compiler":"","platform":"linux/amd64"})";
  }
  if (path == "/api") return R"({"kind":"APIVersions","versions":["v1"]})";
  if (path == "/apis") {
    return JsonObject()
        .string("kind", "APIGroupList")
        .string("apiVersion", "v1")
        .member("groups", groups())
        .text();
  }
  if (path.starts_with("/api/")) return resources_of(std::string_view(path).substr(5));
  if (path.starts_with("/apis/")) return resources_of(std::string_view(path).substr(6));
  return std::nullopt;
}

}  // namespace mkp::api
