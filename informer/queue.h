#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "informer/store.h"

namespace mkp {

// What pop() fails with once a queue is closed and empty.
inline constexpr const char* kFifoClosed = "DeltaFIFO: manipulating with closed queue";

// A process function's wish to have the item back in the queue, at its end. Without a cause nothing
// went wrong.
class Requeue {
 public:
  Requeue() = default;
  explicit Requeue(Error cause) : cause_(std::move(cause)) {}
  const std::optional<Error>& cause() const { return cause_; }

 private:
  std::optional<Error> cause_;
};

inline std::string to_text(const Requeue& requeue) {
  const std::optional<Error>& cause = requeue.cause();
  return cause ? cause->what : "the popped item should be requeued without returning an error";
}

// What became of an item.
using Processed = std::variant<Result<>, Requeue>;

// A queue of keys, each with one accumulator of what happened to it; popped in first-seen order. A
// monitor: any thread may call anything. A process function runs under the lock, so that it and
// what it writes to move in step with the queue: it must be quick, and must not call the queue.
template <class Item>
class Queue : public ReflectorStore {
 public:
  // `is_in_initial_list`: the queue had not yet given out all of its first replace().
  using Process = std::function<Processed(const Item& item, bool is_in_initial_list)>;
  struct Popped {
    Item item;
    Result<> outcome;  // of the process function
  };

  // Queues what `object` stands for, unless its key is queued already.
  virtual Result<> add_if_not_present(const ObjectPtr& object) = 0;

  // Waits for an item. Fails when the queue is closed and empty.
  Result<Popped> pop(const Process& process);
  // Does not wait: nothing when the queue is empty.
  Result<std::optional<Popped>> try_pop(const Process& process);

  // Called after something was queued or the queue was closed, on the thread that did it and
  // outside the lock: how a loop that must not block learns of it. Set once, before the first
  // producer starts.
  void on_queued(std::function<void()> wake);

  // The first replace(), or whatever came before it, has been popped.
  bool has_synced() const;
  bool empty() const;

  // Wakes those who wait. What is queued can still be popped, and even added to.
  void close();
  bool is_closed() const;

  // In the order of the queue.
  std::vector<std::string> list_keys() const;
  // A copy, which later changes do not reach.
  std::optional<Item> get_by_key(const std::string& key) const;

 protected:
  using Lock = std::unique_lock<std::mutex>;

  Lock lock() const { return Lock(mutex_); }
  // The lock is given up before the consumer hears of it.
  void notify(Lock held);
  // The accumulator of `key`, queued at the end when it is new. Needs the lock, as all below.
  Item& accumulator(const std::string& key);
  bool has_synced_locked() const { return populated_ && initial_population_count_ == 0; }

  std::unordered_map<std::string, Item> items_;
  std::deque<std::string> queue_;
  bool populated_ = false;
  std::size_t initial_population_count_ =
      0;  // what the first replace() queued and nobody has popped

 private:
  std::optional<Popped> take(const Process& process);
  Result<> settle(const std::string& key, const Item& item, Processed processed);

  mutable std::mutex mutex_;
  std::condition_variable queued_;  // shares the mutex with closed_, or a close() could go unheard
  bool closed_ = false;
  std::function<void()> wake_;
};

template <class Item>
Result<typename Queue<Item>::Popped> Queue<Item>::pop(const Process& process) {
  Lock held = lock();
  for (;;) {
    if (std::optional<Popped> popped = take(process)) return std::move(*popped);
    if (closed_) return fail(Errc::Unavailable, kFifoClosed);
    queued_.wait(held);
  }
}

template <class Item>
Result<std::optional<typename Queue<Item>::Popped>> Queue<Item>::try_pop(const Process& process) {
  const Lock held = lock();
  std::optional<Popped> popped = take(process);
  if (!popped && closed_) return fail(Errc::Unavailable, kFifoClosed);
  return popped;
}

template <class Item>
std::optional<typename Queue<Item>::Popped> Queue<Item>::take(const Process& process) {
  while (!queue_.empty()) {
    const bool is_in_initial_list = !has_synced_locked();
    const std::string key = std::move(queue_.front());
    queue_.pop_front();
    if (initial_population_count_ > 0) --initial_population_count_;
    auto found = items_.extract(key);
    if (!found) continue;  // deleted since it was queued
    Popped popped{std::move(found.mapped()), {}};
    popped.outcome = settle(key, popped.item, process(popped.item, is_in_initial_list));
    return popped;
  }
  return std::nullopt;
}

template <class Item>
Result<> Queue<Item>::settle(const std::string& key, const Item& item, Processed processed) {
  if (auto* outcome = std::get_if<Result<>>(&processed)) return std::move(*outcome);
  if (items_.try_emplace(key, item).second) queue_.push_back(key);
  queued_.notify_all();
  const std::optional<Error>& cause = std::get<Requeue>(processed).cause();
  if (cause) return tl::unexpected<Error>(*cause);
  return {};
}

template <class Item>
void Queue<Item>::on_queued(std::function<void()> wake) {
  const Lock held = lock();
  wake_ = std::move(wake);
}

template <class Item>
bool Queue<Item>::has_synced() const {
  const Lock held = lock();
  return has_synced_locked();
}

template <class Item>
bool Queue<Item>::empty() const {
  const Lock held = lock();
  return items_.empty();
}

template <class Item>
void Queue<Item>::close() {
  Lock held = lock();
  closed_ = true;
  notify(std::move(held));
}

template <class Item>
bool Queue<Item>::is_closed() const {
  const Lock held = lock();
  return closed_;
}

template <class Item>
std::vector<std::string> Queue<Item>::list_keys() const {
  const Lock held = lock();
  std::vector<std::string> keys;
  keys.reserve(items_.size());
  for (const std::string& key : queue_) {
    if (items_.contains(key)) keys.push_back(key);
  }
  return keys;
}

template <class Item>
std::optional<Item> Queue<Item>::get_by_key(const std::string& key) const {
  const Lock held = lock();
  const auto found = items_.find(key);
  if (found == items_.end()) return std::nullopt;
  return found->second;
}

template <class Item>
void Queue<Item>::notify(Lock held) {
  held.unlock();
  queued_.notify_all();
  if (wake_) wake_();
}

template <class Item>
Item& Queue<Item>::accumulator(const std::string& key) {
  const auto [slot, is_new] = items_.try_emplace(key);
  if (is_new) queue_.push_back(key);
  return slot->second;
}

}  // namespace mkp
