#include "informer/api_source.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "informer/api_errors.h"

namespace mkp {
namespace {

using namespace std::chrono_literals;

// More than any list of a cluster; a server that never ends has to end somewhere.
constexpr std::size_t kListLimit = std::size_t{1} << 30;
// A server sends a bookmark about once a minute, so one that is silent for longer has stalled: its
// kernel still answers, which byte_stream.h goes by. To watch on from the last version costs
// little.
constexpr Duration kWatchSilence = 150s;

std::string path_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Service:
      return "/api/v1/services";
    case ObjectKind::EndpointSlice:
      return "/apis/discovery.k8s.io/v1/endpointslices";
    case ObjectKind::Node:
      return "/api/v1/nodes";
    case ObjectKind::ServiceCidr:
      break;
  }
  return "/apis/networking.k8s.io/v1/servicecidrs";
}

const WireFormat* format_of(const HttpHead& head) { return wire_format_of(head.content_type); }

tl::unexpected<Error> unknown_format(const HttpHead& head) {
  return fail(Errc::Invalid, fmt::format("the server answers with the content type \"{}\", which "
                                         "is neither protobuf nor JSON",
                                         head.content_type));
}

// Frames out of an answer's body, as events.
class ApiEventStream final : public EventStream {
 public:
  ApiEventStream(std::unique_ptr<ApiAnswer> answer, const WireFormat& format, ObjectKind kind)
      : answer_(std::move(answer)), format_(format), kind_(kind) {}

  asio::awaitable<Result<std::optional<WatchEvent>>> next() override {
    for (;;) {
      const std::string_view rest = std::string_view(bytes_).substr(start_);
      const Result<std::size_t> size = format_.frame_size(rest, seen_);
      if (!size) co_return fail(size.error(), "unable to decode an event from the watch stream");
      if (*size != 0) co_return decode(rest.substr(0, *size));
      seen_ = rest.size();
      Result<std::optional<std::string>> piece = co_await answer_->read();
      if (!piece) co_return tl::unexpected<Error>(std::move(piece.error()));
      if (!*piece) co_return end(rest);
      bytes_.erase(0, start_);
      start_ = 0;
      bytes_ += **piece;
    }
  }

 private:
  Result<std::optional<WatchEvent>> decode(std::string_view frame) {
    start_ += frame.size();
    seen_ = 0;
    Result<WireEvent> event = format_.decode_event(kind_, frame);
    if (!event) return fail(event.error(), "unable to decode an event from the watch stream");
    if (auto* status = std::get_if<ApiStatus>(&*event)) {
      return tl::unexpected<Error>(to_error(*status));
    }
    return std::optional(std::move(std::get<WatchEvent>(*event)));
  }

  static Result<std::optional<WatchEvent>> end(std::string_view rest) {
    constexpr std::string_view kSpace = " \t\r\n";
    if (rest.find_first_not_of(kSpace) == std::string_view::npos) {
      return std::optional<WatchEvent>();
    }
    return fail(Errc::Unreachable, "the watch ended in the middle of an event");
  }

  std::unique_ptr<ApiAnswer> answer_;
  const WireFormat& format_;
  ObjectKind kind_;
  std::string bytes_;
  std::size_t start_ = 0;  // of the frame to come
  std::size_t seen_ = 0;   // of it, looked at in vain
};

}  // namespace

ApiSource::ApiSource(ApiClient& client, ObjectKind kind, std::string node_name)
    : client_(client), kind_(kind), node_name_(std::move(node_name)) {}

ApiRequest ApiSource::request() const {
  ApiRequest request;
  request.path = path_of(kind_);
  switch (kind_) {
    case ObjectKind::Service:
      request.query.emplace_back("fieldSelector", "spec.clusterIP!=None");
      request.query.emplace_back("labelSelector", "!service.kubernetes.io/service-proxy-name");
      break;
    case ObjectKind::EndpointSlice:
      request.query.emplace_back("labelSelector", "!service.kubernetes.io/headless");
      break;
    case ObjectKind::Node:
      request.query.emplace_back("fieldSelector", "metadata.name=" + node_name_);
      break;
    case ObjectKind::ServiceCidr:
      break;
  }
  return request;
}

asio::awaitable<Result<Listing>> ApiSource::list(ListQuery query) {
  ApiRequest asked = request();
  if (query.limit != 0) asked.query.emplace_back("limit", std::to_string(query.limit));
  if (!query.continue_token.empty()) {
    asked.query.emplace_back("continue", query.continue_token);
  } else if (!query.resource_version.empty()) {
    asked.query.emplace_back("resourceVersion", query.resource_version);
  }
  Result<Listing> listing = co_await read_list(std::move(asked));
  co_return listing;
}

asio::awaitable<Result<Listing>> ApiSource::read_list(ApiRequest request) {
  Result<std::unique_ptr<ApiAnswer>> answer = co_await client_.send(std::move(request));
  if (!answer) co_return tl::unexpected<Error>(std::move(answer.error()));
  const WireFormat* format = format_of((*answer)->head());
  if (format == nullptr) co_return unknown_format((*answer)->head());
  Result<std::string> body = co_await (*answer)->read_all(kListLimit);
  if (!body) co_return tl::unexpected<Error>(std::move(body.error()));
  co_return format->decode_list(kind_, std::move(*body));
}

asio::awaitable<Result<std::unique_ptr<EventStream>>> ApiSource::watch(WatchQuery query) {
  ApiRequest asked = request();
  asked.query.emplace_back("watch", "true");
  asked.query.emplace_back("allowWatchBookmarks", "true");
  if (!query.resource_version.empty()) {
    asked.query.emplace_back("resourceVersion", query.resource_version);
  }
  if (query.initial_events) {
    asked.query.emplace_back("sendInitialEvents", "true");
    asked.query.emplace_back("resourceVersionMatch", "NotOlderThan");
  }
  if (query.timeout > 0s) {
    const std::string seconds = std::to_string(query.timeout.count());
    asked.query.emplace_back("timeoutSeconds", seconds);
    asked.query.emplace_back("timeout", seconds + "s");
  }
  // API server 1.37.2 compresses event by event, and a streaming list of 45,000 Services and as
  // many EndpointSlices took half as long again (list_bench).
  asked.compressible = false;
  asked.body_silence = kWatchSilence;
  Result<std::unique_ptr<ApiAnswer>> answer = co_await client_.send(std::move(asked));
  if (!answer) co_return tl::unexpected<Error>(std::move(answer.error()));
  const WireFormat* format = format_of((*answer)->head());
  if (format == nullptr) co_return unknown_format((*answer)->head());
  co_return std::make_unique<ApiEventStream>(std::move(*answer), *format, kind_);
}

}  // namespace mkp
