#include "tests/api_server/status_answer.h"

#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

#include "tests/api_server/json_text.h"

namespace mkp::api {
namespace {

std::string details_json(const StatusAnswer& status) {
  JsonObject details;
  details.nonempty("name", status.name)
      .nonempty("group", status.group)
      .nonempty("kind", status.kind);
  if (!status.causes.empty()) {
    details.member("causes", json_array(status.causes, [](const StatusAnswer::Cause& cause) {
                     return JsonObject()
                         .nonempty("reason", cause.reason)
                         .nonempty("message", cause.message)
                         .nonempty("field", cause.field)
                         .text();
                   }));
  }
  return details.nonzero("retryAfterSeconds", status.retry_after_seconds).text();
}

std::string details_protobuf(const StatusAnswer& status) {
  std::string bytes;
  protozero::pbf_writer details(bytes);
  details.add_string(1, status.name);
  details.add_string(2, status.group);
  details.add_string(3, status.kind);
  for (const StatusAnswer::Cause& cause : status.causes) {
    protozero::pbf_writer inner(details, 4);
    inner.add_string(1, cause.reason);
    inner.add_string(2, cause.message);
    inner.add_string(3, cause.field);
  }
  details.add_int32(5, status.retry_after_seconds);
  details.add_string(6, "");
  return bytes;
}

std::string full_name(const Resource& resource) {
  if (resource.group.empty()) return std::string(resource.resource);
  return fmt::format("{}.{}", resource.resource, resource.group);
}

StatusAnswer about(const Resource& resource, int code, std::string reason, std::string message) {
  return {.code = code,
          .reason = std::move(reason),
          .message = std::move(message),
          .group = std::string(resource.group),
          .kind = std::string(resource.resource)};
}

}  // namespace

std::string to_json(const StatusAnswer& status) {
  const JsonObject metadata = JsonObject().nonempty("continue", status.continue_token);
  return JsonObject()
      .string("kind", "Status")
      .string("apiVersion", "v1")
      .member("metadata", metadata.text())
      .string("status", "Failure")
      .string("message", status.message)
      .nonempty("reason", status.reason)
      .member("details", details_json(status))
      .number("code", status.code)
      .text();
}

std::string to_protobuf(const StatusAnswer& status) {
  std::string bytes;
  protozero::pbf_writer message(bytes);
  {
    protozero::pbf_writer metadata(message, 1);
    metadata.add_string(1, "");
    metadata.add_string(2, "");
    metadata.add_string(3, status.continue_token);
  }
  message.add_string(2, "Failure");
  message.add_string(3, status.message);
  message.add_string(4, status.reason);
  message.add_message(5, details_protobuf(status));
  message.add_int32(6, status.code);
  return bytes;
}

StatusAnswer unauthorized() {
  return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"};
}

StatusAnswer forbidden(const Resource& resource, const std::string& verb, const std::string& user,
                       const std::string& name_space) {
  const std::string where = name_space.empty() ? "at the cluster scope"
                                               : fmt::format("in the namespace \"{}\"", name_space);
  const std::string what = fmt::format(
      "{0} is forbidden: User \"{1}\" cannot {2} resource \"{3}\" in API group \"{4}\" {5}",
      full_name(resource), user, verb, resource.resource, resource.group, where);
  return about(resource, 403, "Forbidden", what);
}

StatusAnswer not_found(const Resource& resource, const std::string& name) {
  StatusAnswer status = about(resource, 404, "NotFound",
                              fmt::format("{} \"{}\" not found", full_name(resource), name));
  status.name = name;
  return status;
}

StatusAnswer bad_request(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

StatusAnswer not_acceptable() {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message =
              "only the following media types are accepted: application/json, "
              "application/vnd.kubernetes.protobuf"};
}

StatusAnswer method_not_allowed(const Resource& resource, const std::string& verb) {
  return about(
      resource, 405, "MethodNotAllowed",
      fmt::format("{} is not supported on resources of kind \"{}\"", verb, full_name(resource)));
}

StatusAnswer invalid_options(const std::string& field, const std::string& finding) {
  const std::string what = fmt::format("Forbidden: {}", finding);
  return {.code = 422,
          .reason = "Invalid",
          .message = fmt::format("ListOptions.meta.k8s.io \"\" is invalid: {}: {}", field, what),
          .group = "meta.k8s.io",
          .kind = "ListOptions",
          .causes = {{"FieldValueForbidden", what, field}}};
}

StatusAnswer expired_list() {
  return {.code = 410,
          .reason = "Expired",
          .message = "The resourceVersion for the provided list is too old."};
}

StatusAnswer expired_continue(std::string continue_token) {
  return {.code = 410,
          .reason = "Expired",
          .message =
              "The provided continue parameter is too old to display a consistent list "
              "result. List again, or go on with the token in this answer.",
          .continue_token = std::move(continue_token)};
}

StatusAnswer expired_watch(std::uint64_t asked, std::uint64_t oldest) {
  return {.code = 410,
          .reason = "Expired",
          .message = fmt::format("too old resource version: {} ({})", asked, oldest)};
}

StatusAnswer too_large_version(std::uint64_t asked, std::uint64_t current) {
  return {.code = 504,
          .reason = "Timeout",
          .message =
              fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current),
          .causes = {{"ResourceVersionTooLarge", "Too large resource version"}},
          .retry_after_seconds = 1};
}

StatusAnswer too_many_requests(int retry_after_seconds) {
  return {.code = 429,
          .reason = "TooManyRequests",
          .message = "too many requests, please try again later",
          .retry_after_seconds = retry_after_seconds};
}

StatusAnswer internal_error(const std::string& what) {
  return {.code = 500, .reason = "InternalError", .message = "Internal error occurred: " + what};
}

}  // namespace mkp::api
