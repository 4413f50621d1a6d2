#include "informer/manifest_feed.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "informer/signal.h"

namespace mkp {

namespace {

constexpr std::size_t kHistory = 4096;

std::optional<std::uint64_t> reading_number(const std::string& version) {
  std::uint64_t number = 0;
  const char* end = version.data() + version.size();
  const auto [stop, error] = std::from_chars(version.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

class ManifestFeed::Stream final : public EventStream {
 public:
  Stream(ManifestFeed& feed, std::uint64_t from) : feed_(feed), position_(from), taken_(from) {
    feed_.streams_.insert(this);
  }
  ~Stream() override {
    feed_.streams_.erase(this);
    feed_.progress_();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  asio::awaitable<Result<std::optional<WatchEvent>>> next() override {
    taken_ = position_;
    while (position_ == feed_.end()) {
      feed_.progress_();
      co_await arrived_.wait();
    }
    if (position_ < feed_.first_) {
      co_return fail(Errc::Expired, "watch manifests: more has happened than is remembered");
    }
    WatchEvent event = feed_.events_[position_ - feed_.first_];
    ++position_;
    co_return std::optional<WatchEvent>(std::move(event));
  }

  void wake() { arrived_.notify(); }
  std::uint64_t taken() const { return taken_; }

 private:
  ManifestFeed& feed_;
  std::uint64_t position_;  // number of the next event
  std::uint64_t taken_;     // events before this are dealt with: the next one has been asked for
  Signal arrived_;
};

ManifestFeed::ManifestFeed(List objects, std::function<void()> progress)
    : objects_(std::move(objects)), progress_(std::move(progress)) {}

asio::awaitable<Result<Listing>> ManifestFeed::list(ListQuery query) {
  if (reading_ == 0)
    co_return fail(Errc::Unavailable, "list manifests: they have not been read yet");
  const std::uint64_t least = reading_number(query.resource_version).value_or(0);
  if (least > reading_) {
    co_return fail(Errc::Unavailable,
                   "list manifests: version " + query.resource_version + " is yet to come");
  }
  Listing listing;
  listing.objects = objects_();
  listing.resource_version = std::to_string(reading_);
  co_return std::move(listing);
}

asio::awaitable<Result<std::unique_ptr<EventStream>>> ManifestFeed::watch(WatchQuery query) {
  const std::optional<std::uint64_t> from = reading_number(query.resource_version);
  if (!from || *from == 0 || *from < base_ || *from > reading_) {
    co_return fail(Errc::Expired,
                   "watch manifests: version \"" + query.resource_version + "\" is not remembered");
  }
  std::uint64_t position = first_;
  for (const Reading& reading : readings_) {
    if (reading.number <= *from) position = reading.end;
  }
  co_return std::unique_ptr<EventStream>(std::make_unique<Stream>(*this, position));
}

void ManifestFeed::add_reading(std::uint64_t reading, std::vector<WatchEvent> events) {
  const std::string before = std::to_string(reading_);
  reading_ = reading;
  if (base_ == 0) {
    // Nobody can have a version from before the first reading: its events are its listing.
    base_ = reading;
    return;
  }
  if (events.empty()) return;
  for (WatchEvent& event : events) event.resource_version = before;
  events.back().resource_version = std::to_string(reading);
  std::move(events.begin(), events.end(), std::back_inserter(events_));
  readings_.push_back({reading, end()});
  while (readings_.size() > 1 && events_.size() > kHistory) {
    base_ = readings_.front().number;
    while (first_ < readings_.front().end) {
      events_.pop_front();
      ++first_;
    }
    readings_.pop_front();
  }
  for (Stream* stream : streams_) stream->wake();
}

bool ManifestFeed::is_taken(std::uint64_t end) const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [end](const Stream* stream) { return stream->taken() >= end; });
}

}  // namespace mkp
