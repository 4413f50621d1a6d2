#include "tests/api_server/exchange.h"

#include <algorithm>
#include <utility>

#include "tests/api_server/discovery.h"
#include "tests/api_server/list_answer.h"
#include "tests/api_server/watch_session.h"

namespace mkp::api {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);  // with versions that are still to come
constexpr auto kLook = std::chrono::milliseconds(20);

}  // namespace

asio::awaitable<bool> Exchange::answer() {
  if (fault_.delay > Duration::zero()) {
    co_await state_.clock.sleep_until(later(state_.clock.now(), fault_.delay));
  }
  if (fault_.no_answer) {
    co_await connection_.end(*fault_.no_answer);
    co_return false;
  }
  if (fault_.instead) {
    co_return co_await writer_.answer(fault_.instead->status, fault_.instead->headers,
                                      fault_.instead->body);
  }
  co_return co_await answer_truly();
}

asio::awaitable<bool> Exchange::answer_truly() {
  if (request_.path == "/healthz" || request_.path == "/livez" || request_.path == "/readyz") {
    return text(200, "ok");
  }
  const std::optional<Encoding> encoding = negotiate(request_.header("accept"));
  if (encoding) encoding_ = *encoding;
  const std::optional<StatusAnswer> refused = refusal();
  if (refused) return refuse(*refused);
  if (std::optional<std::string> found = discovery_body(request_.path)) {
    encoding_ = Encoding::Json;
    return body(200, std::move(*found));
  }
  // Events come back as they are.
  if (request_.method == "POST" && request_.path.ends_with("/events")) {
    Headers headers{{"Content-Type", request_.header("content-type")}};
    return writer_.answer(201, std::move(headers), request_.body);
  }
  if (request_.resource == nullptr) return text(404, "404 page not found\n");
  if (!encoding) return refuse(not_acceptable());
  return answer_about_resource();
}

std::optional<StatusAnswer> Exchange::refusal() const {
  const ServerSettings& settings = state_.settings;
  const bool known = settings.token.empty() || !connection_.client_name().empty() ||
                     request_.header("authorization") == "Bearer " + settings.token;
  if (!known) return unauthorized();
  const bool denied = std::ranges::any_of(
      settings.denied, [this](const RequestMatch& what) { return what(request_); });
  if (!denied || request_.resource == nullptr) return std::nullopt;
  return forbidden(*request_.resource, request_.verb, settings.user, request_.name_space);
}

asio::awaitable<bool> Exchange::answer_about_resource() {
  if (request_.verb == "list") return list();
  if (request_.verb == "watch") return watch();
  if (request_.verb == "get") return get();
  return refuse(method_not_allowed(*request_.resource, request_.verb));
}

asio::awaitable<bool> Exchange::list() {
  const auto parameters = read_parameters(request_, state_.settings.watch_list);
  if (!parameters) co_return co_await refuse(parameters.error());
  const bool reached = co_await reaches(parameters->revision);
  if (!reached) {
    const StatusAnswer late = too_large_version(parameters->revision, state_.store.revision());
    co_return co_await refuse(late);
  }
  const auto page = answer_list(state_.store, request_.resource->kind, *parameters);
  if (!page) co_return co_await refuse(page.error());
  co_return co_await body(200, list_body(encoding_, *request_.resource, *page));
}

asio::awaitable<bool> Exchange::get() {
  const std::string key =
      request_.name_space.empty() ? request_.name : request_.name_space + "/" + request_.name;
  const StoredObjectPtr found = state_.store.find(request_.resource->kind, key);
  if (!found) return refuse(not_found(*request_.resource, request_.name));
  return body(200, object_body(encoding_, *request_.resource, found->encoded));
}

asio::awaitable<bool> Exchange::watch() {
  const auto parameters = read_parameters(request_, state_.settings.watch_list);
  if (!parameters) co_return co_await refuse(parameters.error());
  const bool initial = parameters->send_initial_events.value_or(false);
  bool reached = true;
  if (initial) reached = co_await reaches(parameters->revision);
  const bool expired =
      !initial && parameters->revision != 0 && parameters->revision < state_.store.compacted();
  if (expired && !state_.settings.expired_in_band) {
    const StatusAnswer gone = expired_watch(parameters->revision, state_.store.compacted());
    co_return co_await refuse(gone);
  }
  const auto loop = co_await asio::this_coro::executor;
  WatchSession session(state_, request_, *parameters, encoding_, loop);
  if (!reached) session.fail(too_large_version(parameters->revision, state_.store.revision()));
  co_return co_await session.run(writer_, connection_, unread_);
}

asio::awaitable<bool> Exchange::reaches(std::uint64_t revision) {
  const TimePoint give_up = later(state_.clock.now(), kPatience);
  while (state_.store.revision() < revision) {
    if (state_.clock.now() >= give_up) co_return false;
    co_await state_.clock.sleep_until(later(state_.clock.now(), kLook));
  }
  co_return true;
}

asio::awaitable<bool> Exchange::text(int status, std::string bytes) {
  Headers headers{{"Content-Type", "text/plain; charset=utf-8"}};
  return writer_.answer(status, std::move(headers), std::move(bytes));
}

asio::awaitable<bool> Exchange::refuse(const StatusAnswer& status) {
  Headers headers{{"Content-Type", content_type(encoding_, false)}};
  if (status.retry_after_seconds > 0) {
    headers.emplace_back("Retry-After", std::to_string(status.retry_after_seconds));
  }
  return writer_.answer(status.code, std::move(headers), status_body(encoding_, status));
}

asio::awaitable<bool> Exchange::body(int status, std::string bytes) {
  Headers headers{{"Content-Type", content_type(encoding_, false)}};
  if (state_.settings.gzip_members > 0 &&
      request_.header("accept-encoding").find("gzip") != std::string::npos) {
    headers.emplace_back("Content-Encoding", "gzip");
    bytes = gzipped(bytes, state_.settings.gzip_members);
  }
  return writer_.answer(status, std::move(headers), std::move(bytes));
}

}  // namespace mkp::api
