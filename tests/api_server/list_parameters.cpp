#include "tests/api_server/list_parameters.h"

#include <fmt/format.h>

#include <boost/beast/core/detail/base64.hpp>
#include <charconv>

namespace mkp::api {
namespace {

template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

constexpr const char* kMatch = "resourceVersionMatch";
constexpr const char* kInitial = "sendInitialEvents";

// What an API server says of parameters that do not go together.
std::optional<StatusAnswer> contradiction(const ApiRequest& request, bool watch_list) {
  const std::string match = request.parameter(kMatch);
  const bool watch = request.verb == "watch";
  const bool initial = request.query.contains(kInitial);
  if (initial && !watch)
    return invalid_options(kInitial, "sendInitialEvents is forbidden for list");
  if (!match.empty() && request.query.contains("continue")) {
    return invalid_options(kMatch, "resourceVersionMatch is forbidden when continue is provided");
  }
  if (!match.empty() && match != "NotOlderThan" && (watch || match != "Exact")) {
    return invalid_options(kMatch, "unsupported value \"" + match + "\"");
  }
  if (watch && initial && !watch_list) {
    return invalid_options(kInitial,
                           "sendInitialEvents is forbidden for watch unless the WatchList feature "
                           "gate is enabled");
  }
  if (watch && initial && match.empty()) {
    return invalid_options(
        kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (watch && !initial && !match.empty()) {
    return invalid_options(
        kMatch, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  const std::string version = request.parameter("resourceVersion");
  if (!watch && !match.empty() && version.empty()) {
    return invalid_options(kMatch,
                           "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (match == "Exact" && version == "0") {
    return invalid_options(kMatch,
                           "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return std::nullopt;
}

std::optional<StatusAnswer> read_numbers(const ApiRequest& request, ListParameters& parameters) {
  parameters.resource_version = request.parameter("resourceVersion");
  if (!parameters.resource_version.empty()) {
    const auto revision = number<std::uint64_t>(parameters.resource_version);
    if (!revision) {
      return bad_request("invalid resource version: " + parameters.resource_version);
    }
    parameters.revision = *revision;
  }
  if (request.query.contains("limit")) {
    const auto limit = number<std::int64_t>(request.parameter("limit"));
    if (!limit || *limit < 0) return bad_request("invalid limit");
    parameters.limit = *limit;
  }
  if (request.query.contains("timeoutSeconds")) {
    const auto seconds = number<std::int64_t>(request.parameter("timeoutSeconds"));
    if (!seconds) return bad_request("invalid timeoutSeconds");
    parameters.timeout = std::chrono::seconds(*seconds);
  }
  parameters.continue_token = request.parameter("continue");
  if (!parameters.continue_token.empty() && parameters.revision != 0) {
    return bad_request("specifying resource version is not allowed when using continue");
  }
  return std::nullopt;
}

std::optional<StatusAnswer> read_selectors(const ApiRequest& request, ListParameters& parameters) {
  Result<LabelSelector> labels = LabelSelector::parse(request.parameter("labelSelector"));
  if (!labels) return bad_request(labels.error().what);
  Result<FieldSelector> fields =
      FieldSelector::parse(request.resource->kind, request.parameter("fieldSelector"));
  if (!fields) return bad_request(fields.error().what);
  parameters.labels = std::move(*labels);
  parameters.fields = std::move(*fields);
  if (!request.name.empty()) parameters.fields.require_name(request.name);
  parameters.name_space = request.name_space;
  return std::nullopt;
}

}  // namespace

bool ListParameters::matches(const std::string& object_name_space, const Labels& object_labels,
                             const std::map<std::string, std::string>& object_fields) const {
  return (name_space.empty() || name_space == object_name_space) && labels.matches(object_labels) &&
         fields.matches(object_fields);
}

tl::expected<ListParameters, StatusAnswer> read_parameters(const ApiRequest& request,
                                                           bool watch_list) {
  for (const char* name : {"watch", "allowWatchBookmarks", kInitial}) {
    if (!request.flag(name)) {
      return tl::unexpected(bad_request(fmt::format("invalid value for {}", name)));
    }
  }
  if (auto wrong = contradiction(request, watch_list)) return tl::unexpected(*wrong);
  ListParameters parameters;
  if (auto wrong = read_numbers(request, parameters)) return tl::unexpected(*wrong);
  if (auto wrong = read_selectors(request, parameters)) return tl::unexpected(*wrong);
  parameters.exact =
      request.parameter(kMatch) == "Exact" ||
      (parameters.limit > 0 && parameters.revision > 0 && request.parameter(kMatch).empty());
  parameters.bookmarks = *request.flag("allowWatchBookmarks");
  if (request.query.contains(kInitial)) {
    parameters.send_initial_events = *request.flag(kInitial);
  } else if (parameters.revision == 0 && watch_list) {
    parameters.send_initial_events = true;
  }
  return parameters;
}

std::string to_token(const PagePosition& position) {
  namespace base64 = boost::beast::detail::base64;
  const std::string json = fmt::format(R"({{"v":"meta.k8s.io/v1","rv":{},"start":"{}\u0000"}})",
                                       position.revision, position.after);
  std::string token(base64::encoded_size(json.size()), '\0');
  token.resize(base64::encode(token.data(), json.data(), json.size()));
  while (token.ends_with('=')) token.pop_back();
  for (char& c : token) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return token;
}

std::optional<PagePosition> read_token(const std::string& token) {
  namespace base64 = boost::beast::detail::base64;
  std::string standard = token;
  for (char& c : standard) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (standard.size() % 4 != 0) standard += '=';
  std::string json(base64::decoded_size(standard.size()), '\0');
  json.resize(base64::decode(json.data(), standard.data(), standard.size()).first);

  constexpr std::string_view kRevision = R"({"v":"meta.k8s.io/v1","rv":)";
  constexpr std::string_view kStart = R"(,"start":")";
  constexpr std::string_view kEnd = R"(\u0000"})";
  const std::size_t start = json.find(kStart);
  if (!json.starts_with(kRevision) || start == std::string::npos || !json.ends_with(kEnd)) {
    return std::nullopt;
  }
  const auto revision =
      number<std::int64_t>(json.substr(kRevision.size(), start - kRevision.size()));
  if (!revision) return std::nullopt;
  const std::size_t key = start + kStart.size();
  return PagePosition{*revision, json.substr(key, json.size() - kEnd.size() - key)};
}

}  // namespace mkp::api
