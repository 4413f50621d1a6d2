#include "proxy/cluster_feed.h"

#include <spdlog/spdlog.h>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cstdlib>
#include <utility>

#include "informer/keys.h"

namespace mkp {
namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

// How long rules wait for what they can be made without.
constexpr Duration kPatience = 5s;

// The object as its kind; what a tombstone last knew; null, and a word in the log, for anything
// else.
template <class Kind>
std::shared_ptr<const Kind> as(const ObjectPtr& object) {
  ObjectPtr last_known = object;
  if (const auto* tombstone = dynamic_cast<const DeletedFinalStateUnknown*>(object.get())) {
    last_known = tombstone->object;
  }
  auto typed = std::dynamic_pointer_cast<const Kind>(last_known);
  if (!typed) {
    spdlog::error(
        "an informer gave an object of another kind than its own; the object is passed over: "
        "report this bug");
  }
  return typed;
}

// Handlers that tell a tracker of before and after, and call `told`.
template <class Kind, class Tracker>
ResourceEventHandlerFuncs::Functions tell(Tracker& tracker, const std::function<void()>& told) {
  const auto note = [&tracker, &told](const ObjectPtr& before, const ObjectPtr& after) {
    tracker.note(before ? as<Kind>(before) : nullptr, after ? as<Kind>(after) : nullptr);
    told();
  };
  return {
      [note](const ObjectPtr& object, bool) { note(nullptr, object); },
      [note](const ObjectPtr& old, const ObjectPtr& object) { note(old, object); },
      [note](const ObjectPtr& object) { note(object, nullptr); },
  };
}

// Returns once all of a kind has been told, or will not be.
asio::awaitable<void> answered(const Listener& registration, const FeedTrouble& trouble) {
  co_await (registration.synced().wait() || trouble.wait_until_refused());
}

// An informer that has not been started takes every handler.
void report_to(FeedTrouble& trouble, SharedInformer& informer) {
  const auto note = [&trouble](const Error& error) { trouble.note(error); };
  if (!informer.set_watch_error_handler(note)) std::abort();
}

// A handler of an informer that has not been started is always taken.
SharedInformer::Registration registered(Result<SharedInformer::Registration> registration) {
  if (!registration) std::abort();
  return *registration;
}

}  // namespace

template <class Kind>
SharedInformer::Options ClusterFeed::informer_options(ObjectKind kind) {
  SharedInformer::Options options;
  options.name = std::string(to_text(kind));
  options.expects = [](const Object& object) {
    return dynamic_cast<const Kind*>(&object) != nullptr;
  };
  options.on_relist = [this, kind] { on_relist_(kind); };
  return options;
}

ClusterFeed::ClusterFeed(const Sources& sources, Clock& clock, std::string node_name,
                         std::optional<IpAddress> bind_address)
    : node_(std::move(node_name), bind_address),
      clock_(clock),
      service_trouble_(ObjectKind::Service, clock),
      slice_trouble_(ObjectKind::EndpointSlice, clock),
      node_trouble_(ObjectKind::Node, clock),
      cidr_trouble_(ObjectKind::ServiceCidr, clock),
      service_handler_(tell<Service>(services_, on_change_)),
      slice_handler_(tell<EndpointSlice>(endpoints_, on_change_)),
      node_handler_(tell<Node>(node_, on_change_)),
      cidr_handler_(tell<ServiceCidr>(node_, on_change_)),
      service_informer_(sources(ObjectKind::Service), clock,
                        informer_options<Service>(ObjectKind::Service)),
      slice_informer_(sources(ObjectKind::EndpointSlice), clock,
                      informer_options<EndpointSlice>(ObjectKind::EndpointSlice)),
      node_informer_(sources(ObjectKind::Node), clock, informer_options<Node>(ObjectKind::Node)),
      cidr_informer_(sources(ObjectKind::ServiceCidr), clock,
                     informer_options<ServiceCidr>(ObjectKind::ServiceCidr)),
      service_registration_(registered(service_informer_.add_event_handler(service_handler_))),
      slice_registration_(registered(slice_informer_.add_event_handler(slice_handler_))),
      node_registration_(registered(node_informer_.add_event_handler(node_handler_))),
      cidr_registration_(registered(cidr_informer_.add_event_handler(cidr_handler_))) {
  report_to(service_trouble_, service_informer_);
  report_to(slice_trouble_, slice_informer_);
  report_to(node_trouble_, node_informer_);
  report_to(cidr_trouble_, cidr_informer_);
}

asio::awaitable<void> ClusterFeed::run() {
  co_await (service_informer_.run() && slice_informer_.run() && node_informer_.run() &&
            cidr_informer_.run());
}

asio::awaitable<void> ClusterFeed::wait_for_sync() {
  co_await (service_registration_->synced().wait() && slice_registration_->synced().wait());
  const TimePoint patience = later(clock_.now(), kPatience);
  co_await ((answered(*node_registration_, node_trouble_) &&
             answered(*cidr_registration_, cidr_trouble_)) ||
            clock_.sleep_until(patience));
}

bool ClusterFeed::has_pending() const {
  return service_informer_.has_pending() || slice_informer_.has_pending() ||
         node_informer_.has_pending() || cidr_informer_.has_pending();
}

ClusterChanges ClusterFeed::take() { return {services_.take(), endpoints_.take(), node_.take()}; }

void ClusterFeed::note_addresses(std::vector<IpAddress> addresses) {
  node_.note_addresses(std::move(addresses));
  on_change_();
}

}  // namespace mkp
