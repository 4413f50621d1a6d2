#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/api_server/resources.h"

namespace mkp::api {

// How an API server says that something went wrong: meta/v1 Status.
struct StatusAnswer {
  struct Cause {
    std::string reason;
    std::string message;
    std::string field{};
  };

  int code = 500;  // HTTP's
  std::string reason;
  std::string message;
  std::string name{};  // of the object
  std::string group{};
  std::string kind{};  // the resource, as a plural, but for Invalid
  std::vector<Cause> causes{};
  int retry_after_seconds = 0;
  std::string continue_token{};
};

std::string to_json(const StatusAnswer& status);
std::string to_protobuf(const StatusAnswer& status);  // without the envelope

// What is said in the standard cases.
StatusAnswer unauthorized();
// `verb` on the resource, for `user`.
StatusAnswer forbidden(const Resource& resource, const std::string& verb, const std::string& user,
                       const std::string& name_space);
StatusAnswer not_found(const Resource& resource, const std::string& name);
StatusAnswer bad_request(std::string message);
StatusAnswer not_acceptable();
StatusAnswer method_not_allowed(const Resource& resource, const std::string& verb);
// Of the parameters of a list or watch: `finding` is what is wrong with `field`.
StatusAnswer invalid_options(const std::string& field, const std::string& finding);
StatusAnswer expired_list();
// The rest of such a list can be had as it is now, with `continue_token`.
StatusAnswer expired_continue(std::string continue_token);
StatusAnswer expired_watch(std::uint64_t asked, std::uint64_t oldest);
StatusAnswer too_large_version(std::uint64_t asked, std::uint64_t current);
StatusAnswer too_many_requests(int retry_after_seconds);
StatusAnswer internal_error(const std::string& what);

}  // namespace mkp::api
