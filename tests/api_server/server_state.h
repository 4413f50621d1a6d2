#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/clock.h"
#include "tests/api_server/faults.h"
#include "tests/api_server/object_store.h"

namespace mkp::api {

class WatchSession;

// What a test may set, at any time; it counts from the next request or connection on.
struct ServerSettings {
  std::optional<TlsSettings> tls{};
  // The bearer token that every request must have, unless it comes with a client certificate.
  // Empty: everybody is welcome.
  std::string token{};
  std::string user = "system:kube-proxy";  // who has the token, for refusals
  std::vector<RequestMatch> denied{};      // what that user may not do: 403
  bool watch_list = true;                  // knows sendInitialEvents
  bool expired_in_band = true;             // a watch from too long ago gets an event; else a 410
  int gzip_members = 0;                    // of a body, for clients that take gzip; 0: no gzip
  bool gzip_watches = false;               // a member for each write
  std::chrono::seconds bookmark_every{60};
  std::chrono::seconds longest_watch{1800};  // for clients that don't say how long
  std::size_t watch_backlog = 10'000;  // events that a watch may be behind before it is closed
};

// A request that came.
struct RequestRecord {
  TimePoint time{};
  std::string verb;
  std::string resource;  // "services"; the path for what is none
  std::string target;
  std::string client;           // User-Agent
  std::string accept_encoding;  // empty: nothing was offered
  std::string body;
};

// Every request, in the order in which they came.
class RequestLog {
 public:
  void add(const ApiRequest& request, TimePoint now);
  void clear() { records_.clear(); }
  const std::vector<RequestRecord>& records() const { return records_; }
  // Those whose User-Agent begins with `client`.
  std::size_t count(const std::string& verb, const std::string& resource,
                    const std::string& client = "") const;
  // "watch services\n" and so on.
  std::string text() const;

 private:
  std::vector<RequestRecord> records_;
};

// What all connections of a server share.
struct ServerState {
  explicit ServerState(Clock& time) : clock(time) {}

  Clock& clock;
  ObjectStore store;
  ServerSettings settings;
  FaultScript faults;
  RequestLog log;
  std::set<WatchSession*> watches;  // that are open
};

}  // namespace mkp::api
