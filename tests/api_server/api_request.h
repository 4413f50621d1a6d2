#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/api_server/resources.h"

namespace mkp::api {

// A request as it came, and what of the API it asks for.
struct ApiRequest {
  std::string method;
  std::string target;                                       // as it was sent
  std::string path;                                         // decoded, without the query
  std::map<std::string, std::string> query;                 // decoded
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::string body;

  const Resource* resource = nullptr;  // null: nothing of a kind that we hold
  std::string name_space;              // empty: all of them, or a cluster-scoped kind
  std::string name;                    // empty: the collection
  std::string verb;  // "list", "watch", "get", "create", ...; for other paths the method

  std::string header(std::string_view key) const;
  std::string parameter(const std::string& key) const;  // empty when it is missing
  // Null for neither "true", "1", "false", "0" nor missing, which is false.
  std::optional<bool> flag(const std::string& key) const;
};

// Fills in what follows from the method and the target.
void read_target(ApiRequest& request);

}  // namespace mkp::api
