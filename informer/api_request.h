#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "informer/api_server.h"
#include "informer/credential_source.h"
#include "runner/clock.h"

namespace mkp {

// One request to an API server, before it is known where that is.
struct ApiRequest {
  std::string method = "GET";
  std::string path;  // "/api/v1/services"
  std::vector<std::pair<std::string, std::string>> query{};
  std::string content_type{};  // of `body`
  std::string body{};
  // Whether gzip may be offered, if ApiServer::compression allows it at all. Compressing may cost
  // the server more time than it saves on the way.
  bool compressible = true;
  // How long the server may say nothing before its answer, and within it. A watch is silent as long
  // as nothing happens.
  Duration head_silence = std::chrono::seconds(30);
  Duration body_silence = std::chrono::seconds(30);
};

// The bytes of a request: head and body.
std::string to_http(const ApiRequest& request, const ApiServer& server,
                    const Credentials& credentials);

// `text` as a form has it (application/x-www-form-urlencoded): what a query consists of.
std::string form_encoded(std::string_view text);

}  // namespace mkp
