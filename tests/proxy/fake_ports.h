#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runner/http_server.h"

namespace mkp {

// Ports of a node, in memory: as strict as a kernel in that only one may listen at a place.
class FakePorts {
 public:
  auto opener() {
    return [this](const ListenOn& where,
                  HttpServer::Handler handler) -> Result<std::unique_ptr<OpenPort>> {
      const std::string place = to_text(where);
      if (taken_.contains(place) || open_.contains(place)) {
        return fail(Errc::Exists, "listen on " + place + ": Address already in use");
      }
      open_.emplace(place, std::move(handler));
      return std::make_unique<Port>(*this, place);
    };
  }

  // By another program.
  void take(const std::string& place) { taken_.insert(place); }
  void give_back(const std::string& place) { taken_.erase(place); }

  std::set<std::string> listening() const {
    std::set<std::string> places;
    for (const auto& [place, handler] : open_) places.insert(place);
    return places;
  }
  std::optional<HttpServer::Answer> ask(const std::string& place,
                                        const std::string& path = "/") const {
    const auto found = open_.find(place);
    if (found == open_.end()) return std::nullopt;
    return found->second({.method = "GET", .path = path, .query = {}});
  }

 private:
  class Port final : public OpenPort {
   public:
    Port(FakePorts& ports, std::string place) : ports_(ports), place_(std::move(place)) {}
    ~Port() override { ports_.open_.erase(place_); }

   private:
    FakePorts& ports_;
    std::string place_;
  };

  std::map<std::string, HttpServer::Handler> open_;
  std::set<std::string> taken_;
};

}  // namespace mkp
