#include "informer/http_response.h"

#include <fmt/format.h>

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>
#include <utility>

#include "informer/gzip.h"

namespace mkp {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeadLimit = 65536;
constexpr std::int64_t kLongestRetryAfter = 3600;

std::optional<std::chrono::seconds> seconds_of(std::string_view text) {
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc{} || stop != end || seconds < 0 || seconds > kLongestRetryAfter) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

// A body that is appended to a string as it comes. Unlike Beast's string_body it believes no
// Content-Length before the bytes are there.
struct AppendedBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(http::header<isRequest, Fields>&, std::string& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>&, boost::beast::error_code& error) {
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (const auto& buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }
    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    std::string& body_;
  };
};

}  // namespace

struct HttpResponse::State {
  http::response_parser<AppendedBody> parser;
  std::optional<HttpHead> head;
  std::optional<Gunzip> gunzip;
  std::string unparsed;  // a head that is not complete yet
  std::string body;
};

HttpResponse::HttpResponse(Body body) : state_(std::make_unique<State>()) {
  state_->parser.body_limit(boost::none);
  state_->parser.header_limit(kHeadLimit);
  state_->parser.eager(true);
  state_->parser.skip(body == Body::None);
}
HttpResponse::HttpResponse(HttpResponse&&) noexcept = default;
HttpResponse& HttpResponse::operator=(HttpResponse&&) noexcept = default;
HttpResponse::~HttpResponse() = default;

const std::optional<HttpHead>& HttpResponse::head() const { return state_->head; }
std::string HttpResponse::take_body() { return std::exchange(state_->body, {}); }
bool HttpResponse::has_ended() const { return state_->parser.is_done(); }
bool HttpResponse::keeps_connection() const { return has_ended() && state_->parser.keep_alive(); }

Result<std::size_t> HttpResponse::put(std::string_view bytes) {
  State& state = *state_;
  const std::size_t held = state.unparsed.size();
  // The parser wants what it did not take once more, with more behind it.
  if (held != 0) state.unparsed.append(bytes);
  const std::string_view all = held != 0 ? std::string_view(state.unparsed) : bytes;
  std::size_t taken = 0;
  while (taken < all.size() && !state.parser.is_done()) {
    boost::beast::error_code error;
    const std::string_view rest = all.substr(taken);
    const std::size_t used = state.parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    taken += used;
    if (error == http::error::need_more) {
      if (used == 0) break;
      continue;
    }
    if (error) return fail(Errc::Invalid, "the answer is no proper HTTP: " + error.message());
    if (used == 0) break;
  }
  if (state.parser.is_header_done() && !state.head) {
    const auto& message = state.parser.get();
    HttpHead head;
    head.status = static_cast<int>(message.result_int());
    head.content_type = std::string(message[http::field::content_type]);
    head.gzip = boost::beast::iequals(message[http::field::content_encoding], "gzip");
    head.retry_after = seconds_of(std::string(message[http::field::retry_after]));
    head.warning = std::string(message[http::field::warning]);
    if (const auto length = state.parser.content_length()) head.content_length = *length;
    if (head.gzip) state.gunzip.emplace();
    state.head = std::move(head);
  }
  // What comes behind the answer is nobody's; what belongs to it and is not parsed is kept.
  const std::size_t of_ours = state.parser.is_done() ? taken : all.size();
  std::string rest(all.substr(taken, of_ours - taken));
  if (rest.size() > kHeadLimit) {
    return fail(Errc::Invalid, "the answer is no proper HTTP: a head or chunk head without end");
  }
  state.unparsed = std::move(rest);
  std::string body = std::exchange(state.parser.get().body(), {});
  if (Result<> inflated = inflate(std::move(body)); !inflated) {
    return tl::unexpected<Error>(std::move(inflated.error()));
  }
  return of_ours - held;
}

Result<> HttpResponse::inflate(std::string bytes) {
  if (!state_->gunzip) {
    if (state_->body.empty()) {
      state_->body = std::move(bytes);
    } else {
      state_->body += bytes;
    }
    return {};
  }
  return state_->gunzip->put(bytes, state_->body);
}

Result<> HttpResponse::put_end() {
  State& state = *state_;
  boost::beast::error_code error;
  if (state.unparsed.empty() && state.parser.got_some()) state.parser.put_eof(error);
  const bool whole = state.parser.is_done() && !error && !(state.gunzip && state.gunzip->is_open());
  if (whole) return {};
  return fail(Errc::Unreachable, state.head ? "the connection ended in the middle of an answer"
                                            : "the connection ended before an answer");
}

}  // namespace mkp
