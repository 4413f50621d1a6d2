#include "informer/controller.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <memory>
#include <utility>

namespace mkp {

using namespace asio::experimental::awaitable_operators;

namespace {

Result<> process_delta(Store& store, const Delta& delta, bool is_in_initial_list,
                       const Notify& notify) {
  if (delta.type == DeltaType::Deleted) {
    Result<> removed = store.remove(delta.object);
    if (!removed) return removed;
    notify(Notification{Notification::Type::Delete, nullptr, delta.object, false}, delta.type);
    return {};
  }
  const Result<ObjectPtr> before = store.get(delta.object);
  if (!before) return tl::unexpected<Error>(before.error());
  if (*before) {
    Result<> updated = store.update(delta.object);
    if (!updated) return updated;
    notify(Notification{Notification::Type::Update, *before, delta.object, false}, delta.type);
    return {};
  }
  Result<> added = store.add(delta.object);
  if (!added) return added;
  notify(Notification{Notification::Type::Add, nullptr, delta.object, is_in_initial_list},
         delta.type);
  return {};
}

}  // namespace

Result<> process_deltas(Store& store, const Deltas& deltas, bool is_in_initial_list,
                        const Notify& notify) {
  for (const Delta& delta : deltas.deltas) {
    Result<> processed = process_delta(store, delta, is_in_initial_list, notify);
    if (!processed) return processed;
  }
  return {};
}

Controller::Controller(DeltaFifo& queue, ObjectSource& source, Clock& clock, Options options)
    : queue_(queue),
      process_(std::move(options.process)),
      reflector_(source, queue, clock, std::move(options.reflector)) {
  queue_.on_queued([this] { queued_.notify(); });
}

asio::awaitable<void> Controller::run() {
  const auto stop = [](Controller* self) {
    self->queue_.on_queued(nullptr);
    self->queue_.close();
    self->synced_.abandon();
  };
  const std::unique_ptr<Controller, decltype(stop)> at_the_end(this, stop);
  co_await (process_queue() && reflector_.run());
}

asio::awaitable<void> Controller::process_queue() {
  while (drain()) {
    if (queue_.has_synced()) synced_.set();
    co_await queued_.wait();
  }
}

bool Controller::drain() {
  for (;;) {
    const Result<std::optional<DeltaFifo::Popped>> next = queue_.try_pop(process_);
    if (!next) return false;
    const std::optional<DeltaFifo::Popped>& popped = *next;
    if (!popped) return true;
    if (!popped->outcome) {
      spdlog::error("a change of the cluster was lost: {}", popped->outcome.error().what);
    }
  }
}

}  // namespace mkp
