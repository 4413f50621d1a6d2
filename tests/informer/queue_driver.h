#pragma once

#include <string>
#include <utility>

#include "informer/delta_fifo.h"
#include "informer/fifo.h"
#include "informer/queue.h"
#include "tests/fakes/test_object.h"

namespace mkp {

inline ObjectPtr newest_of(const ObjectPtr& item) { return item; }
inline ObjectPtr newest_of(const Deltas& item) { return item.newest()->object; }

inline std::string text_of(const ObjectPtr& item) { return text(item); }
inline std::string text_of(const Deltas& item) { return text(item); }

template <class Item>
Processed done(const Item&, bool) {
  return Result<>();
}

// What the next item says, "empty" when there is none, or why none will come.
template <class Item>
std::string pop_text(Queue<Item>& queue) {
  const auto popped = queue.try_pop(done<Item>);
  if (!popped) return popped.error().what;
  return *popped ? text_of((*popped)->item) : "empty";
}

// The newest object of the next item.
template <class Item>
std::string pop_newest(Queue<Item>& queue) {
  const auto popped = queue.try_pop(done<Item>);
  if (!popped) return popped.error().what;
  return *popped ? text(newest_of((*popped)->item)) : "empty";
}

}  // namespace mkp
