#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "informer/api_request.h"
#include "informer/byte_stream.h"
#include "informer/http_response.h"
#include "runner/token_bucket.h"

namespace mkp {

class ApiClient;

// The answer to a request that succeeded, as its body comes.
class ApiAnswer {
 public:
  ~ApiAnswer();
  ApiAnswer(const ApiAnswer&) = delete;
  ApiAnswer& operator=(const ApiAnswer&) = delete;

  const HttpHead& head() const { return *response_.head(); }
  // The next piece of the body; nothing at its end. Unreachable when the server is gone before.
  asio::awaitable<Result<std::optional<std::string>>> read();
  // All of the body, or Invalid when it is longer than `limit` bytes. Its size counts for
  // ApiClient::on_body().
  asio::awaitable<Result<std::string>> read_all(std::size_t limit);

 private:
  friend class ApiClient;
  struct Connection;
  ApiAnswer(ApiClient& client, std::unique_ptr<Connection> connection, const ApiRequest& request);

  asio::awaitable<Result<>> read_more();

  ApiClient& client_;
  std::unique_ptr<Connection> connection_;
  HttpResponse response_;
  std::string method_;
  Duration silence_;
  Duration body_silence_;
};

// Speaks HTTP/1.1 with one API server: keeps connections, shows credentials, keeps to the rate that
// is allowed, and takes a Retry-After for what it says. Belongs to the loop thread; outlives its
// answers. Whoever lets the loop die first calls close_idle() before.
class ApiClient {
 public:
  // What became of one request, for metrics.
  struct Figures {
    std::string method;
    int status = 0;                  // 0: no answer
    std::optional<Error> failure{};  // why there is no answer
    Duration took{};                 // until the head of the answer
    Duration rate_limited{};         // before that
    std::size_t body_bytes = 0;      // of the request; 0: it has no body
  };
  // An answer's body that was read to its end, and is no stream.
  struct Body {
    std::string method;
    std::size_t bytes = 0;  // once a compression is undone
  };

  ApiClient(ApiServer server, CredentialSource& credentials, Clock& clock);
  ~ApiClient();

  // Called for every request that was tried.
  void on_request(std::function<void(const Figures&)> call) { on_request_ = std::move(call); }
  void on_body(std::function<void(const Body&)> call) { on_body_ = std::move(call); }

  // Sends it, and waits for the head of an answer that is a success (2xx); any other answer is a
  // failure in words. An answer with Retry-After is waited for and asked again, up to ten times.
  asio::awaitable<Result<std::unique_ptr<ApiAnswer>>> send(ApiRequest request);

  // Closes the connections that lie idle. Sockets must not outlive their loop.
  void close_idle();

  const ApiServer& server() const { return server_; }

 private:
  friend class ApiAnswer;
  using Connection = ApiAnswer::Connection;

  asio::awaitable<Result<std::unique_ptr<ApiAnswer>>> attempt(const ApiRequest& request,
                                                              const Credentials& credentials);
  asio::awaitable<Result<std::unique_ptr<ApiAnswer>>> exchange(
      std::unique_ptr<Connection> connection, std::string bytes, ApiRequest request);
  asio::awaitable<Result<std::unique_ptr<Connection>>> open(const Credentials& credentials);
  std::unique_ptr<Connection> idle_connection(const Credentials& credentials);
  void take_back(std::unique_ptr<Connection> connection);
  asio::awaitable<Duration> wait_for_turn();
  void note_warning(const std::string& warning);
  Duration jittered(std::chrono::seconds pause);

  ApiServer server_;
  CredentialSource& credentials_;
  Clock& clock_;
  std::optional<TokenBucket> rate_;
  std::function<void(const Figures&)> on_request_ = [](const Figures&) {};
  std::function<void(const Body&)> on_body_ = [](const Body&) {};
  std::deque<std::unique_ptr<Connection>> idle_;
  std::set<std::string> warned_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace mkp
