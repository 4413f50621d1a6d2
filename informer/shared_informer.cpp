#include "informer/shared_informer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <memory>
#include <utility>

namespace mkp {

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

constexpr Duration kMinimumResyncPeriod = 1s;

// An update that changes nothing is for those only who asked to see everything again.
bool is_sync(const Notification& what, DeltaType why) {
  if (what.type != Notification::Type::Update) return false;
  if (why == DeltaType::Sync) return true;
  if (why != DeltaType::Replaced) return false;
  const ObjectMeta* before = what.old->meta();
  const ObjectMeta* after = what.object->meta();
  return before != nullptr && after != nullptr &&
         before->resource_version == after->resource_version;
}

}  // namespace

SharedInformer::SharedInformer(ObjectSource& source, Clock& clock, Options options)
    : source_(source),
      clock_(clock),
      options_(std::move(options)),
      resync_check_period_(options_.default_resync_period),
      indexer_(Indexer::Options{options_.key, options_.indexers, {}}) {}

asio::awaitable<void> SharedInformer::run() {
  if (state_ != State::New) {
    spdlog::warn("{}: the informer has been started already", options_.name);
    co_return;
  }
  state_ = State::Running;
  queue_.emplace(DeltaFifo::Options{options_.key, &indexer_, true, transformer_});
  controller_.emplace(*queue_, source_, clock_, controller_options());
  const auto stop = [](SharedInformer* self) { self->stop(); };
  const std::unique_ptr<SharedInformer, decltype(stop)> at_the_end(this, stop);
  co_await (controller_->run() && deliver() && announce_sync());
}

Controller::Options SharedInformer::controller_options() {
  Controller::Options options;
  options.reflector.name = options_.name;
  options.reflector.expects = options_.expects;
  options.reflector.resync_period = resync_check_period_;
  options.reflector.should_resync = [this] { return should_resync(); };
  options.reflector.on_watch_error = on_watch_error_;
  options.reflector.backoff = options_.backoff;
  options.reflector.on_relist = options_.on_relist;
  options.process = [this, notify = Notify([this](const Notification& what, DeltaType why) {
                             distribute(what, why);
                           })](const Deltas& deltas, bool is_in_initial_list) -> Processed {
    return process_deltas(indexer_, deltas, is_in_initial_list, notify);
  };
  return options;
}

void SharedInformer::stop() {
  state_ = State::Stopped;
  synced_.abandon();
  for (const Registration& listener : listeners_) listener->remove();
}

asio::awaitable<void> SharedInformer::announce_sync() {
  const bool synced = co_await controller_->synced().wait();
  if (!synced) co_return;
  synced_.set();
  // A copy, as whoever waits for a listener may remove it.
  const std::vector<Registration> listeners = listeners_;
  for (const Registration& listener : listeners) listener->upstream_has_synced();
}

asio::awaitable<void> SharedInformer::deliver() {
  for (;;) {
    deliver_pending();
    co_await undelivered_.wait();
  }
}

// Handlers may add and remove handlers while they are called, so that no iterator is safe.
void SharedInformer::deliver_pending() {
  const auto next = [this] {
    return std::find_if(listeners_.begin(), listeners_.end(),
                        [](const Registration& listener) { return listener->has_pending(); });
  };
  for (auto found = next(); found != listeners_.end(); found = next()) {
    const Registration listener = *found;
    while (listener->deliver_one()) {
    }
  }
}

void SharedInformer::distribute(const Notification& what, DeltaType why) {
  const bool sync = is_sync(what, why);
  for (const Registration& listener : listeners_) {
    if (!sync || listener->is_syncing()) listener->enqueue(what);
  }
  undelivered_.notify();
}

bool SharedInformer::has_pending() const {
  if (state_ != State::Running) return false;
  return !queue_->empty() ||
         std::any_of(listeners_.begin(), listeners_.end(),
                     [](const Registration& listener) { return listener->has_pending(); });
}

std::string SharedInformer::last_sync_resource_version() const {
  return controller_ ? controller_->last_sync_resource_version() : "";
}

Result<> SharedInformer::add_indexers(const Indexers& more) {
  if (is_stopped()) {
    return fail(Errc::Invalid, "indexer was not added because it has stopped already");
  }
  return indexer_.add_indexers(more);
}

Result<SharedInformer::Registration> SharedInformer::add_event_handler(
    ResourceEventHandler& handler) {
  return add_event_handler(handler, options_.default_resync_period);
}

Result<SharedInformer::Registration> SharedInformer::add_event_handler(
    ResourceEventHandler& handler, Duration resync_period) {
  if (is_stopped()) {
    return fail(
        Errc::Invalid,
        options_.name + " handler was not added to shared informer because it has stopped already");
  }
  const Duration period = admit_resync_period(resync_period);
  Registration listener =
      std::make_shared<Listener>(handler, period, resync_check_period_, clock_.now());
  listeners_.push_back(listener);
  for (ObjectPtr& object : indexer_.list()) {
    listener->enqueue(Notification{Notification::Type::Add, nullptr, std::move(object), true});
  }
  if (has_synced()) listener->upstream_has_synced();
  undelivered_.notify();
  return listener;
}

Duration SharedInformer::admit_resync_period(Duration desired) {
  if (desired == Duration::zero()) return desired;
  if (desired < kMinimumResyncPeriod) {
    spdlog::warn("{}: a handler's resync period is raised to a second", options_.name);
    desired = kMinimumResyncPeriod;
  }
  if (desired >= resync_check_period_) return desired;
  if (state_ == State::Running) {
    spdlog::warn("{}: a handler's resync period is raised to what the informer started with",
                 options_.name);
    return resync_check_period_;
  }
  resync_check_period_ = desired;
  for (const Registration& listener : listeners_) listener->determine_resync_period(desired);
  return desired;
}

void SharedInformer::remove_event_handler(const Registration& registration) {
  const auto found = std::find(listeners_.begin(), listeners_.end(), registration);
  if (found == listeners_.end()) return;
  registration->remove();
  listeners_.erase(found);
}

bool SharedInformer::should_resync() {
  bool any = false;
  const TimePoint now = clock_.now();
  for (const Registration& listener : listeners_) any = listener->should_resync(now) || any;
  return any;
}

Result<> SharedInformer::set_transform(Transformer transformer) {
  if (state_ != State::New) return fail(Errc::Invalid, "informer has already started");
  transformer_ = std::move(transformer);
  return {};
}

Result<> SharedInformer::set_watch_error_handler(std::function<void(const Error&)> handler) {
  if (state_ != State::New) return fail(Errc::Invalid, "informer has already started");
  on_watch_error_ = std::move(handler);
  return {};
}

}  // namespace mkp
