#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/types.h"

namespace mkp {

// The endpoints of one frontend as the kernel draws them: a packet takes a slot at random and draws
// again while it finds an empty one (ARCHITECTURE.md, "The flat layout"). The number of slots is a
// power of two and slot 0 is never empty, so that most changes of the list leave the number, and
// with it the frontend's verdict, as it was.
struct SlotTable {
  // Size 0, or a power of two; an endpoint with port 0 marks an empty slot.
  std::vector<Endpoint> slots;

  bool operator==(const SlotTable&) const = default;

  std::uint32_t size() const { return static_cast<std::uint32_t>(slots.size()); }
  static bool empty(const Endpoint& slot) { return slot.port == 0; }
  // The endpoints in it, sorted.
  std::vector<Endpoint> endpoints() const;
  // A table that the kernel may use: its size a power of two, slot 0 taken, no endpoint in two
  // slots.
  bool valid() const;
};

// The least number of slots for that many endpoints: 1, 4, 8, 16, ... and 0 for none.
std::uint32_t slots_for(std::size_t endpoints);

// The table for `endpoints` (sorted, unique) that differs least from `before`: who stays keeps the
// slot, who comes takes a free one. Grows when the slots run out, shrinks, never below 4, when at
// most 3/8 of them are taken.
SlotTable place(const SlotTable& before, const std::vector<Endpoint>& endpoints);

}  // namespace mkp
