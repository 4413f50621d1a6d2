#include "proxy/slot_table.h"

#include <algorithm>
#include <bit>

namespace mkp {
namespace {

// How many slots `endpoints` get, having had `before`.
std::uint32_t next_size(std::uint32_t before, std::size_t endpoints) {
  if (endpoints == 0) return 0;
  const std::uint32_t least = slots_for(endpoints);
  if (least >= before || before <= 4) return std::max(least, before);
  return endpoints * 8 <= static_cast<std::size_t>(before) * 3 ? std::max(least, 4U) : before;
}

}  // namespace

std::vector<Endpoint> SlotTable::endpoints() const {
  std::vector<Endpoint> taken;
  for (const Endpoint& slot : slots) {
    if (!empty(slot)) taken.push_back(slot);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

bool SlotTable::valid() const {
  if (!std::has_single_bit(slots.size()) || slots.size() == 2 || empty(slots.front())) return false;
  const std::vector<Endpoint> taken = endpoints();
  return std::adjacent_find(taken.begin(), taken.end()) == taken.end();
}

std::uint32_t slots_for(std::size_t endpoints) {
  if (endpoints <= 1) return static_cast<std::uint32_t>(endpoints);
  return std::max(4U, static_cast<std::uint32_t>(std::bit_ceil(endpoints)));
}

SlotTable place(const SlotTable& before, const std::vector<Endpoint>& endpoints) {
  SlotTable after;
  after.slots.resize(next_size(before.size(), endpoints.size()));
  std::vector<bool> seated(endpoints.size());
  for (std::size_t i = 0; i < std::min(before.slots.size(), after.slots.size()); ++i) {
    const auto stays = std::lower_bound(endpoints.begin(), endpoints.end(), before.slots[i]);
    if (stays == endpoints.end() || *stays != before.slots[i]) continue;
    after.slots[i] = *stays;
    seated[static_cast<std::size_t>(stays - endpoints.begin())] = true;
  }
  std::size_t free = 0;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (seated[i]) continue;
    while (!SlotTable::empty(after.slots[free])) ++free;
    after.slots[free] = endpoints[i];
  }
  if (!after.slots.empty() && SlotTable::empty(after.slots.front())) {
    const auto last = std::find_if_not(after.slots.rbegin(), after.slots.rend(), SlotTable::empty);
    std::swap(after.slots.front(), *last);
  }
  return after;
}

}  // namespace mkp
