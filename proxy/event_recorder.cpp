#include "proxy/event_recorder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <random>
#include <utility>

#include "configs/json_text.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostWaiting = 64;
constexpr Duration kSameEvent = 6min;
constexpr std::size_t kNoteLimit = 1024;  // the API's
constexpr std::size_t kAnswerLimit = 1 << 20;
constexpr Duration kFlushLimit = 2s;

// RFC 3339 with exactly six digits of a second's fraction: the API's MicroTime.
std::string micro_time(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds);
  std::string text = to_text(WallTime(seconds));
  text.pop_back();  // the Z
  return fmt::format("{}.{:06}Z", text, micros.count());
}

std::string regarding(const ClusterEvent& event, const std::string& node_name) {
  if (event.service.name.empty()) {
    return fmt::format(R"({{"kind":"Node","apiVersion":"v1","name":{}}})", json_quoted(node_name));
  }
  return fmt::format(R"({{"kind":"Service","apiVersion":"v1","namespace":{},"name":{}}})",
                     json_quoted(event.service.name_space), json_quoted(event.service.name));
}

std::string name_space_of(const ClusterEvent& event) {
  return event.service.name.empty() ? "default" : event.service.name_space;
}

}  // namespace

std::string to_json(const ClusterEvent& event, const std::string& node_name, WallTime time,
                    std::uint64_t unique) {
  const std::string& object = event.service.name.empty() ? node_name : event.service.name;
  const bool warning = event.type == ClusterEvent::Type::Warning;
  return fmt::format(
      R"({{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{{"name":{},"namespace":{}}},)"
      R"("eventTime":"{}","reportingController":"kube-proxy","reportingInstance":{},"action":{},)"
      R"("reason":{},"regarding":{},"note":{},"type":"{}"}})",
      json_quoted(fmt::format("{}.{:x}", object, unique)), json_quoted(name_space_of(event)),
      micro_time(time), json_quoted("kube-proxy-" + node_name), json_quoted(event.action),
      json_quoted(event.reason), regarding(event, node_name),
      json_quoted(event.note.substr(0, kNoteLimit)), warning ? "Warning" : "Normal");
}

EventRecorder::EventRecorder(ApiClient& client, std::string node_name, Clock& clock)
    : client_(client), node_name_(std::move(node_name)), clock_(clock) {}

void EventRecorder::note(ClusterEvent event) {
  const TimePoint now = clock_.now();
  std::erase_if(told_, [now](const auto& told) { return now - told.second >= kSameEvent; });
  if (waiting_.size() >= kMostWaiting || !told_.emplace(event, now).second) return;
  waiting_.push_back(std::move(event));
  noted_.notify();
}

asio::awaitable<void> EventRecorder::run() {
  for (;;) {
    while (waiting_.empty()) co_await noted_.wait();
    ClusterEvent event = std::move(waiting_.front());
    waiting_.pop_front();
    sending_ = true;
    co_await send(std::move(event));
    sending_ = false;
    sent_.notify();
  }
}

asio::awaitable<void> EventRecorder::flush() {
  using namespace asio::experimental::awaitable_operators;
  co_await (wait_until_sent() || clock_.sleep_until(later(clock_.now(), kFlushLimit)));
}

asio::awaitable<void> EventRecorder::wait_until_sent() {
  while (sending_ || !waiting_.empty()) co_await sent_.wait();
}

asio::awaitable<void> EventRecorder::send(ClusterEvent event) {
  ApiRequest request;
  request.method = "POST";
  request.path = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", name_space_of(event));
  request.content_type = "application/json";
  const auto ticks = static_cast<std::uint64_t>(wall_now().time_since_epoch().count());
  request.body = to_json(event, node_name_, wall_now(), ticks);
  const Result<std::unique_ptr<ApiAnswer>> answer = co_await client_.send(std::move(request));
  if (!answer) {
    spdlog::debug("the event {} was not taken: {}", event.reason, answer.error().what);
    co_return;
  }
  // To its end, so that the connection can be used again.
  (void)co_await (*answer)->read_all(kAnswerLimit);
}

}  // namespace mkp
