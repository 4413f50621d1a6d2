#include "tests/api_server/api_request.h"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace mkp::api {
namespace {

std::string decoded(std::string_view text, bool plus_is_space) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char value = 0;
    if (text[at] == '%' && at + 2 < text.size()) {
      std::from_chars(text.data() + at + 1, text.data() + at + 3, value, 16);
      result += static_cast<char>(value);
      at += 2;
    } else {
      result += plus_is_space && text[at] == '+' ? ' ' : text[at];
    }
  }
  return result;
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> found;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    found.emplace_back(segment);
    path.remove_prefix(segment.size());
  }
  return found;
}

void read_query(ApiRequest& request, std::string_view text) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t sign = std::min(pair.find('='), pair.size());
    request.query[decoded(pair.substr(0, sign), true)] =
        decoded(pair.substr(std::min(pair.size(), sign + 1)), true);
  }
}

// What of our kinds lies at the path.
void read_resource(ApiRequest& request) {
  std::vector<std::string> parts = segments(request.path);
  std::string group_version;
  if (parts.size() >= 2 && parts[0] == "api") {
    group_version = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  } else if (parts.size() >= 3 && parts[0] == "apis") {
    group_version = parts[1] + "/" + parts[2];
    parts.erase(parts.begin(), parts.begin() + 3);
  }
  if (parts.size() >= 3 && parts[0] == "namespaces") {
    request.name_space = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (parts.empty() || parts.size() > 2) return;
  for (const Resource& resource : kResources) {
    if (resource.api_version() == group_version && resource.resource == parts[0]) {
      request.resource = &resource;
    }
  }
  if (parts.size() == 2) request.name = parts[1];
}

std::string verb_of(const ApiRequest& request) {
  if (request.resource == nullptr) return request.method;
  if (request.method == "GET" && request.flag("watch").value_or(false)) return "watch";
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kVerbs{{
      {"POST", "create"},
      {"PUT", "update"},
      {"PATCH", "patch"},
      {"DELETE", "delete"},
  }};
  for (const auto& [method, verb] : kVerbs) {
    if (method == request.method) return std::string(verb);
  }
  return request.name.empty() ? "list" : "get";
}

}  // namespace

std::string ApiRequest::header(std::string_view key) const {
  const auto found = headers.find(key);
  return found == headers.end() ? "" : found->second;
}

std::string ApiRequest::parameter(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? "" : found->second;
}

std::optional<bool> ApiRequest::flag(const std::string& key) const {
  const std::string value = parameter(key);
  if (value == "true" || value == "1") return true;
  if (value.empty() || value == "false" || value == "0") return false;
  return std::nullopt;
}

void read_target(ApiRequest& request) {
  const std::string_view target = request.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = decoded(target.substr(0, mark), false);
  read_query(request, target.substr(std::min(target.size(), mark + 1)));
  read_resource(request);
  request.verb = verb_of(request);
}

}  // namespace mkp::api
