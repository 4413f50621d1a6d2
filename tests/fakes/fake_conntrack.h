#pragma once

#include <boost/asio.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "netlink/conntrack.h"

namespace mkp {

// Connection tracking in memory. It and the kernel pass one contract suite,
// tests/netlink/conntrack_contract.h; where they differ, this one is wrong.
class FakeConntrack final : public Conntrack {
 public:
  // What has been asked for, whether it was done or not.
  struct Counters {
    std::size_t visits = 0;
    std::size_t forgets = 0;
  };

  asio::awaitable<Result<>> visit_udp(IpFamily family, Visit visit) override {
    ++counters_.visits;
    const std::optional<Error> failure = std::exchange(visit_failure_, std::nullopt);
    const std::function<void()> amid = std::exchange(amid_visit_, nullptr);
    const std::vector<UdpFlow> all = flows();
    std::size_t shown = 0;
    for (const UdpFlow& flow : all) {
      if (flow.source.ip.family != family) continue;
      // Gone since the visit began.
      const auto entry = entries_.find(ends_of(flow));
      if (entry != entries_.end() && entry->second == flow.id) visit(flow);
      if (++shown % kPortion == 0) co_await take_turns();
    }
    if (amid) amid();
    co_await take_turns();
    if (failure) co_return tl::unexpected<Error>(*failure);
    co_return Result<>();
  }

  asio::awaitable<Result<std::size_t>> forget(std::vector<UdpFlow> flows) override {
    ++counters_.forgets;
    if (const std::optional<Error> failure = std::exchange(forget_failure_, std::nullopt)) {
      co_return tl::unexpected<Error>(*failure);
    }
    std::size_t forgotten = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const auto entry = entries_.find(ends_of(flows[i]));
      if (entry != entries_.end() && entry->second == flows[i].id && !pinned_) {
        entries_.erase(entry);
        ++forgotten;
      }
      if (i % kPortion == kPortion - 1) co_await take_turns();
    }
    co_await take_turns();
    co_return forgotten;
  }

  // With an id of its own. One with that source and destination there is already stays.
  void add(const UdpFlow& flow) { entries_.try_emplace(ends_of(flow), next_id_++); }
  void remove(const UdpFlow& flow) { entries_.erase(ends_of(flow)); }
  std::vector<UdpFlow> flows() const {
    std::vector<UdpFlow> flows;
    flows.reserve(entries_.size());
    for (const auto& [ends, id] : entries_) {
      flows.push_back(ends);
      flows.back().id = id;
    }
    return flows;
  }

  // The next visit shows what there is, and fails with that.
  void fail_next_visit(Error error) { visit_failure_ = std::move(error); }
  // The next forget() fails with that, and forgets nothing.
  void fail_next_forget(Error error) { forget_failure_ = std::move(error); }
  // Happens once the next visit has shown all flows, before it returns.
  void amid_next_visit(std::function<void()> event) { amid_visit_ = std::move(event); }
  // Nothing is forgotten, without a word.
  void pin(bool pinned) { pinned_ = pinned; }

  const Counters& counters() const { return counters_; }

 private:
  static constexpr std::size_t kPortion = 100;

  // Compares as the kernel's table does: by source and destination.
  struct ByEnds {
    bool operator()(const UdpFlow& a, const UdpFlow& b) const {
      return std::pair(a.source, a.destination) < std::pair(b.source, b.destination);
    }
  };
  static UdpFlow ends_of(UdpFlow flow) {
    flow.id = 0;
    return flow;
  }
  static asio::awaitable<void> take_turns() {
    const asio::any_io_executor loop = co_await asio::this_coro::executor;
    co_await asio::post(loop, asio::use_awaitable);
  }

  std::map<UdpFlow, std::uint32_t, ByEnds> entries_;
  std::uint32_t next_id_ = 1;
  Counters counters_;
  std::optional<Error> visit_failure_;
  std::optional<Error> forget_failure_;
  std::function<void()> amid_visit_;
  bool pinned_ = false;
};

}  // namespace mkp
