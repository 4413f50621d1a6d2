#pragma once

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netlink/conntrack.h"
#include "tests/netlink/conntrack_flows.h"

namespace mkp {

// Connection tracking of a network namespace of its own, empty at first, and how entries get there.
class ConntrackTable {
 public:
  virtual ~ConntrackTable() = default;
  virtual Conntrack& conntrack() = 0;
  // The flows' ids are the table's to give.
  virtual void add(const std::vector<UdpFlow>& flows) = 0;
  // A connection with the same ends.
  virtual void add_tcp(const UdpFlow& ends) = 0;
  virtual void add_in_zone(const UdpFlow& flow, std::uint16_t zone) = 0;
  virtual void remove(const UdpFlow& flow) = 0;
  // Removes it and adds it again, with another id.
  virtual void replace(const UdpFlow& flow) = 0;
};

// What connection tracking promises, whoever keeps it. `Maker` has a static
// `std::unique_ptr<ConntrackTable> make()`.
template <class Maker>
class ConntrackContract : public testing::Test {
 protected:
  // What it shows, and how it failed.
  std::string shown(IpFamily family) {
    const std::vector<UdpFlow> flows = visit(family);
    return to_text(flows) + failure_;
  }
  std::vector<UdpFlow> visit(IpFamily family) {
    std::vector<UdpFlow> flows;
    Conntrack::Visit visit = [&flows](const UdpFlow& flow) { flows.push_back(flow); };
    (void)run(table_->conntrack().visit_udp(family, std::move(visit)));
    return flows;
  }
  // The one that is shown with those ends.
  UdpFlow find(const UdpFlow& ends) {
    for (const UdpFlow& flow : visit(ends.source.ip.family)) {
      if (flow.source == ends.source && flow.destination == ends.destination) return flow;
    }
    ADD_FAILURE() << "no flow " << to_text(ends);
    return ends;
  }
  std::size_t forget(std::vector<UdpFlow> flows) {
    return run(table_->conntrack().forget(std::move(flows))).value_or(0);
  }

  template <class T>
  Result<T> run(asio::awaitable<Result<T>> task) {
    std::optional<Result<T>> outcome;
    asio::io_context loop;
    asio::co_spawn(loop, std::move(task), [&outcome](const std::exception_ptr&, Result<T> result) {
      outcome = std::move(result);
    });
    loop.run();
    failure_ = *outcome ? "" : "failed: " + outcome->error().what;
    return *std::move(outcome);
  }

  // To one frontend, from that many ports.
  static std::vector<UdpFlow> many(std::size_t count) {
    std::vector<UdpFlow> flows(count, flow("203.0.113.9:1", "172.30.0.10:53", "10.180.0.2:5353"));
    for (std::size_t i = 0; i < count; ++i) {
      flows[i].source.port = static_cast<std::uint16_t>(1024 + i);
      flows[i].reply_destination.port = flows[i].source.port;
    }
    return flows;
  }

  const UdpFlow web_ = flow("203.0.113.9:41001", "172.30.0.10:53", "10.180.0.2:5353");
  const UdpFlow other_ = flow("203.0.113.9:41002", "172.30.0.10:53", "10.180.0.3:5353");
  const UdpFlow ipv6_ = flow("[2001:db8::9]:41001", "[fd96::10]:53", "[fd64::2]:5353");
  std::unique_ptr<ConntrackTable> table_ = Maker::make();
  std::string failure_;
};

TYPED_TEST_SUITE_P(ConntrackContract);

TYPED_TEST_P(ConntrackContract, ShowsNothingAtFirst) {
  EXPECT_EQ(this->shown(IpFamily::Ipv4), "");
  EXPECT_EQ(this->shown(IpFamily::Ipv6), "");
}

TYPED_TEST_P(ConntrackContract, ShowsWhatWasDialledAndWhoAnswers) {
  UdpFlow masqueraded = flow("203.0.113.9:41003", "192.168.0.1:30053", "10.180.0.2:5353");
  masqueraded.reply_destination = flow_end("192.168.0.1:1999");
  this->table_->add({this->web_, flow("10.180.0.9:500", "192.0.2.1:500"), masqueraded});
  EXPECT_EQ(this->shown(IpFamily::Ipv4),
            "10.180.0.9:500 to 192.0.2.1:500, answered by 192.0.2.1:500\n"
            "203.0.113.9:41001 to 172.30.0.10:53, answered by 10.180.0.2:5353\n"
            "203.0.113.9:41003 to 192.168.0.1:30053, answered by 10.180.0.2:5353 at "
            "192.168.0.1:1999\n");
}

TYPED_TEST_P(ConntrackContract, KeepsFamiliesApart) {
  this->table_->add({this->web_, this->ipv6_});
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->web_}));
  EXPECT_EQ(this->shown(IpFamily::Ipv6), to_text(std::vector{this->ipv6_}));
}

TYPED_TEST_P(ConntrackContract, ShowsUdpOnly) {
  this->table_->add({this->web_});
  this->table_->add_tcp(this->other_);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->web_}));
}

TYPED_TEST_P(ConntrackContract, ShowsZone0Only) {
  this->table_->add({this->web_});
  this->table_->add_in_zone(this->other_, 7);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->web_}));
}

TYPED_TEST_P(ConntrackContract, ForgetsTheseFlowsAndNoOthers) {
  this->table_->add({this->web_, this->other_, this->ipv6_});
  this->table_->add_tcp(this->web_);
  this->table_->add_in_zone(this->web_, 7);
  EXPECT_EQ(this->forget({this->find(this->web_)}), 1U);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->other_}));
  EXPECT_EQ(this->shown(IpFamily::Ipv6), to_text(std::vector{this->ipv6_}));
}

TYPED_TEST_P(ConntrackContract, ForgetsFlowsOfBothFamiliesAtOnce) {
  this->table_->add({this->web_, this->other_, this->ipv6_});
  EXPECT_EQ(this->forget({this->find(this->ipv6_), this->find(this->other_)}), 2U);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->web_}));
  EXPECT_EQ(this->shown(IpFamily::Ipv6), "");
}

TYPED_TEST_P(ConntrackContract, PassesOverAFlowThatIsGone) {
  this->table_->add({this->web_, this->other_});
  const UdpFlow gone = this->find(this->web_);
  const UdpFlow there = this->find(this->other_);
  this->table_->remove(gone);
  EXPECT_EQ(this->forget({gone, there}), 1U);
  EXPECT_EQ(this->failure_, "");
  EXPECT_EQ(this->shown(IpFamily::Ipv4), "");
}

TYPED_TEST_P(ConntrackContract, LeavesASuccessorWithTheSameEnds) {
  this->table_->add({this->web_});
  const UdpFlow former = this->find(this->web_);
  this->table_->replace(this->web_);
  EXPECT_EQ(this->forget({former}), 0U);
  EXPECT_EQ(this->failure_, "");
  EXPECT_NE(this->find(this->web_).id, former.id);
}

TYPED_TEST_P(ConntrackContract, ForgetsNothingWhenAskedForNothing) {
  this->table_->add({this->web_});
  EXPECT_EQ(this->forget({}), 0U);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->web_}));
}

TYPED_TEST_P(ConntrackContract, ForgetsMoreThanFitsIntoOnePortion) {
  this->table_->add(this->many(1'234));
  this->table_->add({this->other_});
  std::vector<UdpFlow> stale = this->visit(IpFamily::Ipv4);
  std::erase_if(stale, [&](const UdpFlow& each) { return each.source == this->other_.source; });
  EXPECT_EQ(this->forget(std::move(stale)), 1'234U);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), to_text(std::vector{this->other_}));
}

// Counts the turns that another task gets until `work` is done.
template <class T>
std::size_t turns_during(asio::awaitable<Result<T>> work) {
  asio::io_context loop;
  bool done = false;
  std::size_t turns = 0;
  asio::co_spawn(loop, std::move(work),
                 [&done](const std::exception_ptr&, const Result<T>&) { done = true; });
  std::function<void()> take_turn = [&] {
    ++turns;
    if (!done) asio::post(loop, take_turn);
  };
  asio::post(loop, take_turn);
  loop.run();
  return turns;
}

TYPED_TEST_P(ConntrackContract, LetsOtherTasksTakeTurnsWhileItShowsFlows) {
  this->table_->add(this->many(2'000));
  std::size_t shown = 0;
  Conntrack::Visit visit = [&shown](const UdpFlow&) { ++shown; };
  EXPECT_GT(turns_during(this->table_->conntrack().visit_udp(IpFamily::Ipv4, std::move(visit))),
            5U);
  EXPECT_EQ(shown, 2'000U);
}

TYPED_TEST_P(ConntrackContract, LetsOtherTasksTakeTurnsWhileItForgetsFlows) {
  this->table_->add(this->many(2'000));
  EXPECT_GT(turns_during(this->table_->conntrack().forget(this->visit(IpFamily::Ipv4))), 5U);
  EXPECT_EQ(this->shown(IpFamily::Ipv4), "");
}

TYPED_TEST_P(ConntrackContract, IsAsGoodAsNewAfterAVisitThatWasCancelled) {
  this->table_->add(this->many(2'000));
  asio::io_context loop;
  asio::cancellation_signal stop;
  std::size_t shown = 0;
  Conntrack::Visit visit = [&](const UdpFlow&) {
    if (++shown == 1) asio::post(loop, [&] { stop.emit(asio::cancellation_type::terminal); });
  };
  bool unwound = false;
  asio::co_spawn(loop, this->table_->conntrack().visit_udp(IpFamily::Ipv4, std::move(visit)),
                 asio::bind_cancellation_slot(
                     stop.slot(), [&unwound](const std::exception_ptr& cancelled, const Result<>&) {
                       unwound = cancelled != nullptr;
                     }));
  loop.run();
  EXPECT_TRUE(unwound);
  EXPECT_LT(shown, 2'000U);
  EXPECT_EQ(this->visit(IpFamily::Ipv4).size(), 2'000U);
}

REGISTER_TYPED_TEST_SUITE_P(
    ConntrackContract, ShowsNothingAtFirst, ShowsWhatWasDialledAndWhoAnswers, KeepsFamiliesApart,
    ShowsUdpOnly, ShowsZone0Only, ForgetsTheseFlowsAndNoOthers, ForgetsFlowsOfBothFamiliesAtOnce,
    PassesOverAFlowThatIsGone, LeavesASuccessorWithTheSameEnds, ForgetsNothingWhenAskedForNothing,
    ForgetsMoreThanFitsIntoOnePortion, LetsOtherTasksTakeTurnsWhileItShowsFlows,
    LetsOtherTasksTakeTurnsWhileItForgetsFlows, IsAsGoodAsNewAfterAVisitThatWasCancelled);

}  // namespace mkp
