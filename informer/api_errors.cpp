#include "informer/api_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mkp {
namespace {

constexpr std::size_t kTextLimit = 2048;

// Reasons whose meaning is fixed; with any other one the number counts.
constexpr std::array<std::string_view, 19> kReasons{"Unauthorized",
                                                    "Forbidden",
                                                    "NotFound",
                                                    "AlreadyExists",
                                                    "Conflict",
                                                    "Gone",
                                                    "Invalid",
                                                    "ServerTimeout",
                                                    "StorageReadError",
                                                    "Timeout",
                                                    "TooManyRequests",
                                                    "BadRequest",
                                                    "MethodNotAllowed",
                                                    "NotAcceptable",
                                                    "RequestEntityTooLarge",
                                                    "UnsupportedMediaType",
                                                    "InternalError",
                                                    "Expired",
                                                    "ServiceUnavailable"};

bool is_version_too_large(const ApiStatus& status) {
  const auto named = [](const ApiStatus::Cause& cause) {
    return cause.reason == "ResourceVersionTooLarge";
  };
  if (std::any_of(status.causes.begin(), status.causes.end(), named)) return true;
  if (status.reason != "Timeout") return false;
  constexpr std::string_view kWords = "Too large resource version";
  const auto worded = [&](const ApiStatus::Cause& cause) { return cause.message == kWords; };
  return std::any_of(status.causes.begin(), status.causes.end(), worded) ||
         status.message.find(kWords) != std::string::npos;
}

bool is_text(std::string_view content_type) {
  return content_type.starts_with("text/") || content_type.empty();
}

// A line of what a server said, with nothing in it that disturbs a log.
std::string one_line(std::string_view text) {
  std::string line(text.substr(0, kTextLimit));
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string generic_message(int code, const std::string& said) {
  switch (code) {
    case 400:
      return "the server rejected our request for an unknown reason";
    case 401:
      return "the server has asked for the client to provide credentials";
    case 404:
      return "the server could not find the requested resource";
    case 405:
      return "the server does not allow this method on the requested resource";
    case 406:
      return "the server was unable to respond with a content type that the client supports";
    case 422:
      return "the server rejected our request due to an error in our request";
    case 429:
      return "the server has received too many requests and has asked us to try again later";
    case 503:
      return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be "
             "processing the request";
    default:
      break;
  }
  if (code >= 500) {
    return fmt::format("an error on the server (\"{}\") has prevented the request from succeeding",
                       said);
  }
  return fmt::format(
      "the server responded with the status code {} but did not return more information", code);
}

}  // namespace

Errc code_of(const ApiStatus& status) {
  const bool known = std::find(kReasons.begin(), kReasons.end(), status.reason) != kReasons.end();
  const auto is = [&](std::string_view reason, int code) {
    return status.reason == reason || (!known && status.code == code);
  };
  if (is_version_too_large(status)) return Errc::Expired;
  if (status.reason == "Expired" || is("Gone", 410)) return Errc::Expired;
  if (status.reason == "TooManyRequests" || status.code == 429) return Errc::Unavailable;
  if (is("Unauthorized", 401) || is("Forbidden", 403)) return Errc::Denied;
  if (is("NotFound", 404)) return Errc::NotFound;
  if (is("AlreadyExists", 409)) return Errc::Exists;
  if (is("ServiceUnavailable", 503) || is("Timeout", 504) || status.code == 502) {
    return Errc::Unavailable;
  }
  if (is("InternalError", 500) || status.reason == "ServerTimeout") return Errc::Internal;
  return Errc::Invalid;
}

ApiStatus status_of(const HttpHead& head, std::string_view body) {
  if (const WireFormat* format = wire_format_of(head.content_type)) {
    Result<ApiStatus> status = format->decode_status(body);
    if (status && status->status != "Success") {
      if (status->code == 0) status->code = head.status;
      return std::move(*status);
    }
  }
  ApiStatus status;
  status.status = "Failure";
  status.code = head.status;
  const std::string said = is_text(head.content_type) && !body.empty() ? one_line(body) : "unknown";
  status.message = generic_message(head.status, said);
  if (said != "unknown" && status.message.find(said) == std::string::npos) {
    status.message += ": " + said;
  }
  if (head.retry_after) {
    status.retry_after_seconds = static_cast<std::int32_t>(head.retry_after->count());
  }
  return status;
}

Error to_error(const ApiStatus& status) {
  std::string what = one_line(status.message);
  if (what.empty()) what = fmt::format("the server said {} {}", status.code, status.reason);
  const Errc code = code_of(status);
  const bool forbidden = status.reason == "Forbidden" || status.code == 403;
  if (forbidden) {
    what +=
        "; the ClusterRole system:node-proxier gives that right: bind it to whom the kubeconfig or "
        "the service account names";
  } else if (code == Errc::Denied) {
    what += "; the API server does not accept the credentials of the kubeconfig or service account";
  }
  return Error{code, std::move(what)};
}

}  // namespace mkp
