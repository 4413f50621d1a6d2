#include "runner/http_routes.h"

#include <utility>

namespace mkp {

void HttpRoutes::add(std::string path, HttpServer::Handler handler, Methods methods) {
  routes_.insert_or_assign(std::move(path), Route{std::move(handler), methods});
}

HttpServer::Answer HttpRoutes::operator()(const HttpServer::Request& request) const {
  const auto found = routes_.find(request.path);
  if (found == routes_.end()) return {.status = 404, .body = "404 page not found\n"};
  const Route& route = found->second;
  if (route.methods == Methods::Reading && request.method != "GET" && request.method != "HEAD") {
    return {.status = 405,
            .headers = {{"Allow", "GET, HEAD"}},
            .body = "405 only GET and HEAD are allowed here\n"};
  }
  return route.handler(request);
}

}  // namespace mkp
