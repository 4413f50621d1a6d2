// What the nodes of a cluster do to an API server that comes back: 100 of them, each with a client
// and the informers of Services and EndpointSlices, on fake time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "informer/api_client.h"
#include "informer/api_source.h"
#include "informer/shared_informer.h"
#include "tests/api_server/test_api_server.h"
#include "tests/fakes/fake_clock.h"

namespace mkp::api {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNodes = 100;
constexpr Duration kStep = 10ms;

class OneToken final : public CredentialSource {
 public:
  asio::awaitable<Result<Credentials>> current() override {
    co_return Credentials{.authorization = "Bearer right"};
  }
  void refused(const Credentials&) override {}
};

// What of a daemon speaks to the API server.
class NodeClient {
 public:
  NodeClient(const std::string& name, std::uint16_t port, Clock& clock)
      : client_(server(name, port), credentials_, clock),
        service_source_(client_, ObjectKind::Service, name),
        slice_source_(client_, ObjectKind::EndpointSlice, name),
        services_(service_source_, clock, {.name = "Service"}),
        slices_(slice_source_, clock, {.name = "EndpointSlice"}) {}

  void start(asio::io_context& loop) {
    asio::co_spawn(loop, services_.run(),
                   asio::bind_cancellation_slot(stop_services_.slot(), asio::detached));
    asio::co_spawn(loop, slices_.run(),
                   asio::bind_cancellation_slot(stop_slices_.slot(), asio::detached));
  }
  void stop() {
    stop_services_.emit(asio::cancellation_type::all);
    stop_slices_.emit(asio::cancellation_type::all);
  }
  void close() { client_.close_idle(); }

  // Both have this many objects.
  bool has(std::size_t objects) const {
    return services_.has_synced() && slices_.has_synced() && !services_.has_pending() &&
           !slices_.has_pending() && services_.indexer().size() == objects &&
           slices_.indexer().size() == objects;
  }

 private:
  static ApiServer server(const std::string& name, std::uint16_t port) {
    ApiServer made;
    made.tls = false;
    made.host = "127.0.0.1";
    made.port = port;
    made.user_agent = name + "/";
    return made;
  }

  OneToken credentials_;
  ApiClient client_;
  ApiSource service_source_;
  ApiSource slice_source_;
  SharedInformer services_;
  SharedInformer slices_;
  asio::cancellation_signal stop_services_;
  asio::cancellation_signal stop_slices_;
};

class ManyNodesTest : public testing::Test {
 protected:
  ManyNodesTest() {
    spdlog::set_level(spdlog::level::err);  // each of them says that the server is away
    server_.settings().token = "right";
    server_.start(loop_.get_executor());
    for (int i = 0; i < 3; ++i) put_pair();
    for (std::size_t i = 0; i < kNodes; ++i) {
      nodes_.push_back(
          std::make_unique<NodeClient>("node-" + std::to_string(i), server_.port(), clock_));
      nodes_.back()->start(loop_);
    }
  }
  ~ManyNodesTest() override {
    for (const auto& node : nodes_) node->stop();
    settle();
    for (const auto& node : nodes_) node->close();
    spdlog::set_level(spdlog::level::info);
  }

  // A Service and its slice.
  void put_pair() {
    const std::string name = "s" + std::to_string(pairs_++);
    Service service;
    service.metadata.name_space = "default";
    service.metadata.name = name;
    service.cluster_ip = "172.30.0.1";
    server_.store().put(draft(service));
    EndpointSlice slice;
    slice.metadata.name_space = "default";
    slice.metadata.name = name;
    slice.service_name = name;
    server_.store().put(draft(slice));
  }

  void settle() {
    do loop_.restart();
    while (loop_.poll() > 0);
  }
  void pass(Duration time) {
    for (Duration passed{}; passed < time; passed += kStep) {
      clock_.advance(kStep);
      settle();
    }
  }
  bool all_know_everything() const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [this](const auto& node) { return node->has(pairs_); });
  }

  // Away for ten seconds, in which a pair is added. Everything from `during` on is in the log.
  template <class Act>
  void restart_server(Act during) {
    server_.stop(Ending::Reset);
    server_.log().clear();
    put_pair();
    during();
    pass(10s);
    back_at_ = clock_.now();
    server_.start(loop_.get_executor());
    pass(3s);
  }

  // A server that knows no streaming lists refuses them at no cost.
  bool is_list(const RequestRecord& request) {
    const bool streams = request.target.find("sendInitialEvents=true") != std::string::npos;
    return request.verb == "list" || (streams && server_.settings().watch_list);
  }
  // The most lists that a node asked for, of one resource.
  int most_lists() {
    std::map<std::string, int> lists;
    int most = 0;
    for (const RequestRecord& request : server_.log().records()) {
      if (is_list(request)) most = std::max(most, ++lists[request.client + request.resource]);
    }
    return most;
  }
  // Of all requests, those in the tenth of a second that has most.
  double largest_share() {
    std::map<Duration::rep, std::size_t> tenths;
    std::size_t most = 0;
    for (const RequestRecord& request : server_.log().records()) {
      most = std::max(most, ++tenths[(request.time - back_at_) / 100ms]);
    }
    return static_cast<double>(most) / static_cast<double>(server_.log().records().size());
  }

  FakeClock clock_;
  TestApiServer server_{clock_};
  std::vector<std::unique_ptr<NodeClient>> nodes_;
  asio::io_context loop_;  // dies first of all
  std::size_t pairs_ = 0;
  TimePoint back_at_{};
};

TEST_F(ManyNodesTest, NobodyListsWhenAServerComesBackThatStillKnowsTheirVersion) {
  pass(2s);
  ASSERT_TRUE(all_know_everything());
  EXPECT_EQ(most_lists(), 1);
  restart_server([] {});
  EXPECT_TRUE(all_know_everything());
  EXPECT_EQ(most_lists(), 0);
  EXPECT_EQ(server_.log().records().size(), 2 * kNodes);  // a watch each
  EXPECT_LT(largest_share(), 0.3);
}

TEST_F(ManyNodesTest, AServerIsAskedToCompressListsAndNoStreams) {
  server_.settings().watch_list = false;
  pass(2s);
  std::set<std::string> offers;
  for (const RequestRecord& request : server_.log().records()) {
    offers.insert(request.verb + " " + request.accept_encoding);
  }
  EXPECT_EQ(offers, (std::set<std::string>{"list gzip", "watch "}));
}

TEST_F(ManyNodesTest, EachListsOnceWhenTheServerHasForgotten) {
  pass(2s);
  restart_server([this] { server_.store().compact(); });
  EXPECT_TRUE(all_know_everything());
  EXPECT_EQ(most_lists(), 1);
  EXPECT_EQ(server_.log().records().size(), 4 * kNodes);  // a watch that is too late, and a list
  EXPECT_LT(largest_share(), 0.2);
}

TEST_F(ManyNodesTest, EachListsOnceWhenTheServerSaysSoBeforeTheStream) {
  server_.settings().expired_in_band = false;
  pass(2s);
  restart_server([this] { server_.store().compact(); });
  EXPECT_TRUE(all_know_everything());
  EXPECT_EQ(most_lists(), 1);
  EXPECT_LT(largest_share(), 0.2);
}

TEST_F(ManyNodesTest, EachListsOnceWithoutStreamingLists) {
  server_.settings().watch_list = false;
  pass(2s);
  ASSERT_TRUE(all_know_everything());
  restart_server([this] { server_.store().compact(); });
  EXPECT_TRUE(all_know_everything());
  EXPECT_EQ(most_lists(), 1);
  EXPECT_LT(largest_share(), 0.2);
}

}  // namespace
}  // namespace mkp::api
