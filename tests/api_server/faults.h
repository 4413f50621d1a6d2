#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/clock.h"
#include "tests/api_server/api_request.h"
#include "tests/api_server/connection.h"
#include "tests/api_server/status_answer.h"

namespace mkp::api {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Which requests something is about. What is empty is about any.
struct RequestMatch {
  std::string verb{};  // "list", "watch", "get", ...
  std::optional<ObjectKind> kind{};
  std::string client{};  // its User-Agent begins with that

  bool operator()(const ApiRequest& request) const;
};

// An answer instead of the server's own.
struct CannedAnswer {
  int status = 200;
  Headers headers{};
  std::string body{};
};
CannedAnswer canned(const StatusAnswer& status);  // as JSON
// What a load balancer says when no server is behind it.
CannedAnswer bad_gateway();

// What goes wrong with an answer. With none of its members set, nothing does.
struct Fault {
  static constexpr int kForever = std::numeric_limits<int>::max();

  RequestMatch request{};
  int times = 1;  // requests that it befalls, before it is over

  Duration delay{};                   // before anything else
  std::optional<Ending> no_answer{};  // without a byte
  std::optional<CannedAnswer> instead{};
  std::optional<std::string> content_type{};  // the true answer, called something else
  std::optional<std::size_t> body_bytes{};    // no more than that of the body as sent, then `then`
  Ending then = Ending::Fin;
  std::size_t piece_bytes = 0;  // no more at a time, with a pause behind each; 0: all at once
  Duration pause{};
  bool endless_headers = false;
};

// Faults that wait for their requests. The first that fits is taken.
class FaultScript {
 public:
  void add(Fault fault) { faults_.push_back(std::move(fault)); }
  void clear() { faults_.clear(); }
  // A Fault without any effect when none fits.
  Fault take(const ApiRequest& request);

 private:
  std::vector<Fault> faults_;
};

}  // namespace mkp::api
