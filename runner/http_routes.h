#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/http_server.h"

namespace mkp {

// A handler for an HttpServer that answers by path; 404 for a path that it does not know.
class HttpRoutes {
 public:
  enum class Methods : std::uint8_t {
    Reading,  // GET and HEAD; 405 for others
    Any,
  };

  // The whole path, without query.
  void add(std::string path, HttpServer::Handler handler, Methods methods = Methods::Reading);

  HttpServer::Answer operator()(const HttpServer::Request& request) const;

 private:
  struct Route {
    HttpServer::Handler handler;
    Methods methods;
  };
  std::map<std::string, Route> routes_;
};

}  // namespace mkp
