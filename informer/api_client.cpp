#include "informer/api_client.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <cmath>
#include <utility>

#include "informer/api_errors.h"
#include "informer/deadline.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPiece = 65536;
constexpr int kMostRetries = 10;
// A server closes a connection that was idle for 90 s, and may be about to.
constexpr Duration kIdleLimit = 60s;
constexpr std::size_t kMostIdle = 4;
constexpr std::size_t kErrorBodyLimit = 1 << 20;
constexpr std::size_t kMostWarnings = 100;

}  // namespace

struct ApiAnswer::Connection {
  std::unique_ptr<ByteStream> bytes;
  Credentials credentials;  // that it was opened with
  std::string space;        // to read into
  bool disturbed = false;   // bytes came that nobody asked for
  TimePoint idle_since;
};

// --- ApiAnswer ---

ApiAnswer::ApiAnswer(ApiClient& client, std::unique_ptr<Connection> connection,
                     const ApiRequest& request)
    : client_(client),
      connection_(std::move(connection)),
      method_(request.method),
      silence_(request.head_silence),
      body_silence_(request.body_silence) {}

ApiAnswer::~ApiAnswer() {
  const bool good = connection_ && response_.keeps_connection() && !connection_->disturbed;
  if (good) client_.take_back(std::move(connection_));
}

asio::awaitable<Result<>> ApiAnswer::read_more() {
  Connection& connection = *connection_;
  connection.space.resize(kPiece);
  const TimePoint deadline = later(client_.clock_.now(), silence_);
  const std::span<char> space(connection.space);
  const Result<std::size_t> size = co_await within(deadline, client_.clock_, "the server is silent",
                                                   connection.bytes->read_some(space));
  if (!size) co_return tl::unexpected<Error>(size.error());
  if (*size == 0) co_return response_.put_end();
  const Result<std::size_t> taken =
      response_.put(std::string_view(connection.space).substr(0, *size));
  if (!taken) co_return tl::unexpected<Error>(taken.error());
  connection.disturbed = *taken != *size;
  co_return Result<>();
}

asio::awaitable<Result<std::optional<std::string>>> ApiAnswer::read() {
  for (;;) {
    std::string piece = response_.take_body();
    if (!piece.empty()) co_return std::optional(std::move(piece));
    if (response_.has_ended()) co_return std::optional<std::string>();
    const Result<> more = co_await read_more();
    if (!more) co_return tl::unexpected<Error>(more.error());
  }
}

asio::awaitable<Result<std::string>> ApiAnswer::read_all(std::size_t limit) {
  std::string body;
  const std::uint64_t length = head().content_length.value_or(0);
  if (length <= limit) body.reserve(static_cast<std::size_t>(length));
  for (;;) {
    Result<std::optional<std::string>> piece = co_await read();
    if (!piece) co_return tl::unexpected<Error>(piece.error());
    const std::optional<std::string>& part = *piece;
    if (!part) break;
    if (body.size() + part->size() > limit) {
      co_return fail(Errc::Invalid, fmt::format("the answer is longer than {} bytes", limit));
    }
    body += *part;
  }
  client_.on_body_({.method = method_, .bytes = body.size()});
  co_return std::move(body);
}

// --- ApiClient ---

ApiClient::ApiClient(ApiServer server, CredentialSource& credentials, Clock& clock)
    : server_(std::move(server)), credentials_(credentials), clock_(clock) {
  if (server_.qps > 0) {
    const Duration interval(static_cast<Duration::rep>(std::llround(1e9 / server_.qps)));
    rate_.emplace(interval, server_.burst);
  }
}

ApiClient::~ApiClient() = default;

void ApiClient::close_idle() { idle_.clear(); }

asio::awaitable<Result<std::unique_ptr<ApiAnswer>>> ApiClient::send(ApiRequest request) {
  for (int retries = 0;; ++retries) {
    Figures figures;
    figures.method = request.method;
    figures.body_bytes = request.body.size();
    figures.rate_limited = co_await wait_for_turn();
    const Result<Credentials> credentials = co_await credentials_.current();
    if (!credentials) co_return fail(credentials.error(), "getting credentials");
    const TimePoint start = clock_.now();
    Result<std::unique_ptr<ApiAnswer>> answer = co_await attempt(request, *credentials);
    figures.took = clock_.now() - start;
    if (answer) figures.status = (*answer)->head().status;
    if (!answer) figures.failure = answer.error();
    on_request_(figures);
    if (!answer) co_return fail(std::move(answer.error()), to_text(server_));

    const HttpHead& head = (*answer)->head();
    note_warning(head.warning);
    if (head.status / 100 == 2) co_return std::move(*answer);
    if (head.status == 401) credentials_.refused(*credentials);
    const bool again = head.status == 429 || head.status >= 500;
    const Result<std::string> body = co_await (*answer)->read_all(kErrorBodyLimit);
    if (again && head.retry_after && retries < kMostRetries) {
      const Duration pause = jittered(*head.retry_after);
      answer->reset();
      co_await clock_.sleep_until(later(clock_.now(), pause));
      continue;
    }
    co_return tl::unexpected<Error>(to_error(status_of(head, body.value_or(std::string()))));
  }
}

asio::awaitable<Result<std::unique_ptr<ApiAnswer>>> ApiClient::attempt(
    const ApiRequest& request, const Credentials& credentials) {
  std::string bytes = to_http(request, server_, credentials);
  if (std::unique_ptr<Connection> idle = idle_connection(credentials)) {
    Result<std::unique_ptr<ApiAnswer>> answer = co_await exchange(std::move(idle), bytes, request);
    // The server may have closed it just now, which says nothing about the server.
    const bool lost = !answer && answer.error().code == Errc::Unreachable;
    if (!lost || request.method != "GET") co_return answer;
  }
  Result<std::unique_ptr<Connection>> opened = co_await open(credentials);
  if (!opened) co_return tl::unexpected<Error>(std::move(opened.error()));
  Result<std::unique_ptr<ApiAnswer>> answer =
      co_await exchange(std::move(*opened), std::move(bytes), request);
  co_return answer;
}

asio::awaitable<Result<std::unique_ptr<ApiAnswer>>> ApiClient::exchange(
    std::unique_ptr<Connection> connection, std::string bytes, ApiRequest request) {
  const Result<> sent = co_await connection->bytes->write(std::move(bytes));
  if (!sent) co_return tl::unexpected<Error>(sent.error());
  std::unique_ptr<ApiAnswer> answer(new ApiAnswer(*this, std::move(connection), request));
  while (!answer->response_.head()) {
    const Result<> more = co_await answer->read_more();
    if (!more) co_return tl::unexpected<Error>(more.error());
  }
  answer->silence_ = answer->body_silence_;
  co_return answer;
}

asio::awaitable<Result<std::unique_ptr<ApiClient::Connection>>> ApiClient::open(
    const Credentials& credentials) {
  Result<std::unique_ptr<ByteStream>> bytes = co_await connect(server_, credentials, clock_);
  if (!bytes) co_return tl::unexpected<Error>(std::move(bytes.error()));
  auto connection = std::make_unique<Connection>();
  connection->bytes = std::move(*bytes);
  connection->credentials = credentials;
  co_return connection;
}

std::unique_ptr<ApiClient::Connection> ApiClient::idle_connection(const Credentials& credentials) {
  while (!idle_.empty()) {
    // The youngest is the likeliest to be alive.
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    const Credentials& shown = connection->credentials;
    const bool fits = shown.client_certificate == credentials.client_certificate &&
                      shown.client_key == credentials.client_key &&
                      shown.trusted_roots == credentials.trusted_roots;
    const bool fresh = clock_.now() - connection->idle_since < kIdleLimit;
    if (fits && fresh && connection->bytes->is_quiet()) return connection;
  }
  return nullptr;
}

void ApiClient::take_back(std::unique_ptr<Connection> connection) {
  connection->idle_since = clock_.now();
  connection->space = {};
  idle_.push_back(std::move(connection));
  if (idle_.size() > kMostIdle) idle_.pop_front();
}

asio::awaitable<Duration> ApiClient::wait_for_turn() {
  if (!rate_) co_return Duration::zero();
  const TimePoint now = clock_.now();
  const Duration wait = rate_->reserve(now);
  if (wait > Duration::zero()) co_await clock_.sleep_until(later(now, wait));
  co_return wait;
}

// Many clients that were told the same number do not come back together.
Duration ApiClient::jittered(std::chrono::seconds pause) {
  constexpr double kStretch = 0.5;
  const Duration base = std::max<Duration>(pause, 100ms);
  const double stretched = std::uniform_real_distribution<double>(1.0, 1.0 + kStretch)(random_);
  return Duration(static_cast<Duration::rep>(static_cast<double>(base.count()) * stretched));
}

void ApiClient::note_warning(const std::string& warning) {
  constexpr std::string_view kMiscellaneous = "299 ";
  if (!warning.starts_with(kMiscellaneous) || warned_.size() >= kMostWarnings) return;
  if (warned_.insert(warning).second) spdlog::info("the API server warns: {}", warning);
}

}  // namespace mkp
